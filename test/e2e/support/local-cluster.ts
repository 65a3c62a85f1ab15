// A cluster of `weft up` in a directory of its own, used as a person uses it: by its programs.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeLock } from '../../../src/kernel/connect/lock-file.ts';
import { connectLocally, type LocalClient } from '../../support/local-client.ts';
import { isOver, whenKilled } from '../../support/when-killed.ts';
import { until } from './hosts.ts';

/** Top of the checkout. */
export const repository = join(import.meta.dirname, '..', '..', '..');

/** What a program said, and its exit code as a shell would show it. */
export interface Said {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

export interface Setting {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  readonly timeoutMs?: number;
  /** Sees standard output while the program runs. */
  readonly onOutput?: (soFar: string) => void;
}

/** Generous: the machine may be busy with other tests. */
const PROGRAM_MS_MAX = 240_000;

/** Runs a program to its end. Rejects when it takes too long. */
export function runProgram(argv: readonly string[], setting: Setting = {}): Promise<Said> {
  const { cwd, env, input = '', timeoutMs = PROGRAM_MS_MAX, onOutput } = setting;
  const [file = '', ...args] = argv;
  const child = spawn(file, args, { cwd, env, stdio: 'pipe' });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  let out = '';
  let error = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    onOutput?.(out);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text;
  });
  // A program that does not read its input has its reasons, and an exit code.
  child.stdin.on('error', () => undefined).end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      if (code !== null) return resolve({ code, out, error });
      reject(new Error(`${argv.join(' ')}: ended by ${child.signalCode}\n${out}${error}`));
    });
  });
}

/** Nothing of the caller's own cluster leaks in. */
export function cleanEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(WEFT|CM)_/.test(name));
  return { ...Object.fromEntries(kept), ...more };
}

/**
 * What makes programs start quickly in the whole run of the tests (tools/testing/run-tests.ts), for
 * environments made from nothing.
 *
 * @param program where the repository stands for them
 */
export function quickStarts(program = repository): NodeJS.ProcessEnv {
  const { env } = process;
  const there = (name: string): string | undefined => env[name]?.replace(repository, program);
  return {
    NODE_COMPILE_CACHE: there('NODE_COMPILE_CACHE'),
    NODE_COMPILE_CACHE_PORTABLE: env['NODE_COMPILE_CACHE_PORTABLE'],
    NODE_TESTS_BUILT_WEFT: there('NODE_TESTS_BUILT_WEFT'),
  };
}

export class LocalCluster {
  readonly directory = mkdtempSync(join(tmpdir(), 'weft-local-'));
  readonly state = join(this.directory, 'state');
  /** Where users stand when they submit. */
  readonly work = join(this.directory, 'work');
  readonly env: NodeJS.ProcessEnv;
  #client: LocalClient | null = null;
  readonly #forget = whenKilled(() => this.#remove());

  constructor(more: NodeJS.ProcessEnv = {}) {
    this.env = cleanEnvironment({ WEFT_DIR: this.state, ...more });
    mkdirSync(this.work);
  }

  /** `up` with these options, and a client of its head. */
  static async start(...options: string[]): Promise<LocalCluster> {
    const cluster = new LocalCluster();
    await cluster.up(...options);
    return cluster;
  }

  /**
   * Each node's agent is a process of its own: a test can kill it alone, and nobody starts it
   * again.
   */
  static async startApart(...options: string[]): Promise<LocalCluster> {
    const cluster = new LocalCluster({ WEFT_UP_NODES_PER_PROCESS: '1', WEFT_UP_KEEP: 'false' });
    await cluster.up(...options);
    return cluster;
  }

  /** With `--nodes`: each of 2 cpus and 512M, whatever this machine has. */
  async up(...options: string[]): Promise<string> {
    const size = options.includes('--nodes') ? ['--cpus', '2', '--memory', '512M'] : [];
    const { code, out, error } = await this.weft('up', ...options, ...size);
    assert.equal(code, 0, `${out}${error}`);
    await this.connect();
    return out;
  }

  /** A new client, for a head that was started again. */
  async connect(): Promise<void> {
    this.#client?.close();
    this.#client = await connectLocally(join(this.state, 'weft.sock'));
  }

