// The JournalFile port: one descriptor, kept open, written synchronously. Not synced: see the port.

import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import type { JournalFile } from '../ports/journal-file.ts';

/** Opens or makes the file, mode 0600. Throws when it cannot. */
export function openJournalFile(path: string): JournalFile {
  let file = openSync(path, 'a+', 0o600);
  return {
    read: () => new Uint8Array(readFileSync(path)),
    append: (bytes) => appendWhole(file, bytes),
    replace: (bytes) => {
      writeFileSync(`${path}.new`, bytes, { mode: 0o600 });
      renameSync(`${path}.new`, path);
      closeSync(file);
      file = openSync(path, 'a+', 0o600);
    },
    close: () => closeSync(file),
  };
}

/** All of it or nothing: half a frame in the middle would hide every frame after it. */
function appendWhole(file: number, bytes: Uint8Array): void {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(file, bytes, written);
  } catch (error) {
    if (written > 0) ftruncateSync(file, fstatSync(file).size - written);
    throw error;
  }
}
