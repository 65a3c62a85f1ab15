// An agent in a test: virtual time, a launcher whose processes do what the test says, files in
// memory, and a fake head. Killing and restarting the agent keeps launcher, files and journal.

import { type Agent, startAgent } from '../../../../src/kernel/agent/agent.ts';
import type { AgentPart } from '../../../../src/kernel/agent/part.ts';
import type { AgentPorts, AgentSettings } from '../../../../src/kernel/agent/ports.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import type { KnownProcess, ProcessEvent } from '../../../../src/kernel/model/processes.ts';
import type { Clock, Timer } from '../../../../src/kernel/ports/clock.ts';
import type { Commands } from '../../../../src/kernel/ports/commands.ts';
import type { Containment } from '../../../../src/kernel/ports/containment.ts';
import type { FileLook, Files, Owner } from '../../../../src/kernel/ports/files.ts';
import type { JournalFile } from '../../../../src/kernel/ports/journal-file.ts';
import type { LaunchRequest, Processes } from '../../../../src/kernel/ports/processes.ts';
import type { Staging } from '../../../../src/kernel/ports/staging.ts';
import type { UserAccount, Users } from '../../../../src/kernel/ports/users.ts';
import { FakeHead, type FakeHeadOptions } from './fake-head.ts';

const USAGE = { userUs: 1, systemUs: 1, memoryPeakBytes: 1 };

export class VirtualClock implements Clock {
  #time = 1_000_000;
  #serial = 0;
  #timers: { at: number; serial: number; then: () => void }[] = [];
  #soon: (() => void)[] = [];

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  after(delayMs: number, then: () => void): Timer {
    const timer = { at: this.#time + delayMs, serial: this.#serial++, then };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
    };
  }

  soon(then: () => void): void {
    this.#soon.push(then);
  }

  /** Lets time pass in which nothing here runs: what is due then is late. */
  standStill(ms: number): void {
    this.#time += ms;
  }

  /** Everything that can happen without time passing has happened. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      await new Promise((resolve) => setImmediate(resolve));
      const soon = this.#soon;
      this.#soon = [];
      quiet = soon.length === 0 ? quiet + 1 : 0;
      for (const then of soon) then();
    }
  }

  async advance(ms: number): Promise<void> {
    const until = this.#time + ms;
    await this.settle();
    for (;;) {
      const next = this.#timers.sort((a, b) => a.at - b.at || a.serial - b.serial)[0];
      if (next === undefined || next.at > until) break;
      this.#timers.shift();
      this.#time = Math.max(this.#time, next.at);
      next.then();
      await this.settle();
    }
    this.#time = until;
  }
}

interface FakeProcess {
  readonly request: LaunchRequest;
  known: KnownProcess;
}

/** Outlives agents, as the real one does. */
export class FakeLauncher {
  readonly started: LaunchRequest[] = [];
  readonly signals: { launchId: number; signal: number; isAsked?: true }[] = [];
  readonly table = new Map<number, FakeProcess>();
  readonly trapsTerm = new Set<number>();
  /** False: ends are noted, and nobody is told. */
  tellsEnds = true;
  /** False: starts are taken without an answer. */
  answersStarts = true;
  readonly heard: number[] = [];
  /** Resolves when one that stands still goes on. */
  goesOn: Promise<void> = Promise.resolve();
  isUp = true;
  /** Set by a shutdown: whether every process had ended. */
  ended = false;
  #connection: FakeConnection | null = null;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  connect(): Promise<Processes> {
    if (!this.isUp) return Promise.reject(new Error('no launcher'));
    this.#connection = new FakeConnection(this);
    return Promise.resolve(this.#connection);
  }

  start(request: LaunchRequest): void {
    const { launchId } = request;
    if (this.table.has(launchId)) return;
    this.started.push(request);
    this.table.set(launchId, { request, known: { launchId, state: 'running' } });
    if (this.answersStarts) this.tell({ kind: 'started', launchId });
  }

  exit(launchId: number, exit: { code?: number; signal?: number }): void {
    const process = this.table.get(launchId);
    if (process === undefined || process.known.state === 'ended') return;
    const endedAt = this.#clock.now();
    const common = { launchId, exit, usage: USAGE, leaseOver: false };
    const end = { kind: 'exited', ...common, endedAt } as const;
    process.known = { launchId, state: 'ended', end };
    if (this.tellsEnds) this.tell(end);
  }

  signal(launchId: number, signal: number, isAsked = false): void {
    this.signals.push({ launchId, signal, ...(isAsked ? { isAsked } : {}) });
    if (signal === 9 || (signal === 15 && !this.trapsTerm.has(launchId))) {
      this.exit(launchId, { signal });
    }
  }

  /** Dies with everything it knows. */
  die(): void {
    this.table.clear();
    const connection = this.#connection;
    this.#connection = null;
    connection?.lost();
  }

