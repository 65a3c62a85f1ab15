// A real `weft head` in a directory of its own: started until it serves or ends, killed, looked
// into.

import { type ChildProcess, type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { connectLocally, type LocalClient } from './local-client.ts';
import { whenKilled } from './when-killed.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'weft.mjs');
const START_MS_MAX = 120_000;

/** How a head came out of its start: `code` is null while it serves. */
export interface Start {
  readonly code: number | null;
  readonly error: string;
}

export class HeadDirectory {
  readonly directory = mkdtempSync(join(tmpdir(), 'weft-head-'));
  #child: ChildProcess | null = null;
  #client: LocalClient | null = null;
  readonly #forget = whenKilled(() => this.#remove());

  constructor(t: Pick<TestContext, 'after'>) {
    t.after(() => this.close());
  }

  /** A file of the head's own state: `file('weft.db')`. */
  file(name: string): string {
    return join(this.directory, 'head', name);
  }

  get log(): string {
    return readFileSync(this.file('head.log'), 'utf8');
  }

  /** Resolves when it serves, or has ended. */
  async start(args: readonly string[] = ['--listen', 'none'], env = {}): Promise<Start> {
    const argv = [PROGRAM, 'head', '--dir', this.directory, '--log-file', this.file('head.log')];
    const child = spawn(process.execPath, [...argv, ...args], {
      env: { ...cleanEnvironment(), ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    return outcomeOf(child);
  }

  /** A head that must serve. */
  async serve(args: readonly string[] = ['--listen', 'none'], env = {}): Promise<LocalClient> {
    const { code, error } = await this.start(args, env);
    if (code !== null) throw new Error(`the head ended with ${code}: ${error}`);
    this.#client = await connectLocally(join(this.directory, 'weft.sock'));
    return this.#client;
  }

  /** Output of a command of its cluster, and of `doctor` also when it finds something. */
  async weft(...args: string[]): Promise<string> {
    const argv = [PROGRAM, ...args, '--dir', this.directory];
    const run = promisify(execFile)(process.execPath, argv, { env: cleanEnvironment() });
    return (await run.catch((error: { stdout: string }) => error)).stdout;
  }

  /** Another head in the directory in which one serves. */
  second(): Promise<Start> {
    const argv = [PROGRAM, 'head', '--dir', this.directory, '--listen', 'none'];
    return outcomeOf(spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'pipe'] }));
  }

  /** Ends what runs and waits for it. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.#client?.close();
    this.#client = null;
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
  }

  async close(): Promise<void> {
    await this.end('SIGKILL');
    this.#forget();
    this.#remove();
  }

  #remove(): void {
    this.#child?.kill('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

function outcomeOf(child: ChildProcessByStdio<null, null, Readable>): Promise<Start> {
  let error = '';
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the head neither served nor ended: ${error}`));
    }, START_MS_MAX);
    const settle = (code: number | null): void => {
      clearTimeout(late);
      resolve({ code, error });
    };
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      error += text;
      if (/^weft: head of /m.test(error)) settle(null);
    });
    child.once('close', (code) => settle(code ?? -1));
    child.once('error', reject);
  });
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^WEFT_/.test(name)));
}
