// What each user holds, and how much more partition, QoS, the user's own caps and those of the
// user's groups let that user start.

import {
  type CapKind,
  type Caps,
  type GroupCaps,
  kindsIn,
  mayGet,
  NO_CAPS,
  typeOfKind,
} from '../../model/caps.ts';
import type { GpuKind } from '../../model/cards.ts';
import type { UserName } from '../../model/ids.ts';
import type { UserLimit } from '../../model/reason.ts';
import type { Partition, Qos } from '../../model/scheduling.ts';
import type { Candidate } from './line.ts';

/** What of a user is running. */
export interface Held {
  readonly tasks: number;
  readonly cpus: number;
  readonly gpus: number;
  /** Gpus by the types that were asked for, `a100|h100`; empty: any. Absent: none are held. */
  readonly byTypes?: ReadonlyMap<string, number>;
}

/** What one task adds: cpus and gpus on all its nodes together. */
export interface TaskSize {
  readonly cpus: number;
  readonly gpus: number;
  /** Types of which its gpus may be; null or absent: any. */
  readonly types?: readonly string[] | null;
}

/** Counts by user and partition, by user and QoS, and by user. Never more than what is running. */
export class HeldBook {
  readonly #held = new Map<string, Held>();
  /** Grows with each count: sums that are kept tell by it that they are old. */
  changes = 0;

