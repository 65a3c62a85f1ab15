// Brings what a job has left in its save folder into its archive, with hashes of what is kept.

import { chmod, mkdir, open, readlink, symlink, utimes } from 'node:fs/promises';
import { type Glob, matchesGlobs } from '../../../../kernel/files/glob.ts';
import { staysInside } from '../../../../kernel/files/links.ts';
import { type Manifest, type ManifestEntry, whyLocked } from '../../../../kernel/files/manifest.ts';
import { MODE_MASK, type WalkEntry, walk } from '../../../../kernel/transfer/walk.ts';
import { copyHashed } from '../files/hash.ts';

export type Stored = Pick<Manifest, 'entries' | 'leftOut'>;

export interface Storing {
  /** Is there. */
  readonly into: string;
  readonly globs: readonly Glob[];
  /** Names at the top that the archive needs itself, and for what. */
  readonly hidden: ReadonlyMap<string, string>;
}

/** Copies what the patterns take. */
export async function storeOutputs(
  save: string,
  { into, globs, hidden }: Storing,
): Promise<Stored> {
  const entries: ManifestEntry[] = [];
  const leftOut: { path: string; why: string }[] = [];
  const folders: (readonly [Buffer, number])[] = [];
  const start = Buffer.byteLength(save);
  const locked = (path: string, error: unknown): void => {
    const why = path === '' ? null : whyLocked(error);
    if (why === null) throw error;
    leftOut.push({ path, why });
  };
  for (const entry of walk(save, locked)) {
    if (!matchesGlobs(globs, entry.path)) continue;
    const why = hidden.get(entry.path.split('/')[0] ?? '') ?? (await whyNot(entry));
    if (why !== null) {
      leftOut.push({ path: entry.path, why });
      continue;
    }
    const target = Buffer.concat([Buffer.from(into), entry.full.subarray(start)]);
    if (entry.kind === 'folder') folders.push([target, modeOf(entry)]);
    entries.push(await store(entry, target, entry.full.subarray(start + 1)));
  }
  for (const [folder, mode] of folders.reverse()) await chmod(folder, mode);
  return { entries, leftOut };
}

/**
 * The permissions that it has in the archive: a folder into which its owner may not look would be
 * in the way of whoever removes the results, or a copy of them.
 */
function modeOf({ kind, stats }: WalkEntry): number {
  const mode = stats.mode & MODE_MASK;
  return kind === 'folder' && (mode & ENTERED) !== ENTERED ? mode | 0o700 : mode;
}

/** The owner lists and enters it. */
const ENTERED = 0o500;

async function whyNot({ kind, path: inside, full, target }: WalkEntry): Promise<string | null> {
  if (kind === 'special') return 'it is a device, pipe or socket';
  if (kind === 'file') {
    try {
      await (await open(full, 'r')).close();
    } catch (error) {
      return whyLocked(error);
    }
  }
  const leaves = kind === 'link' && !staysInside(inside, target ?? '');
  return leaves ? `it is a link that leaves the folder, to ${target}` : null;
}

async function store(entry: WalkEntry, target: Buffer, relative: Buffer): Promise<ManifestEntry> {
  const { kind, stats, isText } = entry;
  const mode = modeOf(entry);
  const modifiedAt = Math.floor(stats.mtimeMs);
  const common = {
    path: entry.path,
    mode,
    modifiedAt,
    ...(isText ? {} : { pathBytes: relative.toString('base64') }),
  };
  if (kind === 'folder') {
    await mkdir(target, { recursive: true, mode: 0o700 });
    return { ...common, kind, size: 0 };
  }
  // The patterns need not take the folder that it is in.
  await mkdir(target.subarray(0, target.lastIndexOf('/')), { recursive: true });
  if (kind === 'link') {
    await symlink(await readlink(entry.full, { encoding: 'buffer' }), target);
    return { ...common, kind, size: 0, target: entry.target ?? '' };
  }
  const { sha256, size } = await copyHashed(entry.full, target);
  await chmod(target, mode);
  await utimes(target, stats.atime, stats.mtime);
  return { ...common, kind: 'file', size, sha256 };
}
