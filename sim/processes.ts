// The launcher of one simulated node, and what the agent asks of the system beside it: limit
// groups and marked processes. The launcher outlives agents and can die without its processes.

import type { KnownProcess, ProcessEvent } from '../src/kernel/model/processes.ts';
import type { Containment } from '../src/kernel/ports/containment.ts';
import type { Marks } from '../src/kernel/ports/marks.ts';
import type { LaunchRequest, Processes } from '../src/kernel/ports/processes.ts';
import type { Streams } from './chance.ts';
import type { Life, Time } from './clock.ts';
import type { Kernel } from './kernel.ts';
import type { SimProcess } from './process.ts';

const ENOENT = 2;
const EAGAIN = 11;
const ENOSPC = 28;
const ETIME = 62;
const SIGKILL = 9;
/** Between two kills of what does not end. */
const KILL_AGAIN_MS = 500;

export interface LauncherWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly kernel: Kernel;
  /** Wall clock of the node. */
  readonly now: () => number;
  /** Whether an output file can be opened for writing. */
  readonly canMake: (path: string) => boolean;
  /** Ms since its boot. */
  readonly monotonic: () => number;
  /** Share of starts for which the system has no process left. */
  readonly forkFailures: () => number;
}

interface ProcessEntry {
  readonly process: SimProcess | null;
  known: KnownProcess;
  /** Null: it may live for ever. */
  leaseMs: number | null;
  leaseOver: boolean;
}

export class SimLauncher {
  readonly table = new Map<number, ProcessEntry>();
  readonly world: LauncherWorld;
  #connection: Connection | null = null;
  #alive = true;
  #heardAt: number | null = null;

  constructor(world: LauncherWorld) {
    this.world = world;
  }

  connect(life: Life): Processes {
    this.#connection = new Connection(this, life);
    return this.#connection;
  }

  /** What it knew is lost; the processes go on. */
  die(): void {
    this.#alive = false;
    this.table.clear();
    this.#connection?.lost('the launcher died');
    this.#connection = null;
  }

  get isAlive(): boolean {
    return this.#alive;
  }

  start(request: LaunchRequest): void {
    const { launchId } = request;
    if (!this.#alive || this.table.has(launchId)) return;
    const { streams, kernel } = this.world;
    if (kernel.planOf(request).isMissing) return this.#fail(launchId, 'exec', ENOENT);
    if (!this.#leaseLasts(request.leaseMs)) return this.#fail(launchId, 'lease', ETIME);
    const isRefused = streams.of('fork').happens(this.world.forkFailures());
    if (isRefused) return this.#fail(launchId, 'fork', EAGAIN);
    if (!this.world.canMake(request.stdout)) return this.#fail(launchId, 'stdout', ENOSPC);
    const entry: ProcessEntry = {
      leaseMs: request.leaseMs,
      leaseOver: false,
      known: { launchId, state: 'running' },
      process: kernel.start(request, (what) => {
        if (this.#alive && this.table.get(launchId) === entry) this.#heard(entry, what);
      }),
    };
    this.table.set(launchId, entry);
    this.#watchLease(entry);
    this.#tell({ kind: 'started', launchId });
  }

  heard(monotonic: number): void {
    this.#heardAt = Math.max(this.#heardAt ?? 0, monotonic);
  }

  /** Ms that are left; null without an end. */
  #leaseLeft(leaseMs: number | null): number | null {
    if (leaseMs === null) return null;
    return this.#heardAt === null ? 0 : this.#heardAt + leaseMs - this.world.monotonic();
  }

  #leaseLasts(leaseMs: number | null): boolean {
    const left = this.#leaseLeft(leaseMs);
    return left === null || left > 0;
  }

  /** Looks when the lease would be over; then kills until nothing is left. */
  #watchLease(entry: ProcessEntry): void {
    const left = this.#leaseLeft(entry.leaseMs);
    if (left === null) return;
    this.world.time.after(left > 0 ? left + 1 : KILL_AGAIN_MS, () => {
      if (!this.#alive || this.table.get(entry.known.launchId) !== entry) return;
      if (!this.#leaseLasts(entry.leaseMs)) this.#endLeased(entry);
      this.#watchLease(entry);
    });
  }

  #endLeased(entry: ProcessEntry): void {
    const { launchId, state } = entry.known;
    if (state !== 'ended') entry.leaseOver = true;
    const family = this.#family(launchId);
    for (const process of family) this.world.kernel.signal(process, SIGKILL);
    if (state === 'ended' && family.length === 0) entry.leaseMs = null;
  }

  signal(launchId: number, signal: number): void {
    if (!this.#alive || !this.table.has(launchId)) return;
    for (const process of this.#family(launchId)) this.world.kernel.signal(process, signal);
  }

  leftovers(launchId: number): number {
    return this.#family(launchId).length;
  }

  /** Everything that descends from the start, also what left its session. */
  #family(launchId: number): SimProcess[] {
    const mark = this.table.get(launchId)?.process?.mark;
    return [...this.world.kernel.processes].filter((process) => process.mark === mark);
  }

  #fail(launchId: number, stage: 'exec' | 'fork' | 'stdout' | 'lease', errno: number): void {
    const end = { kind: 'failed', launchId, stage, errno } as const;
    const known: KnownProcess = { launchId, state: 'ended', end };
    this.table.set(launchId, { process: null, known, leaseMs: null, leaseOver: false });
    this.#tell(end);
  }

  #heard(entry: ProcessEntry, what: 'ended' | 'stopped' | 'continued'): void {
    const { launchId } = entry.known;
    if (what !== 'ended') {
      entry.known = { launchId, state: what === 'stopped' ? 'stopped' : 'running' };
      this.#tell({ kind: what, launchId });
      return;
    }
    const usage = { userUs: 1000, systemUs: 500, memoryPeakBytes: 4096 };
    const exit = entry.process?.exit ?? {};
    const { leaseOver } = entry;
    const common = { launchId, exit, usage, leaseOver };
    const end = { kind: 'exited', ...common, endedAt: this.world.now() } as const;
    entry.known = { launchId, state: 'ended', end };
    this.#tell(end);
  }

