// The files that a job needs, as one list: those of all its tasks, and of an array's tasks their
// own. The list is a blob itself, and a job names it by that blob's hash.

import { err, ok, type Result } from '../base/result.ts';
import type { BlobHash } from '../model/blob.ts';
import { ARRAY_INDEX_MAX, FILE_ENTRIES_MAX, FILE_SET_BYTES_MAX } from '../model/limits.ts';
import { entryFlaw, type FileEntry, isRecord, togetherFlaw } from './entry.ts';

export interface FileSet {
  readonly version: 1;
  readonly common: readonly FileEntry[];
  /** By task index. */
  readonly tasks?: Readonly<Record<string, readonly FileEntry[]>>;
}

/** The text of the list; equal lists have equal texts, whatever order they were gathered in. */
export function formatFileSet({ common, tasks }: FileSet): string {
  const own = Object.entries(tasks ?? {}).sort(([a], [b]) => Number(a) - Number(b));
  return JSON.stringify({
    version: 1,
    common: sorted(common),
    ...(own.length === 0
      ? {}
      : { tasks: Object.fromEntries(own.map(([at, list]) => [at, sorted(list)])) }),
  });
}

/** Reads what anybody may have written; the error says what is wrong with it. */
export function parseFileSet(text: string): Result<FileSet, string> {
  if (text.length > FILE_SET_BYTES_MAX) return err('the list of files is too long');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err('the list of files is not whole');
  }
  if (!isRecord(value) || value['version'] !== 1) {
    return err('the list of files is of no known version');
  }
  const { common, tasks = {} } = value;
  if (!Array.isArray(common) || !isRecord(tasks)) return err('the list of files is none');
  const lists = Object.entries(tasks);
  const wrong = lists.find(([index, list]) => !isIndex(index) || !Array.isArray(list));
  if (wrong !== undefined) return err(`'${wrong[0].slice(0, 20)}' has no list of files of a task`);
  const flaw = listsFlaw(common, lists as [string, unknown[]][]);
  return flaw === null ? ok(value as unknown as FileSet) : err(flaw);
}

/** All that the task with this index needs. */
export function entriesFor({ common, tasks }: FileSet, index: number): readonly FileEntry[] {
  const own = tasks?.[String(index)];
  if (own === undefined || own.length === 0) return common;
  const shared = new Set(common.map(({ path }) => path));
  // A folder may be named by both.
  return [...common, ...own.filter(({ path }) => !shared.has(path))];
}

/** Files that the task with this index has for itself, and that are no others' content. */
export function ownFiles({ common, tasks }: FileSet, index: number): FileEntry[] {
  const own = tasks?.[String(index)] ?? [];
  const shared = new Set(common.map(({ sha256 }) => sha256));
  return own.filter(({ kind, sha256 }) => kind === 'file' && !shared.has(sha256));
}

/** Every content that it names. */
export function hashesOf({ common, tasks = {} }: FileSet): Map<BlobHash, FileEntry> {
  const named = new Map<BlobHash, FileEntry>();
  for (const entries of [common, ...Object.values(tasks)]) {
    for (const entry of entries) {
      if (entry.sha256 !== undefined && !named.has(entry.sha256)) named.set(entry.sha256, entry);
    }
  }
  return named;
}

function listsFlaw(common: readonly unknown[], lists: readonly [string, unknown[]][]) {
  let count = common.length;
  for (const [, list] of lists) count += list.length;
  if (count > FILE_ENTRIES_MAX) return `${count} files are too many; ${FILE_ENTRIES_MAX} at most`;
  for (const list of [common, ...lists.map(([, list]) => list)]) {
    for (const entry of list) {
      const flaw = entryFlaw(entry);
      if (flaw !== null) return flaw;
    }
  }
  return doublesFlaw(common as FileEntry[], lists as [string, FileEntry[]][]);
}

function doublesFlaw(common: readonly FileEntry[], lists: readonly [string, FileEntry[]][]) {
  const flaw = togetherFlaw(common);
  if (flaw !== null || lists.length === 0) return flaw;
  const folders = new Set(common.filter(isFolder).map(({ path }) => path));
  const above = commonAbove(common);
  for (const [index, list] of lists) {
    const own = list.filter((entry) => !(isFolder(entry) && folders.has(entry.path)));
    const wrong = togetherFlaw([...own, ...above(own)]);
    if (wrong !== null) return `task ${index}: ${wrong}`;
  }
  return null;
}

/**
 * The common entries that could clash with a task's own: of the same path, above one of them, or
 * below one. Not all of them for each of thousands of tasks.
 */
function commonAbove(common: readonly FileEntry[]) {
  const byPath = new Map(common.map((entry) => [entry.path, entry]));
  const below = new Map<string, FileEntry>();
  for (const entry of common) {
    for (const path of pathsAbove(entry.path)) {
      // What is above it was noted with it.
      if (below.has(path)) break;
      below.set(path, entry);
    }
  }
  return (own: readonly FileEntry[]): Set<FileEntry> => {
    const found = new Set<FileEntry>();
    const seen = new Set<string>();
    const look = (path: string): void => {
      const entry = byPath.get(path);
      if (entry !== undefined) found.add(entry);
    };
    for (const { path, kind } of own) {
      look(path);
      for (const above of pathsAbove(path)) {
        if (seen.has(above)) break;
        seen.add(above);
        look(above);
      }
      const lower = below.get(path);
      if (kind !== 'folder' && lower !== undefined) found.add(lower);
    }
    return found;
  };
}

function* pathsAbove(path: string): Generator<string> {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    yield path.slice(0, at);
  }
}

function isFolder({ kind }: FileEntry): boolean {
  return kind === 'folder';
}

function isIndex(text: string): boolean {
  return /^(0|[1-9]\d{0,8})$/.test(text) && Number(text) <= ARRAY_INDEX_MAX;
}

function sorted(entries: readonly FileEntry[]): FileEntry[] {
  return entries
    .map(({ path, kind, size, mode, sha256, target }) => ({
      path,
      kind,
      size,
      mode,
      ...(sha256 === undefined ? {} : { sha256 }),
      ...(target === undefined ? {} : { target }),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
