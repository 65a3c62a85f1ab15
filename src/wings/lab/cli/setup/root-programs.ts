// Programs that root runs for a set-up, now or at each boot: they come from folders in which only
// root writes. A PATH that somebody else had a hand in would have root run what that user likes.

import { spawnSync } from 'node:child_process';
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import path from 'node:path';
import { usage } from '../../../../kernel/model/failure.ts';

const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
/** Bits of a mode by which others than its owner write. */
const OTHERS = 0o002;
const GROUP = 0o020;

/** For the programs of a step. */
export function stepEnvironment(): NodeJS.ProcessEnv {
  return process.getuid?.() === 0 ? { ...process.env, PATH: SYSTEM_PATH } : process.env;
}

/** `isRoots`: a unit of the machine runs it as root. Throws a failure. */
export function programInPath(isRoots: boolean): string {
  const found = spawnSync('/bin/sh', ['-c', 'command -v weft'], { encoding: 'utf8' }).stdout.trim();
  if (!path.isAbsolute(found)) {
    throw usage('weft is not in PATH', 'Install it for all: docs/install.md.');
  }
  const why = isRoots ? whyUnsafe(found) : null;
  if (why === null) return found;
  const hint = 'Install it for all, as the package does (docs/install.md), or have root own that.';
  throw usage(`root cannot run ${found} at each boot: ${why}`, hint);
}

type Status = Pick<Stats, 'uid' | 'gid' | 'mode'>;

interface Disk {
  readonly status: (path: string) => Status;
  readonly real: (path: string) => string;
}

const DISK: Disk = { status: lstatSync, real: (file) => realpathSync(file) };

/** Somebody else than root who could change what is run, where named or led to; null: nobody. */
export function whyUnsafe(file: string, disk: Disk = DISK): string | null {
  for (const way of new Set([file, disk.real(file)])) {
    for (let at = way; ; at = path.dirname(at)) {
      const why = whyOthers(at, disk.status(at));
      if (why !== null) return why;
      if (at === path.dirname(at)) break;
    }
  }
  return null;
}

function whyOthers(at: string, { uid, gid, mode }: Status): string | null {
  if (uid !== 0) return `${at} belongs to uid ${uid}`;
  // A link says nothing of its own; the folder that it lies in does.
  if ((mode & 0o170000) === 0o120000) return null;
  if ((mode & OTHERS) !== 0) return `everybody may write to ${at}`;
  return (mode & GROUP) !== 0 && gid !== 0 ? `group ${gid} may write to ${at}` : null;
}
