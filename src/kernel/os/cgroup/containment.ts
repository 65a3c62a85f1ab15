// The Containment port on cgroups. Groups with equal limits are used again: making five
// directories costs more than a short task.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import {
  type Containment,
  type Fence,
  type Group,
  type GroupLimits,
  type GroupMemory,
  type GroupUse,
  POLLED,
} from '../../ports/containment.ts';
import { DeviceFence } from './fence.ts';
import { type GroupPlace, JobGroup, removeDirectories } from './group.ts';
import { type Hierarchy, parseHierarchies } from './hierarchies.ts';
import { KeptFiles } from './kept-files.ts';
import { type Base, findLayout } from './layout.ts';

/** Idle groups kept, of all shapes together. */
const IDLE_MAX = 512;

/** `instance` keeps the groups of several agents on one machine apart. */
export function systemContainment(
  instance: string,
  {
    idleMax = IDLE_MAX,
    files = KeptFiles.ofProcess(),
    launcher = null,
    hierarchies = readHierarchies(),
  }: ContainmentOptions = {},
): Containment {
  const layout = findLayout(hierarchies, `weft-${instance}`);
  if (layout.controllers.size === 0) return { ...POLLED, facts: layout.words };
  const fence = new DeviceFence(layout, launcher, process.getuid?.() === 0);
  return new CgroupContainment({ layout, files }, fence, idleMax);
}

export interface ContainmentOptions {
  readonly idleMax?: number;
  readonly files?: KeptFiles;
  /** The compiled launcher, which shuts devices to groups of version 2. */
  readonly launcher?: readonly string[] | null;
  /** Those that there are to use. */
  readonly hierarchies?: readonly Hierarchy[];
}

export function readHierarchies(): Hierarchy[] {
  const mountinfo = readFileSync('/proc/self/mountinfo', 'utf8');
  return parseHierarchies(mountinfo, readFileSync('/proc/self/cgroup', 'utf8'));
}

interface Held {
  readonly group: JobGroup;
  /** Null: its limits are not known, or not all there: it is not used again. */
  readonly shape: string | null;
}

class CgroupContainment implements Containment {
  readonly facts: string;
  readonly limits: string;
  readonly polled: boolean;
  readonly #place: GroupPlace;
  readonly #fence: DeviceFence;
  readonly #idleMax: number;
  readonly #held = new Map<string, Held>();
  readonly #idle = new Map<string, JobGroup[]>();
  #idleCount = 0;
  #next = 1;

  constructor(place: GroupPlace, fence: DeviceFence, idleMax: number) {
    const { layout } = place;
    this.#place = place;
    this.#fence = fence;
    this.#idleMax = idleMax;
    this.facts = layout.words;
    this.polled = !layout.controllers.has('memory');
    this.limits = this.polled ? 'polling' : 'cgroup';
  }

  get fence(): Fence {
    return this.#fence.state;
  }

  acquire(limits: GroupLimits): Group {
    const { memoryBytes, cpuCount, shut: wanted = [] } = limits;
    const shut = wanted.length === 0 || this.#fence.isOpen ? [] : wanted;
    const shape = `${memoryBytes}/${cpuCount}/${shut.join()}`;
    const idle = this.#takeIdle(shape);
    const group = idle ?? this.#make({ memoryBytes, cpuCount, shut });
    // One that is open in spite of its shape is not used again.
    const isAsked = idle !== undefined || shut.length === 0 || this.#fence.put(group.name, shut);
    this.#held.set(group.name, { group, shape: isAsked ? shape : null });
    return group;
  }

  adopt(names: readonly string[]): void {
    for (const name of this.#existing()) {
      this.#next = Math.max(this.#next, Number(name.slice(1)) + 1);
      const group = JobGroup.reopen(name, this.#place);
      if (names.includes(name)) this.#held.set(name, { group, shape: null });
      else discard(group);
    }
  }

  procs(name: string): readonly string[] {
    return this.#held.get(name)?.group.procs ?? [];
  }

  isEmpty(name: string): boolean {
    return this.#held.get(name)?.group.isEmpty() ?? true;
  }

  kill(name: string): void {
    this.#held.get(name)?.group.kill();
  }

  use(name: string): GroupUse {
    const held = this.#held.get(name);
    if (held === undefined) return { outOfMemory: false, memoryPeakBytes: null };
    return held.group.use();
  }

  memory(name: string): GroupMemory | null {
    return this.#held.get(name)?.group.memory() ?? null;
  }

  release(name: string): void {
    const held = this.#held.get(name);
    if (held === undefined) return;
    this.#held.delete(name);
    if (held.shape === null) held.group.remove();
    else this.#putIdle(held.shape, held.group);
  }

  close(): void {
    for (const groups of this.#idle.values()) for (const group of groups) group.remove();
    this.#idle.clear();
    this.#idleCount = 0;
    if (this.#held.size === 0) removeDirectories(this.#bases().map(({ path }) => path));
  }

  #make(limits: GroupLimits): JobGroup {
    const name = `g${this.#next}`;
    this.#next += 1;
    return JobGroup.make(name, this.#place, limits);
  }

  #takeIdle(shape: string): JobGroup | undefined {
    const idle = this.#idle.get(shape);
    for (let group = idle?.pop(); group !== undefined; group = idle?.pop()) {
      this.#idleCount -= 1;
      if (group.reset()) return group;
      group.remove();
    }
    return undefined;
  }

  #putIdle(shape: string, group: JobGroup): void {
    const groups = this.#idle.get(shape) ?? [];
    groups.push(group);
    // The shape used last comes last: what makes room is of the one that nobody has asked for
    // longest.
    this.#idle.delete(shape);
    this.#idle.set(shape, groups);
    this.#idleCount += 1;
    if (this.#idleCount > this.#idleMax) this.#removeOldest();
  }

  #removeOldest(): void {
    for (const [shape, groups] of this.#idle) {
      const group = groups.pop();
      if (groups.length === 0) this.#idle.delete(shape);
      if (group === undefined) continue;
      group.remove();
      this.#idleCount -= 1;
      return;
    }
  }

  #bases(): Base[] {
    const { tracker, controllers, devices } = this.#place.layout;
    const extra = [tracker, devices].filter((base) => base !== null);
    return [...extra, ...controllers.values()];
  }

  /** Names of groups in any hierarchy: a crash may have left only some of its directories. */
  #existing(): Set<string> {
    const names = new Set<string>();
    for (const { path } of this.#bases()) {
      if (!existsSync(path)) continue;
      for (const name of readdirSync(path)) if (/^g\d+$/.test(name)) names.add(name);
    }
    return names;
  }
}

/** A group that no journal knows: what is in it is nobody's any more. */
function discard(group: JobGroup): void {
  if (!group.isEmpty()) group.kill();
  group.remove();
}
