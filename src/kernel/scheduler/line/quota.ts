// What each user holds, and how much more partition, QoS and the user's own caps let that user start.

import { type Caps, NO_CAPS } from '../../model/caps.ts';
import type { UserName } from '../../model/ids.ts';
import type { UserLimit } from '../../model/reason.ts';
import type { Partition, Qos } from '../../model/scheduling.ts';
import type { Candidate } from './line.ts';

/** What of a user is running. */
export interface Held {
  readonly tasks: number;
  readonly cpus: number;
  readonly gpus: number;
}

/** What one task adds: cpus and gpus on all its nodes together. */
export type TaskSize = Pick<Held, 'cpus' | 'gpus'>;

/** Counts by user and partition, by user and QoS, and by user. Never more than what is running. */
export class HeldBook {
  readonly #held = new Map<string, Held>();

  /** Negative numbers when tasks end. `size`: of each task. */
  count(owner: UserName, place: HeldPlace, tasks: number, size: TaskSize): void {
    for (const key of keysOf(owner, place)) {
      const held = this.of(key);
      const cpus = held.cpus + tasks * size.cpus;
      const sum = { tasks: held.tasks + tasks, cpus, gpus: held.gpus + tasks * size.gpus };
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

const NOTHING: Held = { tasks: 0, cpus: 0, gpus: 0 };

/** One cycle's view: what is held, and what the cycle has started. */
export class QuotaBook {
  readonly #held: HeldBook;
  readonly #started = new HeldBook();

  readonly #capsOf: (user: UserName) => Caps;
  readonly #caps = new Map<UserName, Caps>();

  constructor(held: HeldBook, capsOf: (user: UserName) => Caps = () => NO_CAPS) {
    this.#held = held;
    this.#capsOf = capsOf;
  }

  /** Looked up once a cycle. */
  capsOf(user: UserName): Caps {
    const known = this.#caps.get(user);
    if (known !== undefined) return known;
    const caps = this.#capsOf(user);
    this.#caps.set(user, caps);
    return caps;
  }

  /** The count of `keysOf` that may not take this task on top; null: it may start. */
  full({ group, partition, qos }: Candidate): string | null {
    const { owner, shape } = group;
    return this.#excess(owner, partition, qos, sizeOf(shape.request))?.key ?? null;
  }

  count({ group, partition, qos }: Candidate): void {
    const place = { partition: partition.name, qos: qos.name };
    this.#started.count(group.owner, place, 1, sizeOf(group.shape.request));
  }

  /** The limit that one more task of this size would break; null when there is none. */
  excess(owner: UserName, partition: Partition, qos: Qos, size: TaskSize): UserLimit | null {
    return this.#excess(owner, partition, qos, size)?.limit ?? null;
  }

  #excess(user: UserName, partition: Partition, qos: Qos, size: TaskSize): Excess | null {
    const [inPartition, inQos, ofUser] = keysOf(user, { partition: partition.name, qos: qos.name });
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
    if (cpusMax !== null && held.cpus + size.cpus > cpusMax) {
      const all = { what: 'cpus', held: held.cpus, max: cpusMax } as const;
      return { key: inQos, limit: { ...where, ...all } };
    }
    return this.#overCap(user, ofUser, size);
  }

  #overCap(user: UserName, key: string, { cpus, gpus }: TaskSize): Excess | null {
    const caps = this.capsOf(user);
    if (!hasAny(caps)) return null;
    const held = this.#total(key);
    const sums = [
      { what: 'tasks', held: held.tasks, more: 1, max: caps.running },
      { what: 'cpus', held: held.cpus, more: cpus, max: caps.cpus },
      // Who asks for no gpu is not kept out by a cap of none.
      { what: 'gpus', held: held.gpus, more: gpus, max: gpus === 0 ? undefined : caps.gpus },
    ] as const;
    for (const { what, held: now, more, max } of sums) {
      if (max === undefined || now + more <= max) continue;
      return { key, limit: { of: 'user', name: user, user, what, held: now, max } };
    }
    return null;
  }

  #total(key: string): Held {
    const held = this.#held.of(key);
    const started = this.#started.of(key);
    return {
      tasks: held.tasks + started.tasks,
      cpus: held.cpus + started.cpus,
      gpus: held.gpus + started.gpus,
    };
  }
}

interface Excess {
  /** One of `keysOf`. */
  readonly key: string;
  readonly limit: UserLimit;
}

function hasAny({ running, cpus, gpus }: Caps): boolean {
  return running !== undefined || cpus !== undefined || gpus !== undefined;
}

/** What one task of this request holds. */
export function sizeOf(request: {
  nodeCount: number;
  perNode: { cpuCount: number; gpuCount: number };
}): TaskSize {
  return { cpus: cpusOf(request), gpus: request.nodeCount * request.perNode.gpuCount };
}

/** Cpus of one task on all its nodes. */
export function cpusOf(request: { nodeCount: number; perNode: { cpuCount: number } }): number {
  return request.nodeCount * request.perNode.cpuCount;
}

/** Where a task of this user is counted. */
export function keysOf(
  owner: UserName,
  { partition, qos }: HeldPlace,
): readonly [inPartition: string, inQos: string, ofUser: string] {
  return [`partition ${partition} ${owner}`, `qos ${qos} ${owner}`, `user ${owner}`];
}