  /** Negative numbers when tasks end. `size`: of each task. */
  count(owner: UserName, place: HeldPlace, tasks: number, size: TaskSize): void {
    this.changes += 1;
    for (const key of keysOf(owner, place)) {
      const held = this.of(key);
      const cpus = held.cpus + tasks * size.cpus;
      const gpus = held.gpus + tasks * size.gpus;
      const sum = { tasks: held.tasks + tasks, cpus, gpus, ...typesAfter(held, tasks, size) };
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

/** Absent where no gpus are held. */
function typesAfter({ byTypes }: Held, tasks: number, { gpus, types = null }: TaskSize) {
  if (gpus === 0) return byTypes === undefined ? {} : { byTypes };
  const key = types?.join('|') ?? '';
  const counts = new Map(byTypes).set(key, (byTypes?.get(key) ?? 0) + tasks * gpus);
  if (counts.get(key) === 0) counts.delete(key);
  return counts.size === 0 ? {} : { byTypes: counts };
}

/** Gpus that may be of the capped type. */
function heldOfType({ byTypes = new Map() }: Held, type: string): number {
  let sum = 0;
  for (const [key, count] of byTypes) {
    if (mayGet(key === '' ? null : key.split('|'), type)) sum += count;
  }
  return sum;
}

const NOTHING: Held = { tasks: 0, cpus: 0, gpus: 0 };

/** Where caps are looked up. */
export interface CapRules {
  capsOf(user: UserName): Caps;
  /** Groups of the user that have caps together. */
  groupsOf(user: UserName): readonly GroupCaps[];
}

const NO_RULES: CapRules = { capsOf: () => NO_CAPS, groupsOf: () => [] };

/** One cycle's view: what is held, and what the cycle has started. */
export class QuotaBook {
  readonly #held: HeldBook;
  readonly #started = new HeldBook();

  readonly #rules: CapRules;
  readonly #caps = new Map<UserName, Caps>();
  readonly #groups = new Map<UserName, readonly GroupCaps[]>();
  /** By group and kind: what its users hold together. Kept while nothing of it changes. */
  readonly #together = new Map<string, number>();
  #changesSeen = 0;

  constructor(held: HeldBook, rules: CapRules = NO_RULES) {
    this.#held = held;
    this.#rules = rules;
  }

  /** The view after the cycle's starts have happened: the books of what is held have them. */
  afterStarts(): QuotaBook {
    return new QuotaBook(this.#held, this.#rules);
  }

  /** Looked up once a cycle. */
  capsOf(user: UserName): Caps {
    const known = this.#caps.get(user);
    if (known !== undefined) return known;
    const caps = this.#rules.capsOf(user);
    this.#caps.set(user, caps);
    return caps;
  }

  /** Looked up once a cycle. */
  groupsOf(user: UserName): readonly GroupCaps[] {
    const known = this.#groups.get(user);
    if (known !== undefined) return known;
    const groups = this.#rules.groupsOf(user);
    this.#groups.set(user, groups);
    return groups;
  }

  /** The count, one of `keysOf` or a group's, that may not take this on top; null: it may start. */
  full({ group, partition, qos }: Candidate): string | null {
    const { owner, shape } = group;
    return this.#excess(owner, partition, qos, sizeOf(shape.request))?.key ?? null;
  }

  count({ group, partition, qos }: Candidate): void {
    const place = { partition: partition.name, qos: qos.name };
    const size = sizeOf(group.shape.request);
    this.#started.count(group.owner, place, 1, size);
    for (const { group: name, caps } of this.groupsOf(group.owner)) {
      for (const kind of kindsIn(caps)) {
        const key = `${kind} ${name}`;
        const held = this.#together.get(key);
        if (held !== undefined) this.#together.set(key, held + amountOf(size, kind));
      }
    }
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
    const { gpusPerUser = NO_CAPS } = qos;
    return (
      this.#overCap(gpusPerUser, { key: inQos, ...where }, size) ??
      this.#overCap(this.capsOf(user), { key: ofUser, of: 'user', name: user, user }, size) ??
      this.#overGroup(user, size)
    );
  }

  #overGroup(user: UserName, size: TaskSize): Excess | null {
    for (const of of this.groupsOf(user)) {
      const { group: name } = of;
      const where = { key: groupKey(name), of: 'group', name, user } as const;
      const over = overCap(of.caps, where, size, (kind) => this.#heldTogether(of, kind));
      if (over !== null) return over;
    }
    return null;
  }

  #heldTogether({ group, users }: GroupCaps, kind: CapKind): number {
    if (this.#changesSeen !== this.#held.changes) this.#together.clear();
    this.#changesSeen = this.#held.changes;
    const key = `${kind} ${group}`;
    const known = this.#together.get(key);
    if (known !== undefined) return known;
    const held = users.reduce((sum, user) => sum + this.#heldIn(userKey(user), kind), 0);
    this.#together.set(key, held);
    return held;
  }

  #heldIn(key: string, kind: CapKind): number {
    return heldOf(this.#held.of(key), kind) + heldOf(this.#started.of(key), kind);
  }

  #overCap(caps: Caps, where: CapPlace, size: TaskSize): Excess | null {
    return overCap(caps, where, size, (kind) => this.#heldIn(where.key, kind));
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

/** Where a cap holds; `key`: one of `keysOf`, or a group's. */
interface CapPlace extends Pick<UserLimit, 'of' | 'name' | 'user'> {
  readonly key: string;
}

interface Excess {
  /** One of `keysOf`, or a group's. */
  readonly key: string;
  readonly limit: UserLimit;
}

function overCap(
  caps: Caps,
  { key, ...where }: CapPlace,
  size: TaskSize,
  heldIn: (kind: CapKind) => number,
): Excess | null {
  if (!hasAny(caps)) return null;
  for (const kind of kindsIn(caps)) {
    const max = caps[kind];
    const more = amountOf(size, kind);
    // Who asks for no gpu is not kept out by a cap of none.
    if (max === undefined || more === 0) continue;
    const held = heldIn(kind);
    if (held + more <= max) continue;
    const what = kind === 'running' ? 'tasks' : kind;
    return { key, limit: { ...where, what, held, max } };
  }
  return null;
}

function hasAny(caps: Caps): boolean {
  for (const _ in caps) return true;
  return false;
}

function heldOf(held: Held, kind: CapKind): number {
  if (kind === 'running') return held.tasks;
  if (kind === 'cpus') return held.cpus;
  const type = typeOfKind(kind);
  return type === null ? held.gpus : heldOfType(held, type);
}

/** What one task counts for under a cap: gpus of a type where it may be given such. */
export function amountOf({ cpus, gpus, types = null }: TaskSize, kind: CapKind): number {
  if (kind === 'running') return 1;
  if (kind === 'cpus') return cpus;
  const type = typeOfKind(kind);
  return type === null || mayGet(types, type) ? gpus : 0;
}

/** What one task of this request holds. */
export function sizeOf(request: {
  nodeCount: number;
  perNode: { cpuCount: number; gpuCount: number; gpuKind?: GpuKind };
}): TaskSize {
  const { gpuCount, gpuKind } = request.perNode;
  const size = { cpus: cpusOf(request), gpus: request.nodeCount * gpuCount };
  return gpuKind?.types == null ? size : { ...size, types: gpuKind.types };
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
  return [`partition ${partition} ${owner}`, `qos ${qos} ${owner}`, userKey(owner)];
}

function userKey(user: string): string {
  return `user ${user}`;
}

/** Where all of a group are counted together. */
export function groupKey(group: string): string {
  return `group ${group}`;
}