  get client(): LocalClient {
    if (this.#client === null) throw new Error('the cluster was never up');
    return this.#client;
  }

  weft(...args: string[]): Promise<Said> {
    return this.run('weft', args);
  }

  /** One of the programs in `bin/`. */
  run(program: string, args: readonly string[], setting: Setting = {}): Promise<Said> {
    const script = join(repository, 'bin', `${program}.mjs`);
    return runProgram([process.execPath, script, ...args], {
      cwd: this.work,
      env: this.env,
      ...setting,
    });
  }

  /** Output of a command that must succeed, without its last line end. */
  async ok(...args: string[]): Promise<string> {
    const { code, out, error } = await this.weft(...args);
    assert.equal(code, 0, `weft ${args.join(' ')}: ${out}${error}`);
    return out.replace(/\n$/, '');
  }

  /** Exit code and words of a command that must be refused: nothing on stdout, no stack. */
  async refused(program: string, ...args: string[]): Promise<Said> {
    const said = await this.run(program, args);
    const shown = `${program} ${args.join(' ')}: ${said.out}${said.error}`;
    assert.notEqual(said.code, 0, shown);
    assert.equal(said.out, '', shown);
    assert.ok(said.error.startsWith(`${program}: `), shown);
    assert.doesNotMatch(said.error, /a bug in|\n\s+at /, shown);
    return said;
  }

  /** Lines of a file in `work`, as far as they are whole; none when it is not there yet. */
  lines(name: string): string[] {
    const file = join(this.work, name);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return text.split('\n').slice(0, -1);
  }

  /** How many jobs the head has accepted so far. */
  async jobCount(): Promise<number> {
    const { jobs } = await this.client.call<{ jobs: { id: number }[] }>(
      'GET',
      '/v1/jobs?state=all&limit=1',
    );
    return jobs[0]?.id ?? 0;
  }

  job(id: string): Promise<JobShown> {
    return this.client.call('GET', `/v1/jobs/${encodeURIComponent(id)}`);
  }

  /** Fails at once when the job has ended otherwise: it will never get there. */
  reaches(id: string, state: string): Promise<JobShown> {
    return until(`job ${id} is ${state}`, async () => {
      const job = await this.job(id);
      if (job.state === state) return job;
      const { outcome } = job;
      if (job.state === 'done')
        throw new Error(`job ${id} is ${JSON.stringify(outcome)}, not ${state}`);
      return undefined;
    });
  }

  /** Meanwhile nobody starts a daemon again that has died: who does takes this lock. */
  async withoutRestarts(use: () => Promise<void>): Promise<void> {
    const lock = await until('no daemon is being started again', () => {
      const taken = takeLock(join(this.state, 'run', 'up.pid'), 'keeper');
      return taken.ok ? taken : undefined;
    });
    try {
      await use();
    } finally {
      lock.release();
    }
  }

  /** Pid of the head or of a node's agent, as `weft up` noted it. */
  pidOf(daemon: string): number {
    const mark = readFileSync(join(this.state, 'run', `${daemon}.pid`), 'utf8');
    return (JSON.parse(mark) as { pid: number }).pid;
  }

  /** Ends a daemon like `kill -9` or a crash would. */
  async kill(daemon: string): Promise<void> {
    const pid = this.pidOf(daemon);
    process.kill(pid, 'SIGKILL');
    await until(`${daemon} is gone`, () => isOver(pid) || undefined);
  }

  /** All processes whose command line names this cluster's directory. */
  processes(): string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(commandLine)
      .filter((line) => line.includes(this.directory));
  }

  async close(): Promise<void> {
    this.#client?.close();
    try {
      await this.ok('down', '--clean', '--yes');
    } finally {
      this.#forget();
      rmSync(this.directory, { recursive: true, force: true });
    }
  }

  #remove(): void {
    const script = join(repository, 'bin', 'weft.mjs');
    spawnSync(process.execPath, [script, 'down', '--now'], { env: this.env });
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // It ended meanwhile.
  }
}

/** The parts of a job that tests look at. */
export interface JobShown {
  readonly id: number;
  readonly name: string;
  readonly state: string;
  readonly outcome: {
    readonly kind: string;
    readonly detail: string | null;
    readonly exit: { readonly code?: number; readonly signal?: number } | null;
  } | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly taskCounts: Readonly<Record<string, number>>;
}
