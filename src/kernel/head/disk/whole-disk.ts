// syncfs(2), for which Node has no call: a shell waits for lines and answers each with how `sync
// -f` of coreutils went. Started when it is first needed; what cannot be synced so is its caller's
// to sync.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

const SCRIPT = 'while read -r line; do sync -f "$0" && echo y || echo n; done';

type Answer = (isSynced: boolean) => void;

export class WholeDisk {
  readonly #directory: string;
  #shell: ChildProcess | null = null;
  #answer: Answer | null = null;
  /**
   * There is no shell, there is no such `sync`, or the disk has errors: each path tells of its own.
   */
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
