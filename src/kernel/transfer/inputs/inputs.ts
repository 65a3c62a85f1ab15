// Brings the files that a job needs to the head: what it lacks is sent, and the list of all of them
// is what the job names.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { formatSize } from '../../base/size.ts';
import { type FileEntry, pathFlaw } from '../../files/entry.ts';
import { type FileSet, formatFileSet } from '../../files/file-set.ts';
import type { BlobHash } from '../../model/blob.ts';
import { type Failure, usage } from '../../model/failure.ts';
import { FILE_ENTRIES_MAX, FILE_SET_BYTES_MAX } from '../../model/limits.ts';
import { type LocalFile, localBytes } from '../local-file.ts';
import { type Looked, lookAt } from '../look.ts';
import type { TransferContext } from '../transfer-context.ts';
import { uploadFiles } from '../upload.ts';
import type { WalkEntry } from '../walk.ts';
import type { InputRequest, InputRequests } from './input-request.ts';
import { readAll } from './read-all.ts';

/** What goes with a job, hashed. */
export interface InputFiles {
  readonly files: readonly LocalFile[];
  /** The list of them, which the job names. */
  readonly list: LocalFile;
  /** What stands in the list. */
  readonly entries: readonly FileEntry[];
  readonly bytes: number;
  /** Files, folders and links. */
  readonly entryCount: number;
}

export interface Inputs extends InputRequests {
  /** What paths are relative to. */
  readonly cwd: string;
  /** How whoever named them calls them, for messages: `--in: `. */
  readonly before: string;
}

/** Reads all of it. Throws one failure with all that is wrong. */
export async function readInputs(transfer: TransferContext, inputs: Inputs): Promise<InputFiles> {
  const { wishes, program, cwd, before } = inputs;
  const gathered = gather(wishes, { cwd, program, before });
  if (gathered.isProgramAdded) transfer.note(`${program?.path} is sent with the job`);
  const files = await readAll(transfer, gathered, before);
  const common = gathered.entries.map((entry) => withContent(entry, files));
  const list = listOf({ version: 1, common }, before);
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0);
  return { files: [...files.values()], list, entries: common, bytes, entryCount: common.length };
}

/** The same files in place of those of an older list; what is only in that stays. */
export function inPlaceOf(older: FileSet, newer: InputFiles, before: string): InputFiles {
  const paths = new Set(newer.entries.map(({ path }) => path));
  const kept = older.common.filter(({ path }) => !paths.has(path));
  const entries = [...kept, ...newer.entries];
  const list = listOf({ ...older, common: entries }, before);
  return { ...newer, list, entries, entryCount: entries.length };
}

function listOf(set: FileSet, before: string): LocalFile {
  const text = Buffer.from(formatFileSet(set));
  if (text.length > FILE_SET_BYTES_MAX) {
    const size = formatSize(FILE_SET_BYTES_MAX);
    throw usage(`${before}the list of all files is longer than ${size}`, 'Pack them with tar.');
  }
  return localBytes('the list of input files', text);
}

/** Resolves with the hash that a submission names. */
export async function sendInputs(transfer: TransferContext, inputs: InputFiles): Promise<BlobHash> {
  const line = transfer.progress('sending');
  try {
    const begun = (bytes: number) => line.start(bytes);
    await uploadFiles(transfer.access, [...inputs.files, inputs.list], line.moved, begun);
    return inputs.list.hash;
  } finally {
    line.stop();
  }
}

/** Size and mode are those that it had when its content was read. */
function withContent(entry: FileEntry, files: ReadonlyMap<string, LocalFile>): FileEntry {
  const file = files.get(entry.path);
  if (file === undefined) return entry;
  return { ...entry, size: file.size, mode: file.mode, sha256: file.hash };
}

// The files and folders that somebody names for a job, as entries of its directory. What cannot go
// is told all at once, before anything is read.

/** Beyond these it is one mistake again and again. */
const PROBLEMS_SHOWN_MAX = 50;

interface Gathered {
  /** Files come without their hashes. */
  readonly entries: readonly FileEntry[];
  /** Where the content of each file is, by its path in the job's directory. */
  readonly sources: ReadonlyMap<string, string>;
  readonly bytes: number;
  /** The program goes, although nobody has named it as an input. */
  readonly isProgramAdded: boolean;
}

interface GatherOptions {
  readonly cwd: string;
  /** Goes, too, where it is a file here and nothing else has its place. */
  readonly program: InputRequest | null;
  /** Beginning of each line of what is wrong: `--in: `. */
  readonly before: string;
}

