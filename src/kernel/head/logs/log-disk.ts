// The files of captured output on the disk: readable by the head alone, no links followed.

import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';

const { O_CREAT, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** Writes at a known size, so that a piece that was half written is overwritten, not doubled. */
export async function appendTo(file: string, bytes: Uint8Array, size: number): Promise<void> {
  const handle = await openOrMake(file, O_WRONLY | O_CREAT | O_NOFOLLOW);
  try {
    let done = 0;
    while (done < bytes.length) {
      const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, size + done);
      done += bytesWritten;
    }
  } finally {
    await handle.close();
  }
}

/** Replaces the whole content. */
export async function writeSmall(file: string, content: string | Uint8Array): Promise<void> {
  const handle = await openOrMake(file, O_WRONLY | O_CREAT | O_NOFOLLOW);
  try {
    await handle.truncate(0);
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
}

/** The directory is made only when it is missing: most files are not their job's first. */
async function openOrMake(file: string, flags: number): Promise<FileHandle> {
  try {
    return await open(file, flags, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    return open(file, flags, 0o600);
  }
}

/** Returns null when there is no such file. */
export async function openExisting(file: string): Promise<FileHandle | null> {
  try {
    return await open(file, O_RDONLY | O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Returns null when there is no such file. */
export async function sizeOf(file: string): Promise<number | null> {
  const handle = await openExisting(file);
  if (handle === null) return null;
  try {
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}
