// The cards of a node in a file of its agent's folder.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../../kernel/ports/log.ts';
import type { Kept, KnownCards } from '../ports/known-cards.ts';

export function knownCardsIn(folder: string, log: Log): KnownCards {
  const file = join(folder, 'gpus.json');
  return {
    load: () => {
      try {
        return keptIn(JSON.parse(readFileSync(file, 'utf8')));
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

/** Null: somebody else's file. */
function keptIn(value: unknown): Kept | null {
  const { bootId, cards, keeps = [] } = (value ?? {}) as Partial<Kept>;
  if (typeof bootId !== 'string' || !Array.isArray(cards)) return null;
  const isWhole = cards.every((one: Partial<Kept['cards'][number]> | null) => {
    return typeof one?.uuid === 'string' && typeof one.vendor === 'string';
  });
  return isWhole && Array.isArray(keeps) ? { bootId, cards, keeps } : null;
}
