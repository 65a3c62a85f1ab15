// When limits on what runs at once let a waiting task in: of its array, of its user in a partition,
// under a QoS and in all, and of the user's groups. For forecasts: each task that is planned takes
// its place here, too.

import { type CapKind, type Caps, type GroupCaps, kindsIn, NO_CAPS } from '../../model/caps.ts';
import type { JobId, UserName } from '../../model/ids.ts';
import type { Qos } from '../../model/scheduling.ts';
import type { ActiveTask } from '../cycle/snapshot.ts';
import type { Candidate } from '../line/line.ts';
import { amountOf, groupKey, keysOf, sizeOf, type TaskSize } from '../line/quota.ts';
import { endAt } from '../room/ask.ts';
import { FOREVER, UNKNOWN_END } from '../room/profile.ts';

/** One limit: so much of it is taken until then. */
interface Gate {
  readonly max: number;
  readonly amount: number;
  readonly key: string;
}

interface Stay {
  readonly until: number;
  readonly amount: number;
}

/** Where limits are looked up. */
export interface LimitRules {
  readonly capsOf: (user: UserName) => Caps;
  readonly groupsOf: (user: UserName) => readonly GroupCaps[];
  readonly qos: (name: string) => Qos;
}

export class RunningLimits {
  readonly #active: () => Iterable<ActiveTask>;
  /** By the key of a gate. Made when the first gate is asked for: most clusters have none. */
  #stays: Map<string, Stay[]> | null = null;

  readonly #rules: LimitRules;

  constructor(active: () => Iterable<ActiveTask>, rules: LimitRules) {
    this.#active = active;
    this.#rules = rules;
  }

  /** The first instant from `from` at which all its limits let it in; null: none ever does. */
  earliest(candidate: Candidate, from: number): number | null {
    let at = from;
    for (const gate of this.#gatesOf(candidate)) {
      const open = this.#opens(gate, at);
      if (open === null) return null;
      at = Math.max(at, open);
    }
    return at;
  }

  /** Notes that a task is planned to start at this instant. */
  enter(candidate: Candidate, at: number): void {
    const { shape } = candidate.group;
    const until = knownEndOf(at, shape.walltimeMs);
    for (const { key, amount } of this.#gatesOf(candidate))
      this.#staysOf(key).push({ until, amount });
  }

  #gatesOf(candidate: Candidate): Gate[] {
    const { owner, shape } = candidate.group;
    const size = sizeOf(shape.request);
    const together = this.#rules.groupsOf(owner).flatMap(({ group, caps }) => {
      return kindsIn(caps).map((kind) => capOf(kind, caps, size, groupKey(group)));
    });
    return gatesOf(candidate, this.#rules.capsOf(owner), together);
  }

  #opens({ key, max, amount }: Gate, from: number): number | null {
    if (amount > max) return null;
    const stays = this.#staysOf(key).filter(({ until }) => until > from);
    let taken = stays.reduce((sum, stay) => sum + stay.amount, 0);
    let at = from;
    for (const stay of stays.sort((a, b) => a.until - b.until)) {
      if (taken + amount <= max) break;
      taken -= stay.amount;
      at = stay.until;
    }
    return at;
  }

  #staysOf(key: string): Stay[] {
    this.#stays ??= this.#fill();
    const known = this.#stays.get(key);
    if (known !== undefined) return known;
    const fresh: Stay[] = [];
    this.#stays.set(key, fresh);
    return fresh;
  }

  #fill(): Map<string, Stay[]> {
    const stays = new Map<string, Stay[]>();
    const add = (key: string, stay: Stay): void => {
      const known = stays.get(key);
      if (known === undefined) stays.set(key, [stay]);
      else known.push(stay);
    };
    for (const active of this.#active()) {
      const { jobId, owner, partition, qos, cpus, gpus = 0, endsAt } = active;
      const until = endsAt ?? UNKNOWN_END;
      const [inPartition, inQos, ofUser] = keysOf(owner, { partition, qos });
      add(arrayKey(jobId), { until, amount: 1 });
      add(inPartition, { until, amount: 1 });
      add(inQos, { until, amount: 1 });
      add(cpusKey(inQos), { until, amount: cpus });
      const amountIn = (kind: CapKind): number => amountOf({ ...active, gpus }, kind);
      for (const kind of kindsIn(this.#rules.capsOf(owner)))
        add(capKey(kind, ofUser), { until, amount: amountIn(kind) });
      for (const kind of kindsIn(this.#rules.qos(qos).gpusPerUser ?? NO_CAPS))
        add(capKey(kind, inQos), { until, amount: amountIn(kind) });
      for (const { group, caps } of this.#rules.groupsOf(owner)) {
        for (const kind of kindsIn(caps))
          add(capKey(kind, groupKey(group)), { until, amount: amountIn(kind) });
      }
    }
    return stays;
  }
}

type Limit = readonly [max: number | null, key: string, amount: number];

function gatesOf(
  { entry, group, partition, qos }: Candidate,
  caps: Caps,
  together: readonly Limit[],
): Gate[] {
  const place = { partition: partition.name, qos: qos.name };
  const [inPartition, inQos, ofUser] = keysOf(group.owner, place);
  const size = sizeOf(group.shape.request);
  const { cpus } = size;
  const { gpusPerUser = NO_CAPS } = qos;
  const limits: readonly Limit[] = [
    [entry.runningMax, arrayKey(entry.jobId), 1],
    [partition.limits.tasksPerUser, inPartition, 1],
    [qos.runningTasksPerUser, inQos, 1],
    [qos.runningCpusPerUser, cpusKey(inQos), cpus],
    ...kindsIn(gpusPerUser).map((kind) => capOf(kind, gpusPerUser, size, inQos)),
    ...kindsIn(caps).map((kind) => capOf(kind, caps, size, ofUser)),
    ...together,
  ];
  return limits.flatMap(([max, key, amount]) => (max === null ? [] : [{ max, key, amount }]));
}

function arrayKey(jobId: JobId): string {
  return `array ${jobId}`;
}

function cpusKey(key: string): string {
  return `cpus ${key}`;
}

/** What asks for nothing of it is under no cap. */
function capOf(kind: CapKind, caps: Caps, size: TaskSize, key: string) {
  const amount = amountOf(size, kind);
  const max = amount === 0 ? null : (caps[kind] ?? null);
  return [max, capKey(kind, key), amount] as const;
}

function capKey(kind: CapKind, key: string): string {
  return `${kind} ${key}`;
}

/** What starts when nobody knows ends when nobody knows. */
function knownEndOf(at: number, walltimeMs: number | null): number {
  const end = endAt(at, walltimeMs);
  return end >= FOREVER ? UNKNOWN_END : end;
}
