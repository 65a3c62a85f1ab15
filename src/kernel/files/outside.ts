// What a job of a batch leaves outside of its save folder: nobody keeps it, so that its owner is
// told.

import { toPlainLine } from '../base/plain-line.ts';
import { plural } from '../base/plural.ts';
import { formatBytes } from '../base/size.ts';
import type { Outside } from '../model/staging.ts';
import { BUILD_LOG_FILE, SAVE_FOLDER } from './folders.ts';
import { META_FOLDER } from './manifest.ts';

/** Named of what lies there. */
export const OUTSIDE_NAMED_MAX = 3;
const NAME_LENGTH_MAX = 60;
/** Made by programs, and of use to nobody. */
const CACHES = '__pycache__';

/** A work directory just before its job began. */
export interface Before {
  /** Everything at its top. */
  readonly names: ReadonlySet<string>;
  readonly atNs: bigint;
}

/** Times of a file, in ns since 1970; 0 where the file system does not know one. */
export interface Times {
  readonly modifiedNs: bigint;
  readonly madeNs: bigint;
}

/** What a task's script has written down: a path a line, of which the last part counts. */
export function namesBefore(text: string): ReadonlySet<string> {
  return new Set(text.split('\n').map((line) => line.slice(line.lastIndexOf('/') + 1)));
}

/** Compared with what is kept; more are only counted, as if nothing were kept of them. */
const COMPARED_MAX = 10_000;

interface Left {
  readonly name: string;
  readonly key: string;
  readonly size: number;
  readonly modifiedNs: bigint;
}

/** What a job has left there, summed up as it is found. */
export class OutsideCount {
  readonly #before: Before;
  readonly #left: Left[] = [];
  /** When the newest file of this name and size was written that is kept. */
  readonly #kept = new Map<string, bigint>();
  #files = 0;
  #bytes = 0;

  constructor(before: Before) {
    this.#before = before;
  }

  /** A file or link of the work directory. */
  add(path: string, size: number, { modifiedNs, madeNs }: Times): void {
    const parts = path.split('/');
    const [top = ''] = parts;
    if (top === SAVE_FOLDER || top === META_FOLDER || path === BUILD_LOG_FILE) return;
    if (parts.includes(CACHES)) return;
    const { names, atNs } = this.#before;
    // A clock is coarse: what a short job makes at once is known by its name.
    if (names.has(top) && modifiedNs <= atNs && madeNs <= atNs) return;
    if (this.#left.length === COMPARED_MAX) {
      this.#files += 1;
      this.#bytes += size;
      return;
    }
    const name = nameOf(top, parts.length > 1);
    this.#left.push({ name, key: keyOf(path, size), size, modifiedNs });
  }

  /** A file that is kept: what it is a copy of is not lost. */
  keep(path: string, size: number, { modifiedNs }: Pick<Times, 'modifiedNs'>): void {
    const key = keyOf(path, size);
    const before = this.#kept.get(key);
    if (before === undefined && this.#kept.size === COMPARED_MAX) return;
    if (before === undefined || before < modifiedNs) this.#kept.set(key, modifiedNs);
  }

  /** Undefined: nothing. */
  get sum(): Outside | undefined {
    const lost = this.#left.filter(({ key, modifiedNs }) => {
      const kept = this.#kept.get(key);
      return kept === undefined || kept < modifiedNs;
    });
    const files = this.#files + lost.length;
    if (files === 0) return undefined;
    const bytes = lost.reduce((sum, { size }) => sum + size, this.#bytes);
    const names = [...new Set(lost.map(({ name }) => name))].slice(0, OUTSIDE_NAMED_MAX);
    return { files, bytes, names };
  }
}

/** `cp` keeps a file's own name and size, and a copy is not older than what it is of. */
function keyOf(path: string, size: number): string {
  return `${size} ${path.slice(path.lastIndexOf('/') + 1)}`;
}

function nameOf(top: string, isFolder: boolean): string {
  const name = toPlainLine(top);
  const short = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name;
  return isFolder ? `${short}/` : short;
}

const WORDS = `not kept, as outside ${SAVE_FOLDER}/: `;

/** What the words about the end of a job say of this; empty: nothing. */
export function outsideIn(detail: string): string {
  const at = detail.indexOf(WORDS);
  return at === -1 ? '' : detail.slice(at);
}

/** `not kept, as outside distribute_save/: run.log, fields/ (12 files, 3.4M)`. */
export function outsideWords({ files, bytes, names }: Outside): string {
  const more = names.length === OUTSIDE_NAMED_MAX && files > OUTSIDE_NAMED_MAX ? ' …' : '';
  const amount = `${plural(files, 'file')}, ${formatBytes(bytes)}`;
  return `${WORDS}${names.join(', ')}${more} (${amount})`;
}
