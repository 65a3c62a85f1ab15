// What is to be said of the daemons of `weft up`: which do not run, and which were started again.

import path from 'node:path';
import { readLiveMark } from '../../connect/process-file.ts';
import { formatSpan } from '../output/words.ts';
import type { ClusterRecord } from './local-cluster.ts';
import { isReadable, LocalPaths, readJson } from './local-paths.ts';
import { type Restarts, readRestarts } from './restarts.ts';
import { isKept, readRoster } from './roster.ts';

export interface DaemonNote {
  /** False: it is told only for people to know. */
  readonly isBad: boolean;
  readonly text: string;
}

interface StateDirectory {
  /** The directory of the state. */
  readonly directory: string;
}

/** More names than these are counted. */
const NAMES_MAX = 8;

/** Nothing when the head at `address` is not that of this directory; null: whatever head it is. */
export function daemonNotes({ directory }: StateDirectory, address: string | null): DaemonNote[] {
  const paths = new LocalPaths(directory);
  if (address !== null && paths.socket !== address) return [];
  // Whoever uses another's cluster hears of its head, and not of what starts that again.
  if (!isReadable(path.dirname(paths.restarts))) return [];
  const dead = deadAgents(paths);
  return [...restartNotes(paths), ...(dead === null ? [] : [{ isBad: true, text: dead }])];
}

function deadAgents(paths: LocalPaths): string | null {
  const count = readJson<ClusterRecord>(paths.cluster)?.nodeCount ?? 0;
  const all = Array.from({ length: count }, (_, index) => `n${index + 1}`);
  const dead = all.filter((name) => readLiveMark(paths.mark(name)) === null);
  if (dead.length === 0) return null;
  const subject = dead.length === 1 ? `agent of ${dead} does` : `agents of ${listed(dead)} do`;
  if (dead.every((name) => isKept(paths, name))) {
    return `The ${subject} not run, and will be started again within seconds.`;
  }
  return `The ${subject} not run. Run \`weft up\` again: it starts what is missing.`;
}

function restartNotes(paths: LocalPaths): DaemonNote[] {
  const all = readRestarts(paths);
  return readRoster(paths).flatMap(({ names, outputFile }): DaemonNote[] => {
    const restarts = all[names[0] ?? ''];
    if (restarts === undefined) return [];
    const who = names[0] === 'head' ? 'head' : `process of the agents of ${listed(names)}`;
    const { gaveUp } = restarts;
    if (gaveUp === null) return [{ isBad: false, text: `The ${who} ${timesWords(restarts)}.` }];
    const todo = `See ${outputFile} for what it said, then run \`weft up\` again.`;
    return [{ isBad: true, text: `The ${who} is not started again: ${gaveUp}. ${todo}` }];
  });
}

function timesWords({ count, firstAt, lastAt }: Restarts): string {
  const span = (at: number): string => formatSpan(Date.now() - at);
  if (count === 1) return `died and was started again, ${span(lastAt)} ago`;
  return `was started again ${count} times in the last ${span(firstAt)}, last ${span(lastAt)} ago`;
}

function listed(names: readonly string[]): string {
  if (names.length <= NAMES_MAX) return names.join(', ');
  return `${names.slice(0, NAMES_MAX - 1).join(', ')} and ${names.length - NAMES_MAX + 1} more`;
}
