// Removes directories in a thread of its own: on a disk with much in hand each name takes a
// millisecond, and whoever starts tasks must not stand still for that.

import { Worker } from 'node:worker_threads';
import { isGoneAtOnce, removeTree } from './remove-tree.ts';

/** What the thread is asked, and what it answers. */
export interface Removal {
  readonly id: number;
  readonly path: string;
}
export interface Removed {
  readonly id: number;
  /** What was wrong; null: it is gone. */
  readonly problem: string | null;
}

/** The thread holds names of directories and little else. */
const LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 };

/** Without work for so long the thread ends: it takes some megabytes. */
const IDLE_MS = 10_000;

interface Waiting {
  readonly done: (problem: string | null) => void;
  readonly lost: () => void;
}

export class TreeThread {
  readonly #url: URL;
  #idle: NodeJS.Timeout | undefined;
  #worker: Worker | null = null;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;

  constructor(url = threadUrl()) {
    this.#url = url;
  }

  async remove(path: string): Promise<void> {
    if (isGoneAtOnce(path)) return;
    const worker = this.#worker ?? this.#start();
    clearTimeout(this.#idle);
    this.#asked += 1;
    const id = this.#asked;
    const answer = new Promise<string | null | undefined>((resolve) => {
      this.#waiting.set(id, { done: resolve, lost: () => resolve(undefined) });
    });
    // Somebody waits: the process stays for it.
    worker.ref();
    worker.postMessage({ id, path } satisfies Removal);
    const problem = await answer;
    // A thread that has died: a directory that is half gone goes as well.
    if (problem === undefined) return removeTree(path);
    if (problem !== null) throw new Error(problem);
  }

  #rest(worker: Worker): void {
    worker.unref();
    this.#idle = setTimeout(() => {
      // Whoever comes now gets a new one.
      if (this.#worker === worker) this.#worker = null;
      void worker.terminate();
    }, IDLE_MS).unref();
  }

  #start(): Worker {
    const worker = new Worker(this.#url, { name: 'weft-remove', resourceLimits: LIMITS });
    this.#worker = worker;
    worker.unref();
    worker.on('message', ({ id, problem }: Removed) => {
      this.#waiting.get(id)?.done(problem);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#rest(worker);
    });
    // Told by its exit, which follows.
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      for (const { lost } of this.#waiting.values()) lost();
      this.#waiting.clear();
    });
    return worker;
  }
}

const thread = new TreeThread();

/** `removeTree`, but what is not empty goes in the thread, started at the first such directory. */
export function removeTreeAside(path: string): Promise<void> {
  return thread.remove(path);
}

/** The compiler rewrites the ends of imports, but not of this name. */
function threadUrl(): URL {
  const end = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./tree-worker.${end}`, import.meta.url);
}
