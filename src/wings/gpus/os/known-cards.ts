// The cards of a node in a file of its agent's folder.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../../kernel/ports/log.ts';
import type { KnownCards } from '../ports/known-cards.ts';

/** `read`: what can be true of a file; null: it is somebody else's. */
export function knownCardsIn(
  folder: string,
  log: Log,
  read: (value: unknown) => ReturnType<KnownCards['load']>,
): KnownCards {
  const file = join(folder, 'gpus.json');
  return {
    load: () => {
      try {
        const kept = read(JSON.parse(readFileSync(file, 'utf8')));
        if (kept === null) log.warn({ file }, 'not of known gpus, and not read');
        return kept;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'ENOENT') log.warn({ file, error: String(error) }, 'not read: known gpus');
        return null;
      }
    },
    save: (kept) => {
      try {
        writeFileSync(`${file}.new`, JSON.stringify(kept), { mode: 0o600 });
        renameSync(`${file}.new`, file);
      } catch (error) {
        log.warn({ file, error: String(error) }, 'not kept: known gpus');
      }
    },
  };
}