/** Throws one failure with all that is wrong. */
export function gather(
  wishes: readonly InputRequest[],
  { cwd, program, before }: GatherOptions,
): Gathered {
  const meant = wishes.map((wish) => asMeant(wish, cwd));
  const uses = meant.map(({ path: file }, index) => ({
    path: file,
    at: [index],
    must: 'file or folder' as const,
  }));
  const { problems, found } = lookAt(uses, cwd);
  const lines = problems.map(({ what }) => what);
  const looks = new Map(found.map((look) => [look.path, look]));
  const gathering = new Gathering(cwd);
  for (const wish of meant) {
    const look = looks.get(wish.path);
    if (look !== undefined) gathering.add(wish, look);
  }
  if (program !== null && !gathering.has(program.as)) {
    const [own] = lookAt([{ path: program.path, at: [], must: 'program' }], cwd).found;
    if (own !== undefined) gathering.addProgram(program, own);
  }
  lines.push(...gathering.problems);
  if (lines.length > 0) throw wrong(lines, before);
  return gathering;
}

/** A name may have a `=` in it. */
function asMeant(wish: InputRequest, cwd: string): InputRequest {
  const { typed, path: file } = wish;
  const isThere = (name: string): boolean => existsSync(path.resolve(cwd, name));
  if (typed === file || isThere(file) || !isThere(typed)) return wish;
  return { typed, path: typed, as: path.basename(typed) };
}

class Gathering implements Gathered {
  readonly entries: FileEntry[] = [];
  readonly sources = new Map<string, string>();
  /** The same one is told once. */
  readonly problems = new Set<string>();
  bytes = 0;
  isProgramAdded = false;
  readonly #cwd: string;
  /** Which input each path comes from. */
  readonly #origins = new Map<string, { readonly kind: string; readonly typed: string }>();
  /** Paths that something lies below. */
  readonly #above = new Set<string>();

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  has(name: string | null): boolean {
    return name !== null && (this.#origins.has(name) || this.#above.has(name));
  }

  add({ typed, path: file, as }: InputRequest, { isFolder, bytes, mode, inside }: Looked): void {
    const full = path.resolve(this.#cwd, file);
    if (!isFolder) {
      if (as === null) this.#problem(`'${typed}': '${file}' is a file; only a folder can be at .`);
      else this.#put({ path: as, kind: 'file', size: bytes, mode }, full, typed);
      return;
    }
    if (as !== null) this.#put({ path: as, kind: 'folder', size: 0, mode }, full, typed);
    for (const entry of inside) {
      const at = as === null ? entry.path : `${as}/${entry.path}`;
      this.#put(entryOf(entry, at), path.join(full, entry.path), typed);
    }
  }

  addProgram(program: InputRequest, look: Looked): void {
    this.isProgramAdded = true;
    this.add(program, look);
  }

  #put(entry: FileEntry, full: string, typed: string): void {
    const flaw = pathFlaw(entry.path);
    if (flaw !== null) return this.#problem(`'${typed}': ${flaw}`);
    const before = this.#origins.get(entry.path);
    if (before !== undefined) {
      // Folders of one name become one; the same file named twice is there once.
      if (before.kind === 'folder' && entry.kind === 'folder') return;
      if (entry.kind === before.kind && this.sources.get(entry.path) === full) return;
      return this.#problem(`'${entry.path}' comes from both ${before.typed} and ${typed}`);
    }
    const problem = this.#placeProblem(entry);
    if (problem !== null) return this.#problem(problem);
    this.#origins.set(entry.path, { kind: entry.kind, typed });
    for (const folder of foldersAbove(entry.path)) this.#above.add(folder);
    this.entries.push(entry);
    if (entry.kind !== 'file') return;
    this.sources.set(entry.path, full);
    this.bytes += entry.size;
  }

  #placeProblem({ path: at, kind }: FileEntry): string | null {
    if (this.entries.length === FILE_ENTRIES_MAX) {
      return `more than ${FILE_ENTRIES_MAX} files and folders; pack them with tar`;
    }
    if (kind !== 'folder' && this.#above.has(at)) return `'${at}' is a ${kind} and a folder, too`;
    for (const folder of foldersAbove(at)) {
      const origin = this.#origins.get(folder);
      if (origin === undefined || origin.kind === 'folder') continue;
      return `'${at}' would lie in '${folder}', which is a ${origin.kind} (${origin.typed})`;
    }
    return null;
  }

  #problem(what: string): void {
    this.problems.add(what);
  }
}

/** The innermost first. */
function* foldersAbove(inner: string): Generator<string> {
  for (let at = inner.lastIndexOf('/'); at > 0; at = inner.lastIndexOf('/', at - 1)) {
    yield inner.slice(0, at);
  }
}

function entryOf({ kind, stats, target }: WalkEntry, at: string): FileEntry {
  const mode = stats.mode & 0o777;
  if (kind === 'link') return { path: at, kind, size: 0, mode, target: target ?? '' };
  if (kind === 'file') return { path: at, kind, size: stats.size, mode };
  return { path: at, kind: 'folder', size: 0, mode };
}

function wrong(lines: readonly string[], before: string): Failure {
  const more = lines.length - PROBLEMS_SHOWN_MAX;
  const shown = lines.slice(0, PROBLEMS_SHOWN_MAX);
  const rest = more > 0 ? [`and ${more} more`] : [];
  return usage([...shown, ...rest].map((line) => `${before}${line}`).join('\n'));
}
