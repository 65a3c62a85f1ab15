// The last good goals of an address, on the head's disk, with the address that they are from.

import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { KeptGoals } from '../head/source.ts';

/** Whole or not at all; its time is that of the reading. */
export function keptIn(file: string): KeptGoals {
  return {
    load() {
      if (!existsSync(file)) return null;
      const kept: unknown = JSON.parse(readFileSync(file, 'utf8'));
      if (!isKept(kept)) throw new Error(`${file} does not say which address it is of`);
      return { url: kept.url, text: kept.text, readAt: statSync(file).mtimeMs };
    },
    save(kept) {
      const fresh = `${file}.new`;
      const open = openSync(fresh, 'w', 0o600);
      try {
        writeFileSync(open, JSON.stringify(kept));
        fsyncSync(open);
      } finally {
        closeSync(open);
      }
      renameSync(fresh, file);
      syncFolder(dirname(file));
    },
  };
}

function isKept(kept: unknown): kept is { readonly url: string; readonly text: string } {
  if (typeof kept !== 'object' || kept === null) return false;
  const { url, text } = kept as { readonly url?: unknown; readonly text?: unknown };
  return typeof url === 'string' && typeof text === 'string';
}

/** Syncs a folder, so that the name is there after a crash of the machine. */
function syncFolder(folder: string): void {
  const open = openSync(folder, 'r');
  try {
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
}