  #tell(event: ProcessEvent): void {
    this.#connection?.deliver(event);
  }

  drop(connection: Connection): void {
    if (this.#connection === connection) this.#connection = null;
  }
}

/** One agent's socket to the launcher: in order, both ways, a moment late. */
class Connection implements Processes {
  readonly outdated = null;
  readonly #launcher: SimLauncher;
  readonly #life: Life;
  #onEvent: (event: ProcessEvent) => void = () => undefined;
  #onLost: (why: string) => void = () => undefined;
  #isOpen = true;
  readonly #next = { in: 0, out: 0 };

  constructor(launcher: SimLauncher, life: Life) {
    this.#launcher = launcher;
    this.#life = life;
  }

  adopt(): Promise<readonly KnownProcess[]> {
    return this.#ask(() => [...this.#launcher.table.values()].map(({ known }) => known));
  }

  onEvent(handler: (event: ProcessEvent) => void): void {
    this.#onEvent = handler;
  }

  onLost(handler: (why: string) => void): void {
    this.#onLost = handler;
  }

  start(request: LaunchRequest): void {
    this.#tell(() => this.#launcher.start(request));
  }

  heard(monotonic: number): void {
    this.#tell(() => this.#launcher.heard(monotonic));
  }

  signal(launchId: number, signal: number): void {
    this.#tell(() => this.#launcher.signal(launchId, signal));
  }

  leftovers(launchId: number): Promise<number> {
    return this.#ask(() => this.#launcher.leftovers(launchId));
  }

  forget(launchId: number): void {
    this.#tell(() => this.#launcher.table.delete(launchId));
  }

  shutDown(): void {
    this.#tell(() => {
      for (const launchId of this.#launcher.table.keys()) this.#launcher.signal(launchId, 9);
      this.#launcher.die();
    });
  }

  close(): void {
    this.#isOpen = false;
    this.#launcher.drop(this);
  }

  deliver(event: ProcessEvent): void {
    this.#later('in', () => {
      if (this.#isOpen && this.#life.alive) this.#onEvent(event);
    });
  }

  lost(why: string): void {
    this.#later('in', () => {
      if (this.#isOpen && this.#life.alive) this.#onLost(why);
      this.#isOpen = false;
    });
  }

  #tell(work: () => void): void {
    if (!this.#isOpen || !this.#life.alive) return;
    // What was written to the socket arrives, even if the agent dies meanwhile; what the agent had
    // still in its own buffers does not.
    this.#later('out', () => {
      if (!this.#life.buffersLost) work();
    });
  }

  /** Rejects when the launcher is gone; never settles for an agent that is. */
  #ask<T>(question: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.#isOpen) reject(new Error('the launcher is gone'));
      this.#tell(() => {
        const answer = question();
        this.#later('in', () => {
          if (!this.#life.alive) return;
          if (this.#isOpen && this.#launcher.isAlive) resolve(answer);
          else reject(new Error('the launcher is gone'));
        });
      });
    });
  }

  #later(way: 'in' | 'out', then: () => void): void {
    const { time, streams } = this.#launcher.world;
    const at = Math.max(this.#next[way], time.now + streams.of(way).fraction());
    this.#next[way] = at;
    time.after(at - time.now, then);
  }
}

/** Limit groups as cgroups give them. */
export function groupContainment(kernel: Kernel, life: Life): Containment {
  return {
    facts: 'cgroup v2',
    limits: 'cgroup',
    polled: false,
    fence: { holds: false, words: 'simulated' },
    acquire({ memoryBytes }) {
      const name = life.alive ? kernel.makeGroup(memoryBytes) : '';
      return { name, procs: [name] };
    },
    adopt(names) {
      for (const name of [...kernel.groups.keys()]) {
        if (!names.includes(name) && kernel.inGroup(name).length === 0) kernel.groups.delete(name);
      }
    },
    procs: (name) => [name],
    isEmpty: (name) => kernel.inGroup(name).length === 0,
    kill(name) {
      if (life.alive) for (const process of kernel.inGroup(name)) kernel.signal(process, 9);
    },
    use: (name) => ({
      outOfMemory: kernel.groups.get(name)?.outOfMemory ?? false,
      memoryPeakBytes: null,
    }),
    memory: () => null,
    release(name) {
      if (life.alive) kernel.groups.delete(name);
    },
    close: () => undefined,
  };
}

/** Processes by their mark, as /proc shows them. */
export function marksOf(kernel: Kernel, life: Life): Marks {
  return {
    memory() {
      const used = new Map<string, number>();
      for (const process of kernel.processes) {
        used.set(process.mark, (used.get(process.mark) ?? 0) + kernel.memoryOf(process));
      }
      return used;
    },
    kill(marks) {
      if (!life.alive) return { lived: 0, unknown: 0 };
      const found = [...kernel.processes].filter((process) => marks.has(process.mark));
      for (const process of found) kernel.signal(process, 9);
      return { lived: found.length, unknown: 0 };
    },
  };
}