  /** Killed; its successor knows the ends that it had noted, and nothing else. */
  dieLeavingEnds(): void {
    for (const [launchId, { known }] of this.table) {
      if (known.state !== 'ended') this.table.delete(launchId);
    }
    const connection = this.#connection;
    this.#connection = null;
    connection?.lost();
  }

  tell(event: ProcessEvent): void {
    this.#connection?.deliver(event);
  }

  drop(connection: FakeConnection): void {
    if (this.#connection === connection) this.#connection = null;
  }
}

class FakeConnection implements Processes {
  readonly outdated = null;
  readonly #launcher: FakeLauncher;
  #onEvent: (event: ProcessEvent) => void = () => undefined;
  #onLost: (why: string) => void = () => undefined;

  constructor(launcher: FakeLauncher) {
    this.#launcher = launcher;
  }

  adopt(): Promise<readonly KnownProcess[]> {
    return Promise.resolve([...this.#launcher.table.values()].map(({ known }) => known));
  }

  onEvent(handler: (event: ProcessEvent) => void): void {
    this.#onEvent = handler;
  }

  onLost(handler: (why: string) => void): void {
    this.#onLost = handler;
  }

  start(request: LaunchRequest): void {
    this.#launcher.start(request);
  }

  heard(monotonic: number): void {
    this.#launcher.heard.push(monotonic);
  }

  signal(launchId: number, signal: number, isAsked?: boolean): void {
    this.#launcher.signal(launchId, signal, isAsked);
  }

  async leftovers(): Promise<number> {
    await this.#launcher.goesOn;
    return 0;
  }

  forget(launchId: number): void {
    this.#launcher.table.delete(launchId);
  }

  shutDown(): void {
    for (const { launchId } of this.#launcher.started) this.#launcher.exit(launchId, { signal: 9 });
    this.#launcher.ended = [...this.#launcher.table.values()].every(
      (p) => p.known.state === 'ended',
    );
    this.#launcher.die();
  }

  close(): void {
    this.#launcher.drop(this);
  }

  deliver(event: ProcessEvent): void {
    setImmediate(() => this.#onEvent(event));
  }

  lost(): void {
    this.#onLost('it died');
  }
}

export class MemoryJournal implements JournalFile {
  bytes = Buffer.alloc(0);
  isFull = false;

  read(): Uint8Array {
    return this.bytes;
  }

  /** What a full disk leaves to be written. */
  reserveBytes = 0;

  write(offset: number, bytes: Uint8Array): void {
    if (this.isFull && bytes.length > this.reserveBytes) throw new Error('ENOSPC');
    if (this.isFull) this.reserveBytes -= bytes.length;
    this.bytes = Buffer.concat([this.bytes.subarray(0, offset), bytes]);
  }

  replace(bytes: Uint8Array): void {
    if (this.isFull) throw new Error('ENOSPC');
    this.bytes = Buffer.from(bytes);
  }

  hasRoom(): boolean {
    return !this.isFull;
  }

  close(): void {}
}

export class MemoryFiles implements Files {
  readonly files = new Map<string, Buffer>();
  readonly directories = new Map<string, Owner | null>();
  /** How often it was asked for a directory, and for what a file is. */
  made = 0;
  looks = 0;

  makeDirectory(path: string, owner: Owner | null): void {
    this.made += 1;
    this.directories.set(path, owner);
  }

  writeFile(path: string, text: string): void {
    this.files.set(path, Buffer.from(text));
  }

  size(path: string): number | null {
    this.looks += 1;
    return this.files.get(path)?.length ?? null;
  }

  look(path: string): FileLook | null {
    const size = this.size(path);
    return size === null ? null : { size, isPrivate: true };
  }

  read(path: string, _uid: number | null, offset: number, bytesMax: number): Uint8Array {
    return this.files.get(path)?.subarray(offset, offset + bytesMax) ?? new Uint8Array(0);
  }

  empty(path: string): boolean {
    this.looks += 1;
    if (this.files.has(path)) this.files.set(path, Buffer.alloc(0));
    return true;
  }

  emptyFrom(path: string, _uid: number | null, offset: number, _keep = 0): Promise<void> {
    this.files.get(path)?.fill(0, offset);
    return Promise.resolve();
  }

  removeFile(path: string): void {
    this.files.delete(path);
  }

  removeTree(path: string): Promise<void> {
    this.directories.delete(path);
    for (const name of this.files.keys()) {
      if (name.startsWith(`${path}/`)) this.files.delete(name);
    }
    return Promise.resolve();
  }

  list(path: string): string[] {
    const all = [...this.directories.keys(), ...this.files.keys()];
    const inside = all.filter((one) => one.startsWith(`${path}/`));
    return [...new Set(inside.map((one) => one.slice(path.length + 1).split('/')[0] as string))];
  }
}

export const ALICE: UserAccount = {
  name: 'alice',
  uid: 1000,
  gid: 1000,
  groups: [1000],
  home: '/home/alice',
  shell: '/bin/bash',
};

const HEALTH = { command: ['check'], timeoutMs: 1000, intervalMs: 60_000 };

export class FakeWorld {
  readonly clock = new VirtualClock();
  readonly launcher = new FakeLauncher(this.clock);
  readonly journal = new MemoryJournal();
  readonly files = new MemoryFiles();
  readonly head: FakeHead;
  readonly killedMarks: string[] = [];
  /** Processes that do not show their mark, as they are in the middle of an exec. */
  inExec = 0;
  readonly memory = new Map<string, number>();
  readonly complaints: string[] = [];
  diskFreeBytes = 2 ** 40;
  /** Without files, accounts and limits, as where tasks run elsewhere. */
  isBare = false;
  /** Brings and keeps files; null: nobody does. */
  staging: Staging | null = null;
  /** Runs the health check; null: the site has none. */
  commands: Commands | null = null;
  /** Limit groups; null: memory is polled. */
  containment: Containment | null = null;
  /** Asks container engines; null: tasks have no containers. */
  engines: Commands | null = null;
  /** What wings do in it. */
  parts: readonly AgentPart[] = [];
  /** What the look-up of accounts still knows. */
  readonly remembered = new Map<string, UserAccount | null>();
  readonly accounts = new Map<string, UserAccount>([['alice', ALICE]]);
  findUser = (name: string): Promise<UserAccount | null> =>
    Promise.resolve(this.accounts.get(name) ?? null);
  settings: AgentSettings = settings();
  agent: Agent | null = null;
  #alive = { now: true };

  constructor(options: FakeHeadOptions = {}) {
    this.head = new FakeHead(options);
  }

  async start(): Promise<Agent> {
    this.#alive = { now: true };
    this.agent = await startAgent(this.#ports(), this.settings, this.parts);
    await this.clock.settle();
    return this.agent;
  }

  /** Ends the agent like kill -9: nothing more of it happens, nothing is said to anybody. */
  async kill(): Promise<void> {
    this.#alive.now = false;
    this.agent?.stop();
    this.agent = null;
    await this.clock.settle();
  }

  #ports(): AgentPorts {
    const complain = (_: object, message: string): void => void this.complaints.push(message);
    const log = { debug: () => undefined, info: () => undefined, warn: complain, error: complain };
    const alive = this.#alive;
    const { journal } = this;
    const users: Users = {
      self: () => ALICE,
      cached: (name) => this.remembered.get(name),
      find: (name) => this.findUser(name),
    };
    return {
      clock: this.clock,
      log,
      dialer: this.head.dialer,
      ...(this.isBare ? {} : { files: this.files, users }),
      ...(this.staging === null ? {} : { staging: this.staging }),
      chance: { bytes: (count) => new Uint8Array(count), fraction: () => 0.5 },
      connectLauncher: () => this.launcher.connect(),
      journal: {
        read: () => journal.read(),
        replace: (bytes) => journal.replace(bytes),
        write: (offset, bytes) => (alive.now ? journal.write(offset, bytes) : undefined),
        hasRoom: () => journal.hasRoom(),
        close: () => undefined,
      },
      marks: {
        memory: () => this.memory,
        kill: (marks) => {
          this.killedMarks.push(...marks);
          return { lived: 0, unknown: this.inExec };
        },
      },
      load: () => ({ load1: 0, memoryFreeBytes: 0, diskFreeBytes: this.diskFreeBytes }),
      ...(this.containment === null ? {} : { containment: this.containment }),
      ...(this.engines === null ? {} : { commands: this.engines }),
      ...(this.commands === null ? {} : { health: { ...HEALTH, commands: this.commands } }),
    };
  }
}

export function settings(): AgentSettings {
  return {
    node: 'n1' as NodeName,
    bootId: 'boot-1',
    instance: 'inst',
    resources: { cpuCount: 4, memoryBytes: 1e9, gpuCount: 0, counted: {} },
    labels: [],
    sharedPaths: ['/'],
    facts: {
      os: 'Linux',
      arch: 'x64',
      kernel: '6',
      hostname: 'n1',
      agentVersion: '0',
      diskFreeBytes: 0,
      diskBytes: 0,
      network: '',
      limits: 'polling',
      launcher: 'c',
      switchesUser: true,
      user: 'root',
    },
    stateDir: '/state',
    spoolBytesMax: 1e9,
    switchUser: true,
    ownUserOnly: false,
    gpuFrom: 0,
    allowRoot: false,
    isWholeMachine: true,
    pauseMaxMs: 4 * 3_600_000,
  };
}
