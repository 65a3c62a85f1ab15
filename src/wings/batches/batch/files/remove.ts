// Removes folders that jobs have written, whatever permissions they gave them.

import { chmodSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { walk } from '../../../../kernel/transfer/walk.ts';

/** Nothing when there is none. */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'ENOTEMPTY') throw error;
    openFolders(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is in a folder that its owner cannot write stays there. */
function openFolders(folder: string): void {
  chmodSync(folder, 0o700);
  for (const { kind, full } of walk(folder)) if (kind === 'folder') chmodSync(full, 0o700);
}
