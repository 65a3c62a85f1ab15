// One program with a process group of its own: bounded in time, ended with everything that it has
// started, its output in files.

import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileProblem } from '../../../../kernel/config/file-problem.ts';

export interface ChildOrder {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdout: string;
  readonly stderr: string;
  readonly walltimeMs: number | null;
  /**
   * The child gets one end of a pipe as descriptor 3, whose other end closes when this program is
   * gone.
   */
  readonly isTethered: boolean;
  /** Aborted: it is to end. */
  readonly stop: AbortSignal;
  /** Aborted: at once. */
  readonly kill: AbortSignal;
  /** Told the process once it is there, and null when it is gone. */
  readonly onProcess: (pid: number | null) => void;
}

export interface ChildEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why it could not be started. */
  readonly error: string | null;
  readonly endedBy: 'itself' | 'timeout' | 'stop';
}

/** Between asking a program to end and ending it: as long as a node gives. */
export const GRACE_MS = 10_000;

export function runChild(order: ChildOrder): Promise<ChildEnd> {
  const [program = '', ...args] = order.argv;
  const stdout = openSync(order.stdout, 'a');
  const stderr = order.stderr === order.stdout ? stdout : openSync(order.stderr, 'a');
  const child = spawn(program, args, {
    cwd: order.cwd,
    env: order.environment,
    detached: true,
    stdio: ['ignore', stdout, stderr, order.isTethered ? 'pipe' : 'ignore'],
  });
  for (const open of new Set([stdout, stderr])) closeSync(open);
  return new Promise((resolve) => {
    const group = new Group(child.pid, order);
    child.once('error', (error) => {
      group.close();
      resolve({
        exitCode: null,
        signal: null,
        error: startProblemOf(program, error),
        endedBy: 'itself',
      });
    });
    child.once('exit', (exitCode, signal) => {
      group.close();
      resolve({ exitCode, signal, error: null, endedBy: group.endedBy });
    });
  });
}

function startProblemOf(program: string, error: NodeJS.ErrnoException): string {
  return `${program} cannot be started: ${fileProblem(error)}`;
}

/** The processes of one child, and what ends them. */
class Group {
  endedBy: ChildEnd['endedBy'] = 'itself';
  readonly #pid: number | undefined;
  readonly #order: ChildOrder;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #onStop = () => this.#end('stop');
  readonly #onKill = () => this.#signal('SIGKILL');

  constructor(pid: number | undefined, order: ChildOrder) {
    this.#pid = pid;
    this.#order = order;
    if (pid === undefined) return;
    order.onProcess(pid);
    order.stop.addEventListener('abort', this.#onStop);
    order.kill.addEventListener('abort', this.#onKill);
    if (order.walltimeMs !== null) this.#endAfter(order.walltimeMs);
    if (order.stop.aborted) this.#onStop();
  }

  /** The first process has ended; what it has left behind must write no more. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#order.stop.removeEventListener('abort', this.#onStop);
    this.#order.kill.removeEventListener('abort', this.#onKill);
    if (this.#pid === undefined) return;
    this.#signal('SIGKILL');
    this.#order.onProcess(null);
  }

  /** A timer takes 24 days at most. */
  #endAfter(ms: number): void {
    const now = Math.min(ms, 2 ** 31 - 1);
    const next = () => (ms > now ? this.#endAfter(ms - now) : this.#end('timeout'));
    this.#timers.push(setTimeout(next, now));
  }

  #end(by: 'timeout' | 'stop'): void {
    if (this.endedBy !== 'itself') return;
    this.endedBy = by;
    this.#signal('SIGTERM');
    this.#timers.push(setTimeout(this.#onKill, GRACE_MS));
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-(this.#pid as number), signal);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Gone by itself, which is what is wanted, or another user's by now, as under sudo.
      if (code !== 'ESRCH' && code !== 'EPERM') throw error;
    }
  }
}
