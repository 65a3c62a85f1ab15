// Files to move: one large, many small, and one that is long but holds nothing.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

const MIB = 1_048_576;
const FILES_PER_FOLDER = 500;

/** Random, so that nothing on the way can make less of it. */
export function makeLarge(file: string, bytes: number): void {
  const handle = openSync(file, 'w');
  const block = randomBytes(MIB);
  for (let at = 0; at < bytes; at += MIB) {
    // Each block another one: equal blocks may be told apart by nobody, but compress.
    block.writeDoubleBE(at, 0);
    for (let byte = 8; byte < MIB; byte += 4096) block.writeUInt32BE(at / MIB + byte, byte);
    writeSync(handle, block);
  }
  closeSync(handle);
}

export function makeMany(folder: string, count: number, bytes: number): void {
  for (let at = 0; at < count; at += 1) {
    const below = join(folder, `d${Math.floor(at / FILES_PER_FOLDER)}`);
    if (at % FILES_PER_FOLDER === 0) mkdirSync(below, { recursive: true });
    writeFileSync(join(below, `f${at}`), randomBytes(bytes));
  }
}

export function makeSparse(file: string, bytes: number): void {
  closeSync(openSync(file, 'w'));
  truncateSync(file, bytes);
}

/** Other contents, of which the head has none. */
export function changeAll(place: string): void {
  for (const file of filesIn(place)) {
    const handle = openSync(file, 'r+');
    writeSync(handle, randomBytes(16), 0, 16, 0);
    closeSync(handle);
  }
}

function filesIn(place: string): string[] {
  try {
    const below = readdirSync(place, { recursive: true, withFileTypes: true });
    return below
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return [place];
    throw error;
  }
}
