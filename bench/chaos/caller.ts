// A Python program that calls functions on workers of the cluster meanwhile: `caller.py`.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallTrial, CallTrials } from './evidence.ts';
import { livesOf } from './receipts.ts';

const PACKAGE = join(import.meta.dirname, '..', '..', 'python', 'src');

/** The name of a pool's job: it is no work that was asked for. */
export const POOL = 'pool';

export class Caller {
  readonly #child: ChildProcess;
  readonly #receipts: string;
  readonly #report: string;
  readonly #ended: Promise<readonly unknown[]>;

  /** Null: this machine has no Python with cloudpickle. */
  static start(folder: string, socketPath: string): Caller | null {
    try {
      execFileSync('python3', ['-c', 'import cloudpickle'], { stdio: 'ignore' });
    } catch {
      console.log('no calls of functions: python3 has no cloudpickle here');
      return null;
    }
    return new Caller(folder, socketPath);
  }

  private constructor(folder: string, socketPath: string) {
    this.#receipts = join(folder, 'call-receipts');
    this.#report = join(folder, 'calls.jsonl');
    mkdirSync(this.#receipts);
    const script = join(import.meta.dirname, 'caller.py');
    this.#child = spawn('python3', [script, this.#receipts, this.#report], {
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { ...process.env, WEFT_SOCKET: socketPath, PYTHONPATH: PACKAGE },
    });
    this.#ended = once(this.#child, 'close');
  }

  /** Resolves when all calls are told, or were waited for long enough. */
  async end(): Promise<CallTrials> {
    this.#child.stdin?.end();
    const [exitCode] = (await this.#ended) as [number | null];
    const text = existsSync(this.#report) ? readFileSync(this.#report, 'utf8') : '';
    const said = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as CallTrial & Refused);
    const refused: Record<string, number> = {};
    for (const { refused: why } of said) {
      if (why !== undefined) refused[why] = (refused[why] ?? 0) + 1;
    }
    const files = readdirSync(this.#receipts).map((file) => {
      return readFileSync(join(this.#receipts, file), 'utf8');
    });
    const trials = said.filter(({ refused: why }) => why === undefined);
    return { trials, refused, lives: livesOf(files), exitCode };
  }
}

interface Refused {
  readonly refused?: string;
}
