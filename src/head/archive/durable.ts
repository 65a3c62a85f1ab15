// Files that are whole or not there, also after the machine has stopped.

import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';

/** A new file, whose content is on the disk; its name is so only when its folder is. */
export async function writeSynced(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whoever looks sees the file that was there or a whole new one, also when two write it at once. */
export async function replaceDurably(file: string, text: string): Promise<void> {
  const fresh = `${file}.${randomUUID()}.new`;
  try {
    await writeSynced(fresh, text);
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  await syncFolder(path.dirname(file));
}

/** New names in a folder are on the disk only when the folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
