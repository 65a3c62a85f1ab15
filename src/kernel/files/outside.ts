// What a job of a batch leaves outside of its save folder: nobody keeps it, so that its owner is told.

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

/** What a job has left there, summed up as it is found. */
export class OutsideCount {
  readonly #before: Before;
  readonly #names = new Set<string>();
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
    this.#files += 1;
    this.#bytes += size;
    if (this.#names.size < OUTSIDE_NAMED_MAX) this.#names.add(nameOf(top, parts.length > 1));
  }

  /** Undefined: nothing. */
  get sum(): Outside | undefined {
    if (this.#files === 0) return undefined;
    return { files: this.#files, bytes: this.#bytes, names: [...this.#names] };
  }
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
