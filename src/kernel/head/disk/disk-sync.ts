// Gets what was written to the disk, for many at once: all that wait are served by one round. A
// round of many paths is one sync of their file system, as each sync of one path alone makes the
// disk finish what it has in hand.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fsync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf } from './disk-errors.ts';

/** Fewer paths than this are synced by themselves; so many are open at a time where each is. */
const MANY = 8;
/** What a path takes where several are synced beside each other; only the order of size counts. */
const EACH_MS = 1;
const OPEN_MAX = 32;
/** The whole file system may have much of others: after this the paths are synced as well. */
const PATIENCE_MS = 2000;
/** By so much a slow sync of the whole is forgotten with each round that did without. */
const FORGOTTEN = 0.9;

const syncFile = promisify(fsync);

interface SyncRequest {
  readonly paths: readonly string[];
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export class DiskSync {
  readonly #whole: WholeDisk;
  #waiting: SyncRequest[] = [];
  #running: Promise<void> | null = null;
  /** How long the whole took when it was last synced. */
  #wholeMs = 0;

  readonly #gatherMs: number;

  /**
   * All paths lie below this directory, and on its file system. `gatherMs`: rest after a round that
   * has served several, for those who can wait.
   */
  constructor(directory: string, gatherMs = 0) {
    this.#whole = new WholeDisk(directory);
    this.#gatherMs = gatherMs;
  }

  /**
   * What was written to these files, and the names in these folders, are on the disk when it
   * resolves. What has been removed meanwhile is no matter.
   */
  settle(paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return Promise.resolve();
    return new Promise((done, failed) => {
      this.#waiting.push({ paths, done, failed });
      this.#running ??= this.#rounds();
    });
  }

  async close(): Promise<void> {
    await this.#running;
    this.#whole.close();
  }

  async #rounds(): Promise<void> {
    // Whoever comes in this turn of the event loop comes along.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const round = this.#waiting.splice(0);
      await this.#round(round);
      if (round.length > 1 && this.#gatherMs > 0) await sleep(this.#gatherMs);
    }
    this.#running = null;
  }

  async #round(round: readonly SyncRequest[]): Promise<void> {
    const count = round.reduce((sum, { paths }) => sum + paths.length, 0);
    if (count >= MANY && (await this.#syncedWhole(count))) {
      for (const { done } of round) done();
    } else await syncEach(round);
  }

  /** False: not, or not soon. */
  async #syncedWhole(count: number): Promise<boolean> {
    if (this.#wholeMs > count * EACH_MS) {
      this.#wholeMs *= FORGOTTEN;
      return false;
    }
    const from = performance.now();
    const isSynced = await this.#whole.sync(PATIENCE_MS);
    this.#wholeMs = performance.now() - from;
    return isSynced;
  }
}

/** A path that several wait for is synced once; each hears of its own. */
async function syncEach(round: readonly SyncRequest[]): Promise<void> {
  const left = new Set(round.flatMap(({ paths }) => paths)).values();
  const wrong = new Map<string, unknown>();
  const worker = async (): Promise<void> => {
    for (const path of left) {
      await syncPath(path).catch((error: unknown) => wrong.set(path, error));
    }
  };
  // So many files are open at a time: a round may have thousands.
  await Promise.all(Array.from({ length: OPEN_MAX }, worker));
  for (const { paths, done, failed } of round) {
    const bad = paths.find((path) => wrong.has(path));
    if (bad === undefined) done();
    else failed(wrong.get(bad));
  }
}

/** Opened and closed at once: to have a pool of threads do it would take longer. */
async function syncPath(path: string): Promise<void> {
  const fd = openUnlessGone(path);
  if (fd !== null) await syncFile(fd).finally(() => closeSync(fd));
}

function openUnlessGone(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

// syncfs(2), for which Node has no call: a shell waits for lines and answers each with how `sync
// -f` of coreutils went. Started when it is first needed; what cannot be synced so is its caller's
// to sync.

const SCRIPT = 'while read -r line; do sync -f "$0" && echo y || echo n; done';

type Answer = (isSynced: boolean) => void;

export class WholeDisk {
  readonly #directory: string;
  #shell: ChildProcess | null = null;
  #answer: Answer | null = null;
  /** There is no shell, no such `sync`, or the disk has errors: each path tells of its own. */
  #isUseless = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** False: it failed, or it did not come to its end in so long. */
  sync(patienceMs: number): Promise<boolean> {
    // One that has not ended in time is still under way.
    if (this.#isUseless || this.#answer !== null) return Promise.resolve(false);
    const shell = this.#shell ?? this.#start();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, patienceMs, false);
      this.#answer = (isSynced) => {
        clearTimeout(timer);
        resolve(isSynced);
      };
      shell.stdin?.write('\n');
    });
  }

  close(): void {
    this.#shell?.stdin?.end();
    this.#shell = null;
  }

  #start(): ChildProcess {
    const shell = spawn('sh', ['-c', SCRIPT, this.#directory], {
      cwd: '/',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    // Whoever waits has a timer; nobody else waits for a shell that waits.
    for (const one of [shell, shell.stdin as Socket, shell.stdout as Socket]) one.unref();
    shell.stdout?.on('data', (said) => {
      this.#isUseless = !`${said}`.startsWith('y');
      this.#hear(!this.#isUseless);
    });
    shell.stdin?.on('error', () => this.#lose(shell));
    shell.once('error', () => {
      this.#isUseless = true;
      this.#lose(shell);
    });
    shell.once('exit', () => this.#lose(shell));
    this.#shell = shell;
    return shell;
  }

  #hear(isSynced: boolean): void {
    const answer = this.#answer;
    this.#answer = null;
    answer?.(isSynced);
  }

  #lose(shell: ChildProcess): void {
    if (this.#shell !== shell) return;
    this.#shell = null;
    this.#hear(false);
  }
}
