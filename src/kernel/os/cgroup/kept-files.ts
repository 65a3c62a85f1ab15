// Files of groups that are kept open, because a short task can afford a read of an open file but
// not ten path look-ups. As many as this process may well have open; others are opened each time.

import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

const SCRATCH = Buffer.alloc(4096);
/** The other half is for connections, outputs and journals. */
const KEPT_SHARE = 0.5;

/** Half of the files that this process may open; Node has raised the limit all the way. */
export function keptFilesMax(limits = readFileSync('/proc/self/limits', 'utf8')): number {
  const [, soft = ''] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Math.floor(Number(soft) * KEPT_SHARE);
}

/** How many more files may be kept open. */
export class KeptFiles {
  static #ofProcess: KeptFiles | null = null;
  #left: number;

  constructor(max: number) {
    this.#left = max;
  }

  /** The one of all nodes whose agents are this process: the limit is theirs together. */
  static ofProcess(): KeptFiles {
    KeptFiles.#ofProcess ??= new KeptFiles(keptFilesMax());
    return KeptFiles.#ofProcess;
  }

  /** Throws when there is no such file. */
  open(path: string, flags: 'r' | 'r+' = 'r'): KeptFile {
    const isKept = this.#left > 0;
    const onClose = () => {
      this.#left += 1;
    };
    const file = new KeptFile(path, flags, isKept ? onClose : null);
    if (isKept) this.#left -= 1;
    return file;
  }
}

/** Numbers of the kernel, read anew each time. */
export class KeptFile {
  readonly #path: string;
  readonly #flags: 'r' | 'r+';
  readonly #open: number | null;
  readonly #onClose: (() => void) | null;

  /** `onClose`: null when it is not kept open. */
  constructor(path: string, flags: 'r' | 'r+', onClose: (() => void) | null) {
    this.#path = path;
    this.#flags = flags;
    this.#onClose = onClose;
    const file = openSync(path, flags);
    this.#open = onClose === null ? null : file;
    if (onClose === null) closeSync(file);
  }

  /** Reads from its beginning what fits into a page. */
  read(bytesMax = SCRATCH.length): string {
    return this.#with((file) =>
      SCRATCH.toString('latin1', 0, readSync(file, SCRATCH, 0, bytesMax, 0)),
    );
  }

  write(text: string): void {
    this.#with((file) => writeSync(file, text));
  }

  close(): void {
    if (this.#open !== null) closeSync(this.#open);
    this.#onClose?.();
  }

  #with<T>(use: (file: number) => T): T {
    if (this.#open !== null) return use(this.#open);
    const file = openSync(this.#path, this.#flags);
    try {
      return use(file);
    } finally {
      closeSync(file);
    }
  }
}
