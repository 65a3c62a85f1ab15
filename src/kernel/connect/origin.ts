// Whether an agent's state directory is a copy of another one, on whatever machine: files that are
// copied have other inodes than those that they were, and were changed when they were copied. A
// file system that is mounted anew may number its files and itself anew, and changes no file by
// that.

import { readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { namingFile } from '../config/file-problem.ts';

/** The file that names the agent's instance, as it was seen last. */
interface Origin {
  readonly ino: string;
  /** When the file was changed last: nobody can set that. Absent: nobody noted it. */
  readonly changedAt?: string;
  /** Another number after the next boot, and on many file systems after the next mount. */
  readonly dev: string;
  /** Where the folder was. Absent: nobody noted it. */
  readonly place?: string;
  readonly bootId: string;
  /** Instance of the folder that it was copied from; absent: it is no copy. */
  readonly was?: string;
}

/** False where nothing is known. `bootId`: null: no matter which. */
export function isCopied(stateDir: string, bootId: string | null): boolean {
  const noted = readOrigin(stateDir);
  const own = look(stateDir);
  if (noted === null || own === null) return false;
  if (noted.ino !== own.ino) return noted.changedAt !== own.changedAt;
  // A snapshot has the same inodes: it is another device, and in another place.
  const isElsewhere = noted.place !== undefined && noted.place !== own.place;
  return noted.bootId === bootId && noted.dev !== own.dev && isElsewhere;
}

/** Instance of the folder that it was copied from; null: it is no copy, as far as is known. */
export function originOf(stateDir: string): string | null {
  return readOrigin(stateDir)?.was ?? null;
}

/** For the next start to know it again. `was`: null: as it was noted before. */
export function noteOrigin(stateDir: string, bootId: string, was: string | null): void {
  const own = look(stateDir);
  if (own === null) return;
  const before = was ?? originOf(stateDir);
  const origin: Origin = { ...own, bootId, ...(before === null ? {} : { was: before }) };
  const file = fileOf(stateDir);
  namingFile(file, () => writeFileSync(file, JSON.stringify(origin), { mode: 0o600 }));
}

function fileOf(stateDir: string): string {
  return path.join(stateDir, 'origin.json');
}

function look(stateDir: string): Omit<Origin, 'bootId' | 'was'> | null {
  try {
    const { ino, dev, ctimeMs } = statSync(path.join(stateDir, 'instance'), { bigint: true });
    const place = realpathSync(stateDir);
    return { ino: String(ino), changedAt: String(ctimeMs), dev: String(dev), place };
  } catch {
    return null; // There is no instance yet.
  }
}

function readOrigin(stateDir: string): Origin | null {
  try {
    return JSON.parse(readFileSync(fileOf(stateDir), 'utf8')) as Origin;
  } catch {
    return null; // Made by an older release, or cut off by a crash.
  }
}
