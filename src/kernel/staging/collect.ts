// What is kept of a task: chosen, hashed, and ready to be sent.

import { closeSync, fstatSync } from 'node:fs';
import path from 'node:path';
import { formatSize } from '../base/size.ts';
import type { FileEntry } from '../files/entry.ts';
import { matchesGlobs, parseGlob } from '../files/glob.ts';
import { type ManifestEntry, META_FOLDER, whyLocked } from '../files/manifest.ts';
import { namesBefore, OutsideCount } from '../files/outside.ts';
import { versionOf } from '../files/verified.ts';
import { splitBySize } from '../files/within.ts';
import { BEGUN_MARK } from '../model/batch.ts';
import type { BlobHash } from '../model/blob.ts';
import { OUTPUTS_INLINE_BYTES_MAX } from '../model/limits.ts';
import type { Outside, StagingOrder } from '../model/staging.ts';
import { inParallel } from '../transfer/in-parallel.ts';
import { breath, hashOpen, type LocalFile, readSmall } from '../transfer/local-file.ts';
import { type Found, findOutputs, type Unfit } from './find-outputs.ts';
import { openChecked } from './open-path.ts';

export interface Collection {
  readonly entries: ManifestEntry[];
  /** The files among them, one for each content. */
  readonly files: LocalFile[];
  readonly leftOut: Unfit[];
  /** What a job of a batch has left where nothing is kept. */
  readonly outside?: Outside | undefined;
}

export interface Collecting {
  readonly directory: string;
  readonly uid: number | null;
  readonly wish: Pick<StagingOrder, 'outputs' | 'bytesMax'>;
  /** Set for a batch: its owner is told of files outside of the save folder. */
  readonly isOfBatch?: boolean;
  /** What was laid out there: unchanged, it is no output where nobody has said what is one. */
  readonly inputs: readonly FileEntry[];
  /** Gives up when it says so. */
  readonly signal: AbortSignal;
}

/** Hashing is bound by one core, reading by a disk. */
const AT_ONCE = 4;

/** A file is another one than a moment ago: somebody writes there, though the task has ended. */
export class Changed extends Error {}

/** Throws `Changed`, the error of the file system, or the signal's reason. */
export async function collectOutputs(collecting: Collecting): Promise<Collection> {
  const { directory, uid, wish, inputs, signal } = collecting;
  const isWanted = wantedBy(wish.outputs);
  const unwanted = collecting.isOfBatch === true ? countOutside(directory, uid) : undefined;
  const { found, unfit } = await findOutputs({ directory, uid, isWanted, unwanted, signal });
  const inFolder = { directory, signal, kept: { bytesLeft: OUTPUTS_INLINE_BYTES_MAX } };
  const local = found.filter(({ kind }) => kind === 'file').map((one) => localOf(inFolder, one));
  const hashes = new Hashes();
  let chosen: readonly Found[] = found;
  const leftOut = [...unfit];
  if (wish.outputs === null) {
    chosen = await withoutInputs(found, inputs, { local, hashes });
    const files = chosen.filter(({ kind }) => kind === 'file');
    const { tooMuch } = splitBySize(files, wish.bytesMax ?? Number.POSITIVE_INFINITY);
    const limit = formatSize(wish.bytesMax ?? 0);
    const why = `more than ${limit} in all, kept where nobody says what; name it with --out`;
    for (const { path: name } of tooMuch) leftOut.push({ path: name, why });
    const out = new Set(tooMuch);
    chosen = chosen.filter((one) => !out.has(one));
  }
  const names = new Set(chosen.map((one) => one.path));
  const toHash = local.filter(({ name }) => names.has(name));
  await inParallel(toHash, AT_ONCE, async (one) => void (await hashes.of(one)));
  for (const { path: name } of chosen) {
    const why = hashes.locked.get(name);
    if (why === undefined) continue;
    leftOut.push({ path: name, why });
    names.delete(name);
  }
  chosen = chosen.filter((one) => names.has(one.path));
  return {
    entries: chosen.map((one) => entryOf(one, hashes.known)),
    ...filesOf(local, hashes.known, names),
    leftOut,
    outside: unwanted?.sum,
  };
}

function wantedBy(outputs: readonly string[] | null): (path: string) => boolean {
  const globs = (outputs ?? []).flatMap((text) => {
    const read = parseGlob(text);
    return read.ok ? [read.value] : [];
  });
  // The archive keeps there what it has to say itself.
  const isOurs = (name: string): boolean =>
    name === META_FOLDER || name.startsWith(`${META_FOLDER}/`);
  return (name) => !isOurs(name) && matchesGlobs(globs, name);
}

interface Local {
  readonly name: string;
  readonly size: number;
  hash(): Promise<BlobHash>;
  file(hash: BlobHash): LocalFile;
}

interface InFolder extends Pick<Collecting, 'directory' | 'signal'> {
  /** What is small is read once; so many bytes more may stay in memory. */
  readonly kept: { bytesLeft: number };
}

