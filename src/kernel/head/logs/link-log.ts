// Captured output under one more name: what comes later is there as well, and it stays when it is
// removed here to make room.

import { copyFile, link, open, readFile } from 'node:fs/promises';
import { appendTo, sizeOf } from './log-disk.ts';

/** `tail`: where the end of output lies that was too much; then the output is copied with it. */
export async function linkLog(file: string, tail: string, to: string): Promise<void> {
  if ((await sizeOf(tail)) !== null) return copyWithTail(file, tail, to);
  try {
    await link(file, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // On another disk it is as it is now.
    if (code === 'EXDEV') return copyFile(file, to);
    if (code !== 'ENOENT') throw error;
    // Nothing has come so far: an empty file, which grows under both names.
    await appendTo(file, new Uint8Array(), 0);
    await link(file, to);
  }
}

async function copyWithTail(file: string, tail: string, to: string): Promise<void> {
  await copyFile(file, to);
  const handle = await open(to, 'a');
  try {
    await handle.writeFile(await readFile(tail));
  } finally {
    await handle.close();
  }
}
