// What each user holds, and how much more the partition and the QoS let that user start.

import type { UserName } from '../../model/ids.ts';
import type { UserLimit } from '../../model/reason.ts';
import type { Partition, Qos } from '../../model/scheduling.ts';
import type { Candidate } from './line.ts';

/** What of a user is running. */
export interface Held {
  readonly tasks: number;
  readonly cpus: number;
}

/** Counts by user and partition, and by user and QoS. Never more than what is running. */
export class HeldBook {
  readonly #held = new Map<string, Held>();

  /** Negative numbers when tasks end. Cpus of each task, on all its nodes together. */
  count(owner: UserName, place: HeldPlace, tasks: number, cpus: number): void {
    for (const key of keysOf(owner, place)) {
      const held = this.of(key);
      const sum = { tasks: held.tasks + tasks, cpus: held.cpus + tasks * cpus };
      if (sum.tasks === 0) this.#held.delete(key);
      else this.#held.set(key, sum);
    }
  }

  [Symbol.iterator](): Iterator<[string, Held]> {
    return this.#held.entries();
  }

  of(key: string): Held {
    return this.#held.get(key) ?? NOTHING;
  }
}

/** Where a task counts. */
export interface HeldPlace {
  readonly partition: string;
  readonly qos: string;
}

const NOTHING: Held = { tasks: 0, cpus: 0 };

/** One cycle's view: what is held, and what the cycle has started. */
export class QuotaBook {
  readonly #held: HeldBook;
  readonly #started = new HeldBook();

  constructor(held: HeldBook) {
    this.#held = held;
  }

  /** The count of `keysOf` that may not take this task on top; null: it may start. */
  full({ group, partition, qos }: Candidate): string | null {
    const { owner, shape } = group;
    return this.#excess(owner, partition, qos, cpusOf(shape.request))?.key ?? null;
  }

  count({ group, partition, qos }: Candidate): void {
    const place = { partition: partition.name, qos: qos.name };
    this.#started.count(group.owner, place, 1, cpusOf(group.shape.request));
  }

  /** The limit that one more task of this size would break; null when there is none. */
  excess(owner: UserName, partition: Partition, qos: Qos, cpus: number): UserLimit | null {
    return this.#excess(owner, partition, qos, cpus)?.limit ?? null;
  }

  #excess(user: UserName, partition: Partition, qos: Qos, cpus: number) {
    const [inPartition, inQos] = keysOf(user, { partition: partition.name, qos: qos.name });
    const { tasksPerUser } = partition.limits;
    const here = this.#total(inPartition).tasks;
    if (tasksPerUser !== null && here >= tasksPerUser) {
      const limit = { of: 'partition', name: partition.name, user, what: 'tasks' } as const;
      return { key: inPartition, limit: { ...limit, held: here, max: tasksPerUser } };
    }
    const held = this.#total(inQos);
    const where = { of: 'qos', name: qos.name, user } as const;
    const { runningTasksPerUser: tasksMax, runningCpusPerUser: cpusMax } = qos;
    if (tasksMax !== null && held.tasks >= tasksMax) {
      const tasks = { what: 'tasks', held: held.tasks, max: tasksMax } as const;
      return { key: inQos, limit: { ...where, ...tasks } };
    }
    if (cpusMax !== null && held.cpus + cpus > cpusMax) {
      const all = { what: 'cpus', held: held.cpus, max: cpusMax } as const;
      return { key: inQos, limit: { ...where, ...all } };
    }
    return null;
  }

  #total(key: string): Held {
    const held = this.#held.of(key);
    const started = this.#started.of(key);
    return { tasks: held.tasks + started.tasks, cpus: held.cpus + started.cpus };
  }
}

/** Cpus of one task on all its nodes. */
export function cpusOf(request: { nodeCount: number; perNode: { cpuCount: number } }): number {
  return request.nodeCount * request.perNode.cpuCount;
}

/** Where a task of this user is counted. */
export function keysOf(owner: UserName, { partition, qos }: HeldPlace): readonly [string, string] {
  return [`partition ${partition} ${owner}`, `qos ${qos} ${owner}`];
}
