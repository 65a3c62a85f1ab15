// Whether the files that a batch names are there and can be used, and how large they are.

import { accessSync, constants, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { didYouMean } from '../base/nearest-word.ts';
import { fileProblem } from '../config/file-problem.ts';
import type { FileUse } from '../files/findings.ts';
import { staysInside } from '../files/links.ts';
import type { Problem } from '../files/problem.ts';
import { FILE_ENTRIES_MAX } from '../model/limits.ts';
import { MODE_MASK, type WalkEntry, walk } from './walk.ts';

/** What one path of a batch holds. */
export interface Looked {
  /** Relative to the folder of the batch file. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly files: number;
  readonly bytes: number;
  /** Permissions. */
  readonly mode: number;
  /** Everything in a folder, folders before what is in them. */
  readonly inside: readonly WalkEntry[];
}

export interface Looks {
  readonly problems: readonly Problem[];
  /** What can be used; each path once. */
  readonly found: readonly Looked[];
}

/** A folder with more entries is not searched for what somebody meant. */
const ENTRIES_MAX = 1000;
/** What is wrong with more files than these is wrong with their folder. */
const PROBLEMS_PER_FOLDER_MAX = 5;

interface Asked {
  readonly file: string;
  readonly must: FileUse['must'];
  readonly entriesMax: number;
}

type Look = Looked | { readonly wrong: readonly string[] };

/** Looks at each path once, however many jobs name it. */
export function lookAt(
  uses: readonly FileUse[],
  folder: string,
  entriesMax = FILE_ENTRIES_MAX,
): Looks {
  const looks = new Map<string, Look>();
  const problems = uses.flatMap(({ path: file, at, must }) => {
    const key = `${must} ${file}`;
    const look = looks.get(key) ?? lookAtOne({ file, must, entriesMax }, folder);
    looks.set(key, look);
    return 'wrong' in look ? look.wrong.map((what) => ({ at, what })) : [];
  });
  const found = [...looks.values()].filter((look): look is Looked => !('wrong' in look));
  const byPath = new Map(found.map((look) => [look.path, look]));
  return { problems, found: [...byPath.values()] };
}

function lookAtOne({ file, must, entriesMax }: Asked, folder: string): Look {
  const full = path.resolve(folder, file);
  try {
    const stats = statSync(full);
    const wrong = wrongKind(stats, must) ?? wrongAccess(full, file, must);
    if (wrong !== null) return { wrong: [`'${file}' ${wrong}`] };
    const mode = stats.mode & MODE_MASK;
    if (stats.isDirectory()) return lookInto(full, { file, mode, entriesMax });
    return { path: file, isFolder: false, files: 1, bytes: stats.size, mode, inside: [] };
  } catch (error) {
    return { wrong: [`'${file}' ${lookProblemOf(error as NodeJS.ErrnoException, full)}`] };
  }
}

function lookProblemOf(error: NodeJS.ErrnoException, full: string): string {
  const { code } = error;
  if (code === 'ELOOP') return 'is a link that leads in a circle';
  if (code !== 'ENOTDIR' && isLink(full)) return 'is a link to something that does not exist';
  if (code === 'ENOENT' || code === 'ENOTDIR') return `does not exist.${nearestTo(full)}`;
  return `cannot be used: ${fileProblem(error)}`;
}

/** A folder goes as a whole, so everything in it must be able to. */
function lookInto(
  full: string,
  { file, mode, entriesMax }: { file: string; mode: number; entriesMax: number },
): Look {
  const wrong: string[] = [];
  const inside: WalkEntry[] = [];
  const name = (path: string) => `'${[file.replace(/\/$/, ''), path].filter(Boolean).join('/')}'`;
  const unreadable = (path: string, error: unknown) => {
    wrong.push(`${name(path)} cannot be read: ${fileProblem(error)}`);
  };
  for (const entry of walk(full, unreadable)) {
    if (inside.length >= entriesMax) {
      return { wrong: [`'${file}' has more than ${entriesMax} files and folders in it`] };
    }
    inside.push(entry);
    const what = wrongInside(entry);
    if (what !== null) wrong.push(`${name(entry.path)} ${what}`);
  }
  if (wrong.length === 0) {
    const files = inside.filter(({ kind }) => kind === 'file');
    const bytes = files.reduce((sum, { stats }) => sum + stats.size, 0);
    return { path: file, isFolder: true, files: files.length, bytes, mode, inside };
  }
  const more = wrong.length - PROBLEMS_PER_FOLDER_MAX;
  const rest = more > 0 ? [`and ${more} more in '${file}'`] : [];
  return { wrong: [...wrong.slice(0, PROBLEMS_PER_FOLDER_MAX), ...rest] };
}

function wrongInside({ path: inside, kind, isText, target, full }: WalkEntry): string | null {
  if (!isText) return 'has a name that is not valid UTF-8; rename it';
  if (kind === 'special') return 'is a device, pipe or socket';
  if (kind === 'link' && !staysInside(inside, target ?? '')) {
    return `is a link that leaves the folder, to '${target}'`;
  }
  const isHidden = kind === 'file' && !mayBe(full, constants.R_OK);
  return isHidden ? 'cannot be read: permission denied' : null;
}

function isLink(full: string): boolean {
  return lstatSync(full, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function wrongKind(found: Stats, must: FileUse['must']): string | null {
  if (found.isFile()) return null;
  if (!found.isDirectory()) return 'is a device, pipe or socket; expected a file';
  return must === 'file or folder' ? null : 'is a folder; expected a file';
}

function wrongAccess(full: string, file: string, must: FileUse['must']): string | null {
  if (!mayBe(full, constants.R_OK)) return 'cannot be read: permission denied';
  if (must !== 'program' || file.endsWith('.py') || mayBe(full, constants.X_OK)) return null;
  return 'is not executable; chmod +x makes it so';
}

function mayBe(full: string | Buffer, mode: number): boolean {
  try {
    accessSync(full, mode);
    return true;
  } catch {
    return false; // Refused, which is the answer.
  }
}

function nearestTo(full: string): string {
  try {
    const there = readdirSync(path.dirname(full));
    return there.length > ENTRIES_MAX ? '' : didYouMean(path.basename(full), there);
  } catch {
    return ''; // The folder is missing, too: nothing to propose.
  }
}
