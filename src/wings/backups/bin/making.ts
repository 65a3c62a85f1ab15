// One backup while it is made: what it has so far, each file linked or copied.

import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { formatSize } from '../../../kernel/base/size.ts';
import { copyDatabase, copyStore } from '../../../kernel/store/sqlite/copy.ts';
import type { BackedUp, BackedUpFile } from '../api/backed-up.ts';
import {
  BACKUP_FORMAT,
  type BackupHeader,
  CONFIGURATION_FOLDER,
  HEAD_FOLDER,
  HEADER_FILE,
  LIST_FILE,
} from '../api/backup-header.ts';
import { DATABASES, isSelected } from '../core/selection.ts';
import { copyFile, digestOf, syncPath } from '../transfer/copy-file.ts';
import { type Found, unlessGone, walk } from '../transfer/tree.ts';
import type { BackupOrder, Progress } from './order.ts';

/** Left free on the disk of the backups, which may be the head's own. */
const FREE_BYTES_MIN = 1_073_741_824;
const PROGRESS_FILES = 256;

/** The backup before, whose files are linked where they have not changed. */
export interface Last {
  /** Where its files are. */
  readonly folder: string;
  readonly files: ReadonlyMap<string, BackedUpFile>;
}

interface BackupWork {
  readonly half: string;
  readonly last: Last | null;
  tell(progress: Progress): void;
  /** Bytes that may be written on the disk of a folder. */
  free(folder: string): number;
}

export class Making {
  readonly #order: BackupOrder;
  readonly #place: BackupWork;
  readonly #head: string;
  readonly #entries = new Map<string, BackedUp>();
  /** First paths of files with several, by device and number. */
  readonly #firsts = new Map<string, string>();
  /** Files that were written, and are not only links. */
  readonly #fresh: string[] = [];
  #bytes = 0;
  #newBytes = 0;
  readonly #leftOut: string[] = [];

  constructor(order: BackupOrder, place: BackupWork) {
    this.#order = order;
    this.#place = place;
    this.#head = join(place.half, HEAD_FOLDER);
  }

