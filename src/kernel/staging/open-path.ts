// Opens what a user's path leads to without being led elsewhere: first only as a place, which does
// nothing to what is there, and for reading when it is what it was.

import { type BigIntStats, closeSync, constants, fstatSync, openSync } from 'node:fs';

/** A flag of Linux; Node has no name for it. Opening a device so has no effect on it. */
const O_PATH = 0o10000000;
const AS_PLACE = O_PATH | constants.O_NOFOLLOW;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** `check` throws when it is not what it should be. */
export function openChecked(path: string, check: (status: BigIntStats) => void): number {
  const place = openSync(path, AS_PLACE);
  try {
    check(fstatSync(place, { bigint: true }));
    return openSync(`/proc/self/fd/${place}`, READ);
  } finally {
    closeSync(place);
  }
}

/** Never through a link. */
export function openFolder(path: string | Buffer): number {
  return openSync(path, FOLDER);
}

/** The path of something in a folder that is open, wherever that is by now. */
export function pathIn(folder: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${folder}/`), name]);
}
