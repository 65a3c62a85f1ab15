// Groups of processes with limits: cgroups on Linux, or nothing where none can be made.

import type { Device, Fence } from '../model/device.ts';

export type { Device, Fence };

export interface GroupLimits {
  /** Null = no limit. */
  readonly memoryBytes: number | null;
  /** May be a fraction; null = no limit. */
  readonly cpuCount: number | null;
  /** Devices that nothing in the group may open, as far as there is a fence. Absent: none. */
  readonly shut?: readonly Device[];
}

export interface Group {
  /** Names the group for as long as it is held, also after a restart of the agent. */
  readonly name: string;
  /** `cgroup.procs` files that a process joins before its program starts. */
  readonly procs: readonly string[];
}

/** What a group has seen since it was acquired. */
export interface GroupUse {
  readonly outOfMemory: boolean;
  /** Null when it was not measured. */
  readonly memoryPeakBytes: number | null;
}

/** What is in a group now. */
export interface GroupMemory {
  readonly bytes: number;
  readonly peakBytes: number;
  /** Processes that the kernel has killed here for memory since the group was acquired. */
  readonly kills: number;
}

export interface Containment {
  /** For people: `cgroup v2`, `cgroup v1`, `cgroup hybrid`, or `polling`. */
  readonly facts: string;
  /** What a task is told: `cgroup`, `polling`, or `none` with the reason in words. */
  readonly limits: string;
  /** Whether memory has to be watched from outside. */
  readonly polled: boolean;
  /** The same value as long as nothing has changed. */
  readonly fence: Fence;
  /**
   * An empty group with these limits; null where there are none. Throws when it cannot be made, but
   * not for devices: a group without the fence is one, and `fence` says so.
   */
  acquire(limits: GroupLimits): Group | null;
  /** Groups that are in use, after a restart; all others are removed. */
  adopt(names: readonly string[]): void;
  /** `cgroup.procs` files of a group in use; empty when there is no such group. */
  procs(name: string): readonly string[];
  isEmpty(name: string): boolean;
  /** KILL to everything in it, however it got there. */
  kill(name: string): void;
  use(name: string): GroupUse;
  /** Null where memory is not counted. Without a limit, cached files are left out. */
  memory(name: string): GroupMemory | null;
  /** Gives an empty group back. */
  release(name: string): void;
  /** Removes the groups that are not in use. */
  close(): void;
}

/** Where no group can be made: memory is watched from outside, marks find the processes. */
export const POLLED: Containment = {
  facts: 'polling',
  limits: 'polling',
  polled: true,
  fence: { holds: false, words: 'there are no cgroups' },
  acquire: () => null,
  adopt: () => undefined,
  procs: () => [],
  isEmpty: () => true,
  kill: () => undefined,
  use: () => ({ outOfMemory: false, memoryPeakBytes: null }),
  memory: () => null,
  release: () => undefined,
  close: () => undefined,
};