  begin(): void {
    this.#checkRoom();
    mkdirSync(this.#head, { recursive: true, mode: 0o700 });
  }

  copyAll(): Pick<BackupHeader, 'records' | 'lastJobId' | 'unfinishedJobs' | 'madeAt'> {
    const { from, at } = this.#order;
    this.#copyFiles();
    const store = copyStore(from, this.#head, new Date(at).toISOString());
    this.#copyFiles();
    const beside = DATABASES.filter((name) => this.#copyDatabase(name));
    for (const name of ['weft.db', 'weft.mark', ...beside]) this.#note(name, this.#describe(name));
    const { lastSeq: records, ...jobs } = store;
    return { records, ...jobs, madeAt: at };
  }

  /** False where there is none that could be read: that alone is not worth a backup that fails. */
  #copyDatabase(name: string): boolean {
    const [from, to] = [join(this.#order.from, name), join(this.#head, name)];
    if (!existsSync(from) || !this.#entries.has(dirname(name))) return false;
    try {
      copyDatabase(from, to);
      return true;
    } catch (error) {
      rmSync(to, { force: true });
      if (isFull(error)) throw error;
      this.#leftOut.push(`${name}: ${(error as Error).message}`);
      return false;
    }
  }

  finish(
    known: Pick<
      BackupHeader,
      'records' | 'lastJobId' | 'unfinishedJobs' | 'madeAt' | 'head' | 'tookMs'
    >,
  ): BackupHeader {
    const { cluster, weft } = this.#order;
    const configuration = this.#copyConfiguration();
    const list = [...this.#entries.values()].map((entry) => `${JSON.stringify(entry)}\n`).join('');
    const sums = { entries: this.#entries.size, bytes: this.#bytes, newBytes: this.#newBytes };
    const listSha256 = createHash('sha256').update(list).digest('hex');
    const own = { format: BACKUP_FORMAT, weft, cluster, listSha256, configuration } as const;
    const all = { ...own, ...known, ...sums };
    const header: BackupHeader =
      this.#leftOut.length === 0 ? all : { ...all, leftOut: this.#leftOut };
    writeFileSync(join(this.#place.half, LIST_FILE), list, { mode: 0o600, flush: true });
    this.#syncAll();
    // Last, as it says that all the rest is there.
    const text = `${JSON.stringify(header, null, 2)}\n`;
    writeFileSync(join(this.#place.half, HEADER_FILE), text, { mode: 0o600, flush: true });
    syncPath(this.#place.half);
    return header;
  }

  /** Before anything is written: a backup must not fill the disk that the head may need. */
  #checkRoom(): void {
    const { from, to } = this.#order;
    const databases = ['weft.db', ...DATABASES].map((name) => join(from, name));
    let bytes = 0;
    for (const path of databases) bytes += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
    for (const found of walk(from, isSelected)) {
      if (found.kind === 'file' && this.#unchanged(found) === null) bytes += found.stats.size;
    }
    const free = Math.max(0, this.#place.free(to) - FREE_BYTES_MIN);
    if (bytes <= free) return;
    throw new Error(
      `${to} has no room: the backup needs ${formatSize(bytes)}, and ${formatSize(free)} may be used ` +
        `(${formatSize(FREE_BYTES_MIN)} stay free). Make room, lower backup.keep, or give another folder`,
    );
  }

  #copyFiles(): void {
    for (const found of walk(this.#order.from, isSelected)) this.#take(found);
  }

  #take(found: Found): void {
    const { path } = found;
    const known = this.#entries.get(path);
    const to = join(this.#head, path);
    if (found.kind === 'file') return this.#takeFile(found, known);
    if (known !== undefined) return;
    if (found.kind === 'folder') mkdirSync(to, { recursive: true, mode: 0o700 });
    else symlinkSync(found.target, to);
    this.#entries.set(path, found);
  }

  /** At the second look only what is new or has changed since the first. */
  #takeFile(found: Extract<Found, { kind: 'file' }>, known: BackedUp | undefined): void {
    const { path, stats } = found;
    if (known?.kind === 'file') {
      if (known.bytes === stats.size && known.mtimeMs === stats.mtimeMs) return;
      rmSync(join(this.#head, path));
      this.#bytes -= known.bytes;
    }
    const entry = unlessGone(() => this.#linked(found) ?? this.#copied(path));
    if (entry === null) this.#entries.delete(path);
    else this.#note(path, entry);
  }

  #note(path: string, entry: BackedUpFile): void {
    this.#entries.set(path, entry);
    this.#bytes += entry.bytes;
    if (this.#entries.size % PROGRESS_FILES !== 0) return;
    this.#place.tell({ entries: this.#entries.size, bytes: this.#bytes });
  }

  /** One that is here under another path already, or that the backup before has as it is now. */
  #linked(found: Extract<Found, { kind: 'file' }>): BackedUpFile | null {
    const { path, stats } = found;
    const key = `${stats.dev}:${stats.ino}`;
    const first = stats.nlink > 1 ? this.#entries.get(this.#firsts.get(key) ?? '') : undefined;
    if (first?.kind === 'file' && first.path !== path && first.mtimeMs === stats.mtimeMs) {
      if (this.#link(join(this.#head, first.path), path))
        return { ...first, path, same: first.path };
    }
    if (stats.nlink > 1) this.#firsts.set(key, path);
    const unchanged = this.#unchanged(found);
    if (unchanged === null || this.#place.last === null) return null;
    const { same: _, ...entry } = unchanged;
    return this.#link(join(this.#place.last.folder, path), path) ? entry : null;
  }

  #unchanged({ path, stats }: Extract<Found, { kind: 'file' }>): BackedUpFile | null {
    const before = this.#place.last?.files.get(path);
    const isSame = before?.bytes === stats.size && before.mtimeMs === stats.mtimeMs;
    return isSame && before.mode === (stats.mode & 0o777) ? before : null;
  }

  /** False: this file system has no links, or no more to this file. */
  #link(from: string, path: string): boolean {
    try {
      linkSync(from, join(this.#head, path));
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (['EMLINK', 'EPERM', 'EXDEV', 'ENOENT', 'ENOTSUP'].includes(code ?? '')) return false;
      throw error;
    }
  }

  #copied(path: string): BackedUpFile {
    const to = join(this.#head, path);
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    const copied = copyFile(join(this.#order.from, path), to);
    this.#newBytes += copied.bytes;
    this.#fresh.push(path);
    return { kind: 'file', path, ...copied };
  }

  /** The entry of a file that other means have written. */
  #describe(path: string): BackedUpFile {
    const file = join(this.#head, path);
    const { size, mode, mtimeMs } = lstatSync(file);
    this.#newBytes += size;
    this.#fresh.push(path);
    return { kind: 'file', path, bytes: size, mtimeMs, mode: mode & 0o777, sha256: digestOf(file) };
  }

  #copyConfiguration(): string[] {
    const folder = join(this.#place.half, CONFIGURATION_FOLDER);
    mkdirSync(folder, { mode: 0o700 });
    return this.#order.configuration.filter((file, index) => {
      const to = join(folder, `${index + 1}-${basename(file)}`);
      return unlessGone(() => copyFile(file, to)) !== null;
    });
  }

  /** Whatever is linked is on the disk. */
  #syncAll(): void {
    for (const path of this.#fresh) unlessGone(() => syncPath(join(this.#head, path)));
    for (const entry of this.#entries.values()) {
      if (entry.kind === 'folder') syncPath(join(this.#head, entry.path));
    }
    syncPath(this.#head);
  }
}

/** Whether SQLite says so (SQLITE_FULL), or the system. */
export function isFull(error: unknown): boolean {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  return errcode === 13 || code === 'ENOSPC' || code === 'EDQUOT';
}
