// What each user has used: allocated resources, weighed, times time, fading with a half-life.

import { isOfType } from '../../model/cards-for.ts';
import type { UserName } from '../../model/ids.ts';
import { FORGOTTEN_USAGE_MS } from '../../model/limits.ts';
import type { Resources } from '../../model/resources.ts';
import {
  type BillingWeights,
  DEFAULT_BILLING,
  HALF_LIFE_DEFAULT_MS,
} from '../../model/scheduling.ts';

/** What is billed of an allocation. */
export interface Billed extends Pick<Resources, 'cpuCount' | 'memoryBytes' | 'gpuCount'> {
  /** How many of the gpus are of which type. Absent: none is known. */
  readonly gpuTypes?: Readonly<Record<string, number>>;
}

const NOTHING: Billed = { cpuCount: 0, memoryBytes: 0, gpuCount: 0 };
const GIB = 2 ** 30;

interface Account {
  /** Milliseconds of a cpu, faded to `at`. */
  amount: number;
  at: number;
  /** Allocated since `at`. */
  held: Billed;
}

/** One row as it is kept: user, milliseconds of a cpu, and the instant to which they are faded. */
export type UsageRow = readonly [user: UserName, amount: number, at: number];

/** The rules by which usage is counted; facts of the journal. */
export interface UsageRules {
  readonly halfLifeMs: number;
  readonly weights: BillingWeights;
}

/**
 * Between changes of what a user holds, usage follows from the time alone, so nothing is written
 * while tasks run, and reading costs one power per user.
 */
export class UsageBook {
  readonly #accounts = new Map<UserName, Account>();
  #rules: UsageRules = { halfLifeMs: HALF_LIFE_DEFAULT_MS, weights: DEFAULT_BILLING };

  get rules(): UsageRules {
    return this.#rules;
  }

  /** What was used until `at` was counted by the old rules, and fades by the new ones from it. */
  setRules(rules: Partial<UsageRules>, at: number): void {
    for (const account of this.#accounts.values()) this.#advance(account, at);
    this.#rules = { ...this.#rules, ...rules };
  }

  /** The user holds so much more, or, with a `sign` of -1, less, from `at` on. */
  hold(user: UserName, change: Billed, at: number, sign: 1 | -1 = 1): void {
    const known = this.#accounts.get(user);
    // Who has only ever held nothing, as the system, is nobody to share with.
    if (known === undefined && isNothing(change)) return;
    const account = known ?? { amount: 0, at, held: NOTHING };
    this.#accounts.set(user, account);
    this.#advance(account, at);
    account.held = sumOf(account.held, change, sign);
  }

  /** The user holds so much less since `endedAt`, which is heard of only now. */
  release(user: UserName, change: Billed, time: { endedAt: number; at: number }): void {
    const { endedAt, at } = time;
    this.hold(user, change, at, -1);
    const account = this.#accounts.get(user);
    if (account === undefined || endedAt >= at) return;
    const counted = this.#amountAt({ amount: 0, at: endedAt, held: change }, at);
    account.amount = Math.max(0, account.amount - counted);
  }

  /** Milliseconds of a cpu, faded to `now`; what runs is in it. */
  usageAt(now: number): Map<UserName, number> {
    const usage = new Map<UserName, number>();
    for (const [user, account] of this.#accounts) usage.set(user, this.#amountAt(account, now));
    return usage;
  }

  /** What the user's tasks hold now. */
  heldBy(user: UserName): Billed {
    return this.#accounts.get(user)?.held ?? NOTHING;
  }

  /**
   * Users who hold nothing, have not for a half-life, and have nothing worth keeping left. Within
   * the half-life somebody who comes and goes would come and go in everybody's shares.
   */
  faded(now: number): UserName[] {
    const users: UserName[] = [];
    for (const [user, account] of this.#accounts) {
      if (now - account.at < this.#rules.halfLifeMs || !isNothing(account.held)) continue;
      if (this.#amountAt(account, now) < FORGOTTEN_USAGE_MS) users.push(user);
    }
    return users;
  }

  forget(user: UserName): void {
    this.#accounts.delete(user);
  }

  /** The clock was set: nothing fades and nothing is used by that. */
  rebase(byMs: number): void {
    for (const account of this.#accounts.values()) account.at += byMs;
  }

  /** By name: the order must not tell in which order users came. */
  exportRows(): UsageRow[] {
    return [...this.#accounts]
      .map(([user, { amount, at }]): UsageRow => [user, amount, at])
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** What is held is not in the rows: it follows from the tasks, which come first. */
  importRows(rows: readonly UsageRow[], rules: Partial<UsageRules>): void {
    this.#rules = { ...this.#rules, ...rules };
    for (const [user, amount, at] of rows) {
      this.#accounts.set(user, { amount, at, held: this.heldBy(user) });
    }
  }

  #advance(account: Account, at: number): void {
    account.amount = this.#amountAt(account, at);
    // A clock that was set back adds nothing until it has caught up.
    account.at = Math.max(account.at, at);
  }

  /** The integral of what is held fading from each instant on, and the old amount faded. */
  #amountAt({ amount, at, held }: Account, now: number): number {
    const { halfLifeMs, weights } = this.#rules;
    const left = 2 ** (-Math.max(0, now - at) / halfLifeMs);
    const { cpu, memory } = weights;
    const rate = cpu * held.cpuCount + (memory * held.memoryBytes) / GIB + gpuRate(held, weights);
    return amount * left + ((rate * halfLifeMs) / Math.LN2) * (1 - left);
  }
}

function sumOf(held: Billed, change: Billed, sign: 1 | -1): Billed {
  const sum: Billed = {
    cpuCount: held.cpuCount + sign * change.cpuCount,
    memoryBytes: held.memoryBytes + sign * change.memoryBytes,
    gpuCount: held.gpuCount + sign * change.gpuCount,
  };
  const types = { ...held.gpuTypes };
  for (const [type, count] of Object.entries(change.gpuTypes ?? {})) {
    const left = (types[type] ?? 0) + sign * count;
    if (left === 0) delete types[type];
    else types[type] = left;
  }
  return Object.keys(types).length === 0 ? sum : { ...sum, gpuTypes: types };
}

function gpuRate({ gpuCount, gpuTypes = {} }: Billed, { gpu, gpus = {} }: BillingWeights): number {
  let rate = gpu * gpuCount;
  for (const [type, count] of Object.entries(gpuTypes)) {
    rate += count * (weightOf(type, gpus) - gpu);
  }
  return rate;

  /** The longer one counts of two names that mean the type: `a100-80g` before `a100`. */
  function weightOf(type: string, all: Readonly<Record<string, number>>): number {
    const names = Object.keys(all).filter((name) => isOfType(type, name));
    const [name] = names.sort((a, b) => b.length - a.length);
    return name === undefined ? gpu : (all[name] as number);
  }
}

function isNothing({ cpuCount, memoryBytes, gpuCount }: Billed): boolean {
  return cpuCount === 0 && memoryBytes === 0 && gpuCount === 0;
}
