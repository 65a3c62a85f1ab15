// Notes of a gateway about the nodes of its site, a file for each, on the gateway's own disk.

import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { SiteNotes } from '../ports/sites.ts';

const ENDING = '.note';

export function siteNotes(folder: string): SiteNotes {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = (node: string): string => join(folder, `${encodeURIComponent(node)}${ENDING}`);
  return {
    all: () =>
      new Map(
        readdirSync(folder)
          .filter((name) => name.endsWith(ENDING))
          .map((name) => [
            decodeURIComponent(name.slice(0, -ENDING.length)),
            readFileSync(join(folder, name), 'utf8'),
          ]),
      ),
    write(node, text) {
      const fresh = `${path(node)}.new`;
      const file = openSync(fresh, 'w', 0o600);
      try {
        writeFileSync(file, text);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(fresh, path(node));
      sync(folder);
    },
    remove(node) {
      rmSync(path(node), { force: true });
      sync(folder);
    },
  };
}

/** Syncs a folder: its files survive a crash of the machine, and removed ones stay gone. */
function sync(folder: string): void {
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
