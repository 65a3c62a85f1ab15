// Where Node.js keeps what it has compiled of our programs, so that daemons start fast: a folder
// for each release, in the user's cache.

import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from '../../config/config.ts';
import { VERSION } from '../version.ts';

/** Another release may still be in use beside this one, and writes only when it changes. */
const KEPT_MS = 30 * 86_400_000;

/** Returns null when there is no home to keep it in. */
export function compiledFolder(environment: Environment): string | null {
  const { XDG_CACHE_HOME, HOME } = environment;
  const cache = XDG_CACHE_HOME || (HOME && path.join(HOME, '.cache'));
  return cache ? path.join(cache, 'weft', 'compiled', VERSION) : null;
}

/** Removes what other releases than that of `folder` have left and not touched for a month. */
export function removeOldCompiled(folder: string, now: number): void {
  const all = path.dirname(folder);
  try {
    for (const name of readdirSync(all)) {
      const other = path.join(all, name);
      if (other === folder || now - statSync(other).mtimeMs < KEPT_MS) continue;
      rmSync(other, { recursive: true, force: true });
    }
  } catch {
    // There is nothing yet, or another start removes it too: only room is at stake.
  }
}
