// Launchers under test: built in each flavour, started on a socket of their own, spoken to in raw
// frames, and ended with everything they started.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AnswerReader } from '../../src/kernel/agent/launcher-answers.ts';
import {
  type LauncherAnswer,
  RequestWriter,
  type SpawnFrame,
} from '../../src/kernel/agent/launcher-wire.ts';
import type { SignalTo } from '../../src/kernel/model/job.ts';
import { fallbackCommand } from '../../src/kernel/os/launcher-build.ts';
import { LAUNCHER_ERROR } from '../../src/kernel/ports/launcher-frames.ts';

/** No condition waited for here takes longer than this, however busy the machine. */
const PATIENCE_MS = 60_000;
/** Between two looks. */
const LOOK_MS = 2;
const sources = fileURLToPath(new URL('../../launcher/', import.meta.url));

export const SANITIZED = ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];

/** Compiles the C launcher with every warning an error. */
export function compileLauncher(
  target: string,
  flags: readonly string[],
  compiler = 'cc',
): string[] {
  const strict = [
    '-std=c11',
    '-pthread',
    '-Wall',
    '-Wextra',
    '-Werror',
    '-Wshadow',
    '-Wconversion',
  ];
  const files = readdirSync(sources).filter((name) => name.endsWith('.c'));
  const paths = files.map((name) => join(sources, name));
  execFileSync(compiler, [...strict, ...flags, ...paths, '-o', target]);
  return [target];
}

/** A new empty folder under the system's temporary one that any user may enter. */
export function newFolder(): string {
  const folder = mkdtempSync('/tmp/weft-launcher-');
  execFileSync('chmod', ['755', folder]);
  return folder;
}

/** Waits until `look` gives something, asking again after each turn of the event loop. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`gave up waiting for ${what}`);
}

export const flavours = {
  c: (folder: string) => compileLauncher(join(folder, 'c'), ['-O2']),
  /** With another C library, of which nothing is needed at run time: the first choice of agents. */
  musl: (folder: string) => compileLauncher(join(folder, 'musl'), ['-O2', '-static'], 'musl-gcc'),
  sanitized: (folder: string) => compileLauncher(join(folder, 'san'), SANITIZED),
  node: () => fallbackCommand(),
};
export type Flavour = keyof typeof flavours;

const started = new Set<Launcher>();

/** Kills every launcher a failed test left behind; for an `after` hook. */
export function sweep(): void {
  for (const launcher of started) launcher.abandon();
}

export class Launcher {
  readonly folder = newFolder();
  readonly path = join(this.folder, 'socket');
  process: ChildProcess;
  readonly #agents: Agent[] = [];
  errors = '';

  /** `owner`: the uid as which the command will run, when it changes it itself. */
  constructor(command: readonly string[], options: readonly string[] = [], owner?: number) {
    started.add(this);
    if (owner !== undefined) execFileSync('chown', [String(owner), this.folder]);
    this.process = this.#start(command, options);
  }

