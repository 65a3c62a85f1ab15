// What each user holds, and how much more the partition and the QoS let that user start.

import type { UserName } from '../model/ids.ts';
import type { Partition, Qos } from '../model/scheduling.ts';
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

  allows({ group, partition, qos }: Candidate): boolean {
    return this.excess(group.owner, partition, qos, cpusOf(group.shape.request)) === null;
  }

  count({ group, partition, qos }: Candidate): void {
    const place = { partition: partition.name, qos: qos.name };
    this.#started.count(group.owner, place, 1, cpusOf(group.shape.request));
  }

  /** In words, the limit that one more task of this size would break; null when there is none. */
  excess(owner: UserName, partition: Partition, qos: Qos, cpus: number): string | null {
    const [inPartition, inQos] = keysOf(owner, { partition: partition.name, qos: qos.name });
    const { tasksPerUser } = partition.limits;
    const here = this.#total(inPartition as string);
    if (tasksPerUser !== null && here.tasks >= tasksPerUser) {
      return `${owner} has ${here.tasks} tasks running in partition ${partition.name}, its limit is ${tasksPerUser}`;
    }
    const held = this.#total(inQos as string);
    const { runningTasksPerUser: tasksMax, runningCpusPerUser: cpusMax } = qos;
    if (tasksMax !== null && held.tasks >= tasksMax) {
      return `${owner} has ${held.tasks} tasks running under QoS ${qos.name}, its limit is ${tasksMax}`;
    }
    if (cpusMax !== null && held.cpus + cpus > cpusMax) {
      return `${owner} has ${held.cpus} cpus running under QoS ${qos.name}, its limit is ${cpusMax}`;
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

function keysOf(owner: UserName, { partition, qos }: HeldPlace): readonly string[] {
  return [`partition ${partition} ${owner}`, `qos ${qos} ${owner}`];
}
