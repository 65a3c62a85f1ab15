// Folders that a set-up has made: which they are, what keeps them from being removed, and their
// removal.

import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { LocalPaths, STATE_NAMES } from '../../../../kernel/cli/daemons/local-paths.ts';
import { readLiveMark } from '../../../../kernel/connect/process-file.ts';
import { usage } from '../../../../kernel/model/failure.ts';
import { run } from './machine.ts';

/** A head's claim on its socket stays as long as the folder. */
const OWN_NAMES = [...STATE_NAMES, 'weft.sock.lock'];
const MOUNTS = '/proc/self/mountinfo';
const BY_HAND = 'Look at it, and remove it by hand.';

const isThere = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

/** Those that are there. Throws a failure where one of them is not to be removed whole. */
export function checkedFolders(folders: readonly string[], whose: 'machine' | 'user'): string[] {
  const mounts = mountPoints(readFileSync(MOUNTS, 'utf8'));
  const found = folders.filter(isThere);
  for (const folder of found) {
    const problem = problemOf(folder, mounts) ?? (whose === 'user' ? foreignIn(folder) : null);
    if (problem !== null) throw usage(`${folder} ${problem}`, BY_HAND);
  }
  return found;
}

function problemOf(folder: string, mounts: readonly string[]): string | null {
  const stats = lstatSync(folder);
  if (stats.isSymbolicLink()) return `is a link to ${readlinkSync(folder)}`;
  if (!stats.isDirectory()) return 'is no folder';
  const mount = mounts.find((one) => one === folder || one.startsWith(`${folder}/`));
  if (mount === undefined) return null;
  return mount === folder ? 'is a file system of its own' : `has another file system in ${mount}`;
}

function foreignIn(folder: string): string | null {
  const foreign = readdirSync(folder).find((name) => !OWN_NAMES.includes(name));
  return foreign === undefined ? null : `has '${foreign}', which is nothing of Weft's`;
}

/** By the lines of proc_pid_mountinfo(5), where blanks and the like are octal. */
export function mountPoints(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const place = line.split(' ')[4];
    if (place === undefined) return [];
    return [place.replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(parseInt(code, 8)))];
  });
}

/**
 * A head or an agent that no unit has started, as `weft up` does. Throws a failure while one lives
 * there.
 */
export function refuseLiving(folders: readonly string[]): void {
  for (const folder of folders) {
    const paths = new LocalPaths(folder);
    for (const name of paths.daemons()) {
      const mark = readLiveMark(paths.mark(name));
      if (mark === null) continue;
      const what = `${name === 'head' ? 'a head' : `the agent of ${name}`} lives in ${folder} (process ${mark.pid})`;
      throw usage(`${what}; nothing there was removed`, `End it first: weft down --dir ${folder}`);
    }
  }
}

/** Other file systems stay, and so does what links lead to; the first that stays is told. */
export const removeFolder = (folder: string): void => run('find', folder, '-xdev', '-delete');