function localOf(
  { directory, signal, kept }: InFolder,
  { path: name, size, mode, version }: Found,
): Local {
  const full = path.join(directory, name);
  let bytes: Uint8Array | undefined;
  const openFd = () =>
    openChecked(full, (status) => {
      if (versionOf(status) !== version) throw new Changed(`${name} changed while it was kept`);
    });
  return {
    name,
    size,
    hash: async () => {
      await breath();
      signal.throwIfAborted();
      const fd = openFd();
      try {
        const isKept = size <= kept.bytesLeft;
        if (isKept) kept.bytesLeft -= size;
        const small = isKept ? readSmall(fd, size) : null;
        bytes = small?.bytes;
        const hash = small?.hash ?? (await hashOpen(fd, size, { signal }));
        if (versionOf(fstatSync(fd, { bigint: true })) === version) return hash;
        throw new Changed(`${name} changed while it was kept`);
      } finally {
        closeSync(fd);
      }
    },
    file: (hash) => {
      const file = { path: full, size, hash, mode, version, openFd };
      return bytes === undefined ? file : { ...file, bytes };
    },
  };
}

/** Each file is read once. One that must not be read is no reason to lose all others. */
class Hashes {
  readonly known = new Map<string, BlobHash>();
  /** Why each of those is left out. */
  readonly locked = new Map<string, string>();

  async of(one: Local): Promise<BlobHash | undefined> {
    const { name } = one;
    if (this.known.has(name) || this.locked.has(name)) return this.known.get(name);
    try {
      const hash = await one.hash();
      this.known.set(name, hash);
      return hash;
    } catch (error) {
      const why = whyLocked(error);
      if (why === null) throw error;
      this.locked.set(name, why);
      return undefined;
    }
  }
}

/** Hashes those that could be unchanged. */
async function withoutInputs(
  found: readonly Found[],
  inputs: readonly FileEntry[],
  { local, hashes }: { local: readonly Local[]; hashes: Hashes },
): Promise<Found[]> {
  const byPath = new Map(inputs.map((entry) => [entry.path, entry]));
  const byName = new Map(local.map((one) => [one.name, one]));
  const folders = new Set(inputs.flatMap((entry) => foldersOf(entry)));
  const isSame = async ({ path: name, kind, size, target }: Found): Promise<boolean> => {
    if (kind === 'folder') return folders.has(name);
    const input = byPath.get(name);
    if (input?.kind !== kind || input.size !== size) return false;
    if (kind === 'link') return input.target === target;
    return (await hashes.of(byName.get(name) as Local)) === input.sha256;
  };
  const same = new Set<Found>();
  await inParallel(found, AT_ONCE, async (one) => {
    if (await isSame(one)) same.add(one);
  });
  return found.filter((one) => !same.has(one));
}

function foldersOf({ path: name, kind }: FileEntry): string[] {
  const parts = name.split('/');
  const above = parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join('/'));
  return kind === 'folder' ? [...above, name] : above;
}

function entryOf(found: Found, hashes: ReadonlyMap<string, BlobHash>): ManifestEntry {
  const { path: name, kind, size, mode, modifiedAt, target } = found;
  const common = { path: name, kind, size, mode, modifiedAt };
  const sha256 = hashes.get(name);
  if (kind === 'file' && sha256 !== undefined) return { ...common, sha256 };
  return target === undefined ? common : { ...common, target };
}

function filesOf(
  local: readonly Local[],
  hashes: ReadonlyMap<string, BlobHash>,
  names: ReadonlySet<string>,
): { readonly files: LocalFile[] } {
  const byHash = new Map<BlobHash, LocalFile>();
  for (const one of local) {
    const hash = hashes.get(one.name);
    if (hash !== undefined && names.has(one.name)) byHash.set(hash, one.file(hash));
  }
  return { files: [...byHash.values()] };
}

// What a job of a batch found in its work directory when it began, as its script has written it
// down.

/** A list of names; the user may have put anything in its place. */
const LIST_BYTES_MAX = 1_048_576;

/** Undefined: nobody knows, as of a script of an earlier release. */
function countOutside(directory: string, uid: number | null): OutsideCount | undefined {
  let fd: number;
  try {
    fd = openChecked(path.join(directory, BEGUN_MARK), (status) => {
      const isAnothers = uid !== null && Number(status.uid) !== uid;
      if (!status.isFile() || isAnothers) throw new Error('it is no mark of the script');
    });
  } catch {
    return undefined; // The job ended before, or has removed it: then nothing is told.
  }
  try {
    const { size, mtimeNs } = fstatSync(fd, { bigint: true });
    if (size > LIST_BYTES_MAX) return undefined;
    const { bytes } = readSmall(fd, Number(size));
    const names = namesBefore(Buffer.from(bytes).toString());
    return new OutsideCount({ names, atNs: mtimeNs });
  } finally {
    closeSync(fd);
  }
}
