// Starts a daemon that outlives this command, and tells what it said when it does not start.

import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { withOwn, withoutOwn } from '../../base/own-variables.ts';
import { CARRIED_PREFIX } from '../../config/carried.ts';
import type { Environment } from '../../config/config.ts';
import { writeMark } from '../../connect/process-file.ts';
import { VERSION } from '../version.ts';

/** A head, or the agents of some nodes; plain JSON. */
export interface Daemon {
  /** `head`, or names of nodes. */
  readonly names: readonly string[];
  readonly script: string;
  /** One for each name. */
  readonly optionsFiles: readonly string[];
  readonly markFiles: readonly string[];
  readonly outputFile: string;
  /** Whether it is started again when it dies. */
  readonly isKept: boolean;
}

/**
 * Left alone, V8 takes up to 124 MiB for young objects and lets the rest grow up to fourfold before
 * it collects: three quarters of a busy head's memory. These have an effect only at the start.
 */
const V8_FLAGS = ['--heap-growing-percent=50', '--expose-gc'];
/** MiB of half the young objects. */
const YOUNG_MIB = 4;
/** A head reads its store with a tenth less CPU so, and gives the room back when it is idle. */
export const YOUNG_MIB_OF_HEAD = 16;

function flagsFor({ names }: Daemon): string[] {
  const young = names.includes('head') ? YOUNG_MIB_OF_HEAD : YOUNG_MIB;
  return [`--max-semi-space-size=${young}`, ...V8_FLAGS];
}

/** Resolves with its pid once the process exists. */
export function startDaemon(daemon: Daemon, environment: Environment): Promise<number> {
  const output = openSync(daemon.outputFile, 'w', 0o600);
  const child = spawn(
    process.execPath,
    [...flagsFor(daemon), daemon.script, ...daemon.optionsFiles],
    {
      detached: true,
      // Not where the user stands: that folder must stay free to be unmounted or removed.
      cwd: '/',
      stdio: ['ignore', output, output],
      env: daemonEnvironment(environment),
    },
  );
  closeSync(output);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      for (const file of daemon.markFiles) writeMark(file, child.pid ?? 0);
      child.unref();
      resolve(child.pid ?? 0);
    });
  });
}

/** The last lines that a daemon wrote. */
export function lastWords(outputFile: string, lines = 5): string {
  try {
    const text = readFileSync(outputFile, 'utf8').trim();
    return text.split('\n').slice(-lines).join('\n');
  } catch {
    return ''; // It wrote nothing, not even the file.
  }
}

/** With what makes it small and fast to start, which what it runs for others does not get. */
export function daemonEnvironment(from: Environment): NodeJS.ProcessEnv {
  // One that starts another has been given these itself.
  const kept = Object.entries(withoutOwn(from)).filter(([name]) => {
    return !/^WEFT_(TOKEN|HEAD)/.test(name) && !name.startsWith(CARRIED_PREFIX);
  });
  const folder = compiledFolder(from);
  if (folder !== null) removeOldCompiled(folder, Date.now());
  const compiled = folder === null ? {} : { NODE_COMPILE_CACHE: folder };
  // One heap of the C library for all threads: what one frees, another can use. 15 MiB of the head.
  return withOwn(Object.fromEntries(kept), { MALLOC_ARENA_MAX: '1', ...compiled });
}

// Where Node.js keeps what it has compiled of our programs, so that daemons start fast: a folder
// for each release, in the user's cache.

/** Another release may still be in use beside this one, and writes only when it changes. */
const KEPT_MS = 30 * 86_400_000;

/**
 * Returns null when there is no home to keep it in, or another user may put programs there: the
 * rule of `cacheFolder` in bin/modern-node.cjs.
 */
export function compiledFolder(environment: Environment): string | null {
  const { XDG_CACHE_HOME, HOME } = environment;
  const cache = XDG_CACHE_HOME || (HOME && path.join(HOME, '.cache'));
  if (!cache) return null;
  try {
    const own = ofOurs(cache);
    return own === null ? null : path.join(own, 'weft', 'compiled', VERSION);
  } catch {
    return null;
  }
}

function ofOurs(folder: string): string | null {
  let [there, missing] = [path.resolve(folder), ''];
  while (!existsSync(there)) {
    missing = path.join(path.basename(there), missing);
    there = path.dirname(there);
  }
  const real = realpathSync(there);
  const uid = process.geteuid?.() ?? 0;
  for (let at = real; isOurs(at, { uid, isLast: at === real }); at = path.dirname(at)) {
    if (uid !== 0 || at === path.dirname(at)) return path.join(real, missing);
  }
  return null;
}

/** In a sticky folder what is there stays its owner's, but not what is still missing. */
function isOurs(folder: string, { uid, isLast }: { uid: number; isLast: boolean }): boolean {
  const found = statSync(folder);
  const isSticky = (found.mode & 0o1000) !== 0 && !isLast;
  return found.uid === uid && (isSticky || (found.mode & (uid === 0 ? 0o022 : 0o002)) === 0);
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
