// One job group: its directories in each hierarchy, its limits, and what its files tell.

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import type { GroupLimits, GroupMemory, GroupUse } from '../../ports/containment.ts';
import type { KeptFile, KeptFiles } from './kept-files.ts';
import type { Base, Layout } from './layout.ts';

/** Period of the cpu quota; the kernel's own default. */
const PERIOD_US = 100_000;
/** The kernel takes no smaller quota. */
const QUOTA_US_MIN = 1000;

/** Where groups are made. */
export interface GroupPlace {
  readonly layout: Layout;
  readonly files: KeptFiles;
}

export class JobGroup {
  readonly name: string;
  readonly procs: readonly string[];
  readonly #directories: readonly string[];
  readonly #tracker: Base;
  readonly #members: KeptFile;
  readonly #memory: MemoryFiles | null;

  private constructor(name: string, { layout, files }: GroupPlace, limits: GroupLimits | null) {
    const { tracker, controllers, devices } = layout;
    if (tracker === null) throw new Error('no cgroup can be made on this machine');
    this.name = name;
    this.#tracker = { ...tracker, path: `${tracker.path}/${name}` };
    const used = [tracker.path];
    for (const [controller, base] of controllers) {
      // Joining costs up to a tenth of a millisecond: cpu only where there is a limit to keep. In
      // memory the kernel counts whom it kills, with a limit or without.
      if (controller === 'cpu' && limits !== null && limits.cpuCount === null) continue;
      if (limits === null && !existsSync(`${base.path}/${name}`)) continue;
      if (!used.includes(base.path)) used.push(base.path);
    }
    if (devices !== null && !used.includes(devices.path)) {
      if (wantsDevices(`${devices.path}/${name}`, limits)) used.push(devices.path);
    }
    this.#directories = used.map((path) => `${path}/${name}`);
    this.procs = this.#directories.map((path) => `${path}/cgroup.procs`);
    for (const path of this.#directories) mkdirSync(path, { recursive: true });
    if (limits !== null) writeLimits(name, layout, limits);
    this.#members = files.open(`${this.#tracker.path}/cgroup.procs`);
    const memory = controllers.get('memory');
    const isCounted = memory !== undefined && used.includes(memory.path);
    this.#memory = isCounted ? new MemoryFiles(memory, name, files) : null;
  }

  /** Makes the directories. Throws with what the kernel said. */
  static make(name: string, place: GroupPlace, limits: GroupLimits): JobGroup {
    return new JobGroup(name, place, limits);
  }

  /** A group that was made by an earlier life of the agent; its limits stand. */
  static reopen(name: string, place: GroupPlace): JobGroup {
    return new JobGroup(name, place, null);
  }

  /**
   * Forgets the peak of whoever was here before. False when the kernel ended somebody here for its
   * memory: its count only grows, the next task would inherit it.
   */
  reset(): boolean {
    return this.#memory?.reset() ?? true;
  }

  isEmpty(): boolean {
    return this.#members.read(1) === '';
  }

  use(): GroupUse {
    return this.#memory?.use() ?? { outOfMemory: false, memoryPeakBytes: null };
  }

  memory(): GroupMemory | null {
    return this.#memory?.now() ?? null;
  }

  kill(): void {
    const { version, path } = this.#tracker;
    if (version === 2 && existsSync(`${path}/cgroup.kill`)) {
      writeFileSync(`${path}/cgroup.kill`, '1');
      return;
    }
    // Version 1: frozen, so that nothing forks away; the signals act when thawed.
    const freezer = `${path}/freezer.state`;
    const canFreeze = version === 1 && existsSync(freezer);
    if (canFreeze) writeFileSync(freezer, 'FROZEN');
    for (const pid of this.#pids()) killQuietly(pid);
    if (canFreeze) writeFileSync(freezer, 'THAWED');
  }

  /** False while the kernel still counts something in it. */
  remove(): boolean {
    this.#members.close();
    this.#memory?.close();
    return removeDirectories(this.#directories);
  }

  #pids(): number[] {
    const text = readFileSync(`${this.#tracker.path}/cgroup.procs`, 'utf8');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
  }
}

function wantsDevices(path: string, limits: GroupLimits | null): boolean {
  return limits === null ? existsSync(path) : (limits.shut ?? []).length > 0;
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // It was faster.
  }
}

/** Removes empty groups; false when one is not empty. */
export function removeDirectories(directories: readonly string[]): boolean {
  let all = true;
  for (const path of directories) {
    try {
      rmdirSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') all = false;
    }
  }
  return all;
}

function writeLimits(name: string, layout: Layout, limits: GroupLimits): void {
  const { memoryBytes, cpuCount } = limits;
  const memory = layout.controllers.get('memory');
  if (memory !== undefined && memoryBytes !== null) limitMemory(memory, name, memoryBytes);
  const cpu = layout.controllers.get('cpu');
  if (cpu !== undefined && cpuCount !== null) limitCpu(cpu, name, cpuCount);
  const pids = layout.controllers.get('pids');
  if (pids !== undefined) writeFileSync(`${pids.path}/${name}/pids.max`, `${processesMax()}`);
}

/** Half of what the machine has: a runaway fork must leave room for people to log in. */
function processesMax(): number {
  return Math.floor(Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8')) / 2);
}

/** Swap is part of the limit: a job that swaps would slow down everybody beside it. */
function limitMemory(base: Base, name: string, bytes: number): void {
  const path = `${base.path}/${name}`;
  if (base.version === 1) {
    writeFileSync(`${path}/memory.limit_in_bytes`, `${bytes}`);
    writeIfThere(`${path}/memory.memsw.limit_in_bytes`, `${bytes}`);
    return;
  }
  writeFileSync(`${path}/memory.max`, `${bytes}`);
  writeIfThere(`${path}/memory.swap.max`, '0');
  // All of the task or nothing: half a task would hang.
  writeIfThere(`${path}/memory.oom.group`, '1');
}

function limitCpu(base: Base, name: string, count: number): void {
  const path = `${base.path}/${name}`;
  const quota = Math.max(QUOTA_US_MIN, Math.round(count * PERIOD_US));
  if (base.version === 2) {
    writeFileSync(`${path}/cpu.max`, `${quota} ${PERIOD_US}`);
    return;
  }
  writeFileSync(`${path}/cpu.cfs_period_us`, `${PERIOD_US}`);
  writeFileSync(`${path}/cpu.cfs_quota_us`, `${quota}`);
}

/** Some kernels are built without swap accounting. */
function writeIfThere(path: string, text: string): void {
  if (existsSync(path)) writeFileSync(path, text);
}

/** Version 1 has no word for "no limit", but the largest number of whole pages. */
const NO_LIMIT = 2 ** 62;

class MemoryFiles {
  readonly #version: 1 | 2;
  readonly #isLimited: boolean;
  readonly #events: KeptFile;
  readonly #peak: KeptFile | null;
  readonly #now: KeptFile;
  readonly #parts: KeptFile | null;
  #peakBefore = 0;
  #peakSeen = 0;

  constructor(base: Base, name: string, files: KeptFiles) {
    const path = `${base.path}/${name}`;
    const isOld = base.version === 1;
    this.#version = base.version;
    this.#isLimited = hasLimit(`${path}/${isOld ? 'memory.limit_in_bytes' : 'memory.max'}`);
    this.#events = files.open(`${path}/${isOld ? 'memory.oom_control' : 'memory.events'}`);
    this.#now = files.open(`${path}/${isOld ? 'memory.usage_in_bytes' : 'memory.current'}`);
    const peak = `${path}/${isOld ? 'memory.max_usage_in_bytes' : 'memory.peak'}`;
    const hasPeak = this.#isLimited && existsSync(peak);
    this.#peak = hasPeak ? files.open(peak, isOld ? 'r+' : 'r') : null;
    this.#parts = this.#isLimited ? null : files.open(`${path}/memory.stat`);
  }

  /** Version 2 has no way back: a peak counts there only when it is higher than the one before. */
  reset(): boolean {
    if (this.#kills() > 0) return false;
    this.#peakSeen = 0;
    if (this.#peak === null) return true;
    if (this.#version === 1) this.#peak.write('0');
    else this.#peakBefore = Number(this.#peak.read());
    return true;
  }

  use(): GroupUse {
    const outOfMemory = this.#kills() > 0;
    if (!this.#isLimited) return { outOfMemory, memoryPeakBytes: this.#peakSeen || null };
    const peak = this.#peak === null ? 0 : Number(this.#peak.read());
    return { outOfMemory, memoryPeakBytes: peak > this.#peakBefore ? peak : null };
  }

  now(): GroupMemory {
    const bytes = Math.max(0, Number(this.#now.read()) - this.#cacheBytes());
    this.#peakSeen = Math.max(this.#peakSeen, bytes);
    const peakBytes = Math.max(bytes, this.use().memoryPeakBytes ?? 0);
    return { bytes, peakBytes, kills: this.#kills() };
  }

  /**
   * What the kernel keeps of files that were read, and gives up when somebody needs the room. Under
   * a limit it is part of what the limit is for; without one it would grow to the whole machine.
   */
  #cacheBytes(): number {
    if (this.#parts === null) return 0;
    const parts = this.#parts.read();
    const bytesOf = (name: string): number =>
      Number(new RegExp(`^${name} (\\d+)`, 'm').exec(parts)?.[1] ?? 0);
    return bytesOf('inactive_file') + bytesOf('active_file');
  }

  #kills(): number {
    return Number(/^oom_kill (\d+)/m.exec(this.#events.read())?.[1] ?? 0);
  }

  close(): void {
    for (const file of [this.#events, this.#now, this.#peak, this.#parts]) file?.close();
  }
}

function hasLimit(file: string): boolean {
  const text = readFileSync(file, 'utf8').trim();
  return text !== 'max' && Number(text) < NO_LIMIT;
}
