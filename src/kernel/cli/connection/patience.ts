// The patience of a command with a head that is away, and what it says meanwhile.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { locateHead } from '../../connect/locate.ts';
import { type Patience, patiently } from '../../connect/patience.ts';
import { readLiveMark } from '../../connect/process-file.ts';
import type { Context } from '../context.ts';
import { isReadable, LocalPaths } from '../daemons/local-paths.ts';
import { isKept, readRoster } from '../daemons/roster.ts';

/**
 * Patience of who waits for a job: the job goes on without its head, so there is no other end to
 * that than the time that was given, and the word that it waits (J29).
 */
export function patienceOfWait(deadline: number | null): Patience {
  const totalMs = deadline === null ? Number.POSITIVE_INFINITY : deadline - performance.now();
  const long = deadline === null ? ', as long as it takes' : '';
  return { totalMs, isWait: true, note: `Waiting for the head to come back${long}.` };
}

/** Runs `attempt` again while the head restarts. */
export function withPatience<T>(
  context: Context,
  patience: Patience,
  attempt: () => Promise<T>,
): Promise<T> {
  // A cluster that nobody has stopped comes back, whoever starts it again.
  const isUnstopped = () => isHeadUnstopped(context);
  const waiting = {
    hasMet: async () => (await context.api()).met || (patience.isWait === true && isUnstopped()),
    isKnown: async () => (await context.api()).answered || isUnstopped(),
    isExpected: () => isHeadExpected(context),
    note: (line: string) => context.note(line),
  };
  return patiently(waiting, patience, attempt);
}

/** False where it was never started, or was stopped. An address is believed: somebody wrote it. */
function isHeadExpected({ options, environment, directory }: Context): boolean {
  const location = locateHead(options, environment);
  if (location.kind === 'url') return true;
  const paths = new LocalPaths(directory);
  // The folder of a service's socket goes when the service is stopped, not when it restarts.
  if (location.path !== paths.socket) return existsSync(path.dirname(location.path));
  if (!existsSync(paths.cluster)) return existsSync(paths.head);
  if (isClosed(paths)) return false;
  // That of `weft up` may be starting, or one of its agents starts it again.
  return readLiveMark(paths.mark('head')) !== null || isKept(paths, 'head');
}

/** The head of a `weft up` here that was not followed by a `weft down`. */
function isHeadUnstopped({ options, environment, directory }: Context): boolean {
  const location = locateHead(options, environment);
  const paths = new LocalPaths(directory);
  if (location.kind === 'url' || location.path !== paths.socket) return false;
  if (isClosed(paths)) return false;
  return readRoster(paths).some(({ names }) => names.includes('head'));
}

/** What is known of the daemons there is for another user's eyes. */
function isClosed({ roster }: LocalPaths): boolean {
  return !isReadable(path.dirname(roster));
}