  /** With SIGKILL, as from outside; the next one is there when it can be connected to. */
  async killAndReplace(command: readonly string[]): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, 'exit');
      this.process.kill('SIGKILL');
      await ended;
    }
    this.process = this.#start(command, []);
  }

  #start(command: readonly string[], options: readonly string[]): ChildProcess {
    const child = spawnLauncher(command, ['--socket', this.path, ...options]);
    child.stderr?.on('data', (bytes) => {
      this.errors += bytes;
    });
    return child;
  }

  /** A new connection that has said hello, unless told otherwise. */
  async connect(options = { hello: true }): Promise<Agent> {
    const socket = await this.socket();
    const agent = new Agent(socket);
    this.#agents.push(agent);
    await agent.answer('hello');
    if (options.hello) agent.ask((writer) => writer.hello());
    return agent;
  }

  /** A bare connection, nothing read or said yet. */
  async socket(): Promise<Socket> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const socket = connect(this.path);
      const connected = await new Promise<boolean>((resolve) => {
        socket.once('connect', () => resolve(true));
        socket.once('error', () => resolve(false));
      });
      if (connected) return socket;
      if (performance.now() > deadline) throw new Error(`no launcher at ${this.path}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  abandon(): void {
    started.delete(this);
    this.process.kill('SIGKILL');
    for (const agent of this.#agents) agent.socket.destroy();
  }

  /** Ends it and all it started; gives its exit code and what it wrote to stderr. */
  async end(): Promise<{ code: number | null; errors: string }> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, 'exit');
      const socket = await this.socket();
      // What it tells is not read: after the fuzzer it knows ids that no agent gives.
      socket.on('error', () => socket.destroy()).resume();
      const writer = new RequestWriter();
      writer.hello();
      writer.shutdown();
      socket.write(writer.take());
      await ended;
    }
    this.abandon();
    rmSync(this.folder, { recursive: true, force: true });
    return { code: this.process.exitCode, errors: this.errors };
  }
}

export function spawnLauncher(command: readonly string[], args: readonly string[]): ChildProcess {
  const [program = '', ...first] = command;
  return spawn(program, [...first, ...args], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

const KNOWS_SCOPES = LAUNCHER_ERROR.knowsScopes;

type Answer<K extends LauncherAnswer['kind']> = LauncherAnswer & { readonly kind: K };

/** One connection, with everything that came back over it. */
export class Agent {
  readonly socket: Socket;
  readonly answers: LauncherAnswer[] = [];
  readonly #reader = new AnswerReader();
  readonly #taken = new Set<LauncherAnswer>();
  closed = false;
  knowsScopes = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      const all = this.#reader.push(bytes);
      const said = all.filter((one) => one.kind !== 'error' || one.code !== KNOWS_SCOPES);
      this.knowsScopes ||= said.length < all.length;
      this.answers.push(...said);
    });
    socket.on('close', () => {
      this.closed = true;
    });
    socket.on('error', () => socket.destroy());
  }

  ask(write: (writer: RequestWriter) => void): void {
    const writer = new RequestWriter();
    write(writer);
    this.socket.write(writer.take());
  }

  /** The first answer of that kind (and id) not yet given out by this method. */
  answer<K extends LauncherAnswer['kind']>(kind: K, id?: number): Promise<Answer<K>> {
    return until(`${kind} ${id ?? ''}`, () => {
      const found = this.answers.find(
        (answer) =>
          answer.kind === kind &&
          !this.#taken.has(answer) &&
          (id === undefined || ('id' in answer && answer.id === id)),
      );
      if (found) this.#taken.add(found);
      return found as Answer<K> | undefined;
    });
  }

  /** What else comes meanwhile, as an exit, is left for `answer`. */
  async list(): Promise<Answer<'record'>[]> {
    const before = this.answers.length;
    this.ask((writer) => writer.list());
    const end = await this.answer('list_end');
    const listed = this.answers.slice(before, this.answers.indexOf(end));
    return listed.flatMap((answer) => {
      if (answer.kind !== 'record') return [];
      this.#taken.add(answer);
      return [answer];
    });
  }

  async leftovers(id: number): Promise<number> {
    this.ask((writer) => writer.leftovers(id));
    return (await this.answer('leftovers', id)).count;
  }

  async signal(id: number, signal: number, to?: SignalTo): Promise<number> {
    this.ask((writer) => writer.signal(id, signal, to));
    return (await this.answer('signalled', id)).count;
  }

  spawn(frame: Partial<SpawnFrame> & Pick<SpawnFrame, 'id' | 'argv'>): void {
    this.ask((writer) => writer.spawn(frameOf(frame)));
  }

  /** Spawns and waits for its end; gives the wait status. */
  async run(frame: Partial<SpawnFrame> & Pick<SpawnFrame, 'id' | 'argv'>): Promise<number> {
    this.spawn(frame);
    return (await this.answer('exited', frame.id)).status;
  }

  async closing(): Promise<void> {
    await until('the launcher to close', () => this.closed);
  }
}

export const PATH = 'PATH=/usr/local/bin:/usr/bin:/bin';

export function frameOf(frame: Partial<SpawnFrame> & Pick<SpawnFrame, 'id' | 'argv'>): SpawnFrame {
  return {
    setIds: null,
    append: false,
    byUmask: false,
    nice: 0,
    umask: 0o022,
    cwd: '/',
    environment: [PATH],
    stdin: '',
    stdout: '',
    stderr: '',
    limits: [],
    cgroupProcs: [],
    makeParents: false,
    leaseMs: null,
    ...frame,
  };
}

/** A folder of its own inside another, open to that user when given. */
export function subfolder(parent: string, name: string, uid?: number): string {
  const path = join(parent, name);
  mkdirSync(path, { recursive: true });
  if (uid !== undefined) execFileSync('chown', [String(uid), path]);
  return path;
}
