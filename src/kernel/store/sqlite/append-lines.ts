// Lines at the end of a file, whole or not at all, and on the disk when this returns.

import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const NEWLINE = 10;

/** Throws what the file system says; the file is then as it was. */
export function appendLines(folder: string, name: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = openSync(join(folder, name), 'a+', 0o600);
  try {
    const { size } = fstatSync(file);
    try {
      const begin = isWhole(file, size) ? '' : '\n';
      writeFileSync(file, `${begin}${lines.join('\n')}\n`);
      fsyncSync(file);
    } catch (error) {
      ftruncateSync(file, size);
      throw error;
    }
  } finally {
    closeSync(file);
  }
}

/** A machine that went off may have left half a line. */
function isWhole(file: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === NEWLINE);
}
