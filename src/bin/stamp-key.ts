// The key by which the head knows again what it told its nodes of itself. It lies beside the store,
// and is put back with it.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chance } from '../kernel/ports/chance.ts';

const KEY_BYTES = 32;

/** Made where there is none, or one of which nothing can be read: nodes then begin anew to keep. */
export function stampKey(directory: string, chance: Chance): Uint8Array {
  const path = join(directory, 'stamp.key');
  const known = read(path);
  if (known?.length === KEY_BYTES) return known;
  const key = chance.bytes(KEY_BYTES);
  writeFileSync(`${path}.new`, key, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
  return key;
}

function read(path: string): Uint8Array | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
