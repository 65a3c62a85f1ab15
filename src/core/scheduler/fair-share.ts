// Fair share: who has used how much lately, and what that does to the place in the queue. Usage is
// allocated cpu time that fades with a half-life; the factor is Slurm's classic one,
// 2^(-usage/share), over a tree of groups (https://slurm.schedmd.com/classic_fair_share.html).

import type { UserName } from '../model/ids.ts';
import { type FairShare, type FairShareGroup, HALF_LIFE_DEFAULT_MS } from '../model/scheduling.ts';

interface Account {
  /** Cpu milliseconds, faded to `at`. */
  amount: number;
  at: number;
  /** Allocated since `at`. */
  cpus: number;
}

/** As it is kept: user, cpu milliseconds, and the instant to which they are faded. */
export type UsageRow = readonly [user: UserName, amount: number, at: number];

/**
 * What each user has used. Between changes of what a user holds, usage follows from the time alone,
 * so nothing is written while tasks run, and reading costs one power per user.
 */
export class UsageBook {
  readonly #accounts = new Map<UserName, Account>();
  #halfLifeMs = HALF_LIFE_DEFAULT_MS;

  get halfLifeMs(): number {
    return this.#halfLifeMs;
  }

  /**
   * What was used until `at` has faded by the old half-life, and fades by the new one from there.
   */
  setHalfLife(halfLifeMs: number, at: number): void {
    for (const account of this.#accounts.values()) this.#advance(account, at);
    this.#halfLifeMs = halfLifeMs;
  }

  /** The user holds so many cpus more, or less, from `at` on. */
  hold(user: UserName, cpus: number, at: number): void {
    const known = this.#accounts.get(user);
    // Who has only ever held nothing, as the system, is nobody to share with.
    if (known === undefined && cpus === 0) return;
    const account = known ?? { amount: 0, at, cpus: 0 };
    this.#accounts.set(user, account);
    this.#advance(account, at);
    account.cpus += cpus;
  }

  /** Cpu milliseconds, faded to `now`; what runs is in it. */
  usageAt(now: number): Map<UserName, number> {
    const usage = new Map<UserName, number>();
    for (const [user, account] of this.#accounts) usage.set(user, this.#amountAt(account, now));
    return usage;
  }

  /** Cpus that the user's tasks hold now. */
  cpusOf(user: UserName): number {
    return this.#accounts.get(user)?.cpus ?? 0;
  }

  /** By name: the order must not tell in which order users came. */
  exportRows(): UsageRow[] {
    return [...this.#accounts]
      .map(([user, { amount, at }]): UsageRow => [user, amount, at])
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** What is held is not in the rows: it follows from the tasks, which come first. */
  importRows(rows: readonly UsageRow[], halfLifeMs: number): void {
    this.#halfLifeMs = halfLifeMs;
    for (const [user, amount, at] of rows) {
      this.#accounts.set(user, { amount, at, cpus: this.cpusOf(user) });
    }
  }

  #advance(account: Account, at: number): void {
    account.amount = this.#amountAt(account, at);
    // A clock that was set back adds nothing until it has caught up.
    account.at = Math.max(account.at, at);
  }

  /** The integral of `cpus` fading from each instant on, and the old amount faded. */
  #amountAt({ amount, at, cpus }: Account, now: number): number {
    const left = 2 ** (-Math.max(0, now - at) / this.#halfLifeMs);
    return amount * left + ((cpus * this.#halfLifeMs) / Math.LN2) * (1 - left);
  }
}

/** One user in the tree. */
export interface FairStanding {
  /** Cpu milliseconds, faded. */
  readonly usage: number;
  /** Of the whole cluster, 0…1: own share among the siblings, times that of the group. */
  readonly share: number;
  /** 0…1: 1 has used nothing, 0.5 exactly the share. */
  readonly factor: number;
}

/** A group or a user below one parent. */
interface Sibling {
  readonly share: number;
  readonly usage: number;
  readonly children: readonly Sibling[];
  /** Null for a group. */
  readonly user: UserName | null;
}

/** Everybody who has a share by name or has used something; whoever is not there has factor 1. */
export function fairStandings(
  rules: FairShare,
  usage: ReadonlyMap<UserName, number>,
): Map<UserName, FairStanding> {
  const standings = new Map<UserName, FairStanding>();
  const top = treeOf(rules, usage);
  const total = sum(top.map((one) => one.usage));
  for (const one of top) {
    const share = partOf(one, top);
    place(one, share, part(one.usage, total), total, standings);
  }
  return standings;
}

/** `used`: the part of all usage that counts against this one. */
function place(
  one: Sibling,
  share: number,
  used: number,
  total: number,
  standings: Map<UserName, FairStanding>,
): void {
  if (one.user !== null) {
    const factor = share === 0 ? 0 : 2 ** (-used / share);
    standings.set(one.user, { usage: one.usage, share, factor });
  }
  for (const child of one.children) {
    const among = partOf(child, one.children);
    const own = part(child.usage, total);
    // A member answers for what the group has used, as far as the own share goes.
    place(child, share * among, own + (used - own) * among, total, standings);
  }
}

function treeOf({ users, groups }: FairShare, usage: ReadonlyMap<UserName, number>): Sibling[] {
  const userOf = (user: UserName): Sibling => {
    const share = Object.hasOwn(users, user) ? (users[user] as number) : 1;
    return { user, share, usage: usage.get(user) ?? 0, children: [] };
  };
  // The config has refused cycles and groups that are not there.
  const groupOf = (name: string): Sibling => {
    const group = groups[name] as FairShareGroup;
    const children = [...group.groups.map(groupOf), ...group.users.map(userOf)];
    const used = sum(children.map((child) => child.usage));
    return { user: null, share: group.share, usage: used, children };
  };
  const all = Object.values(groups);
  const inner = new Set(all.flatMap((group) => group.groups));
  const members = new Set(all.flatMap((group) => group.users));
  const known = new Set([...(Object.keys(users) as UserName[]), ...usage.keys()]);
  return [
    ...Object.keys(groups)
      .filter((name) => !inner.has(name))
      .map(groupOf),
    ...[...known].filter((user) => !members.has(user)).map(userOf),
  ];
}

function partOf({ share }: Sibling, siblings: readonly Sibling[]): number {
  return part(share, sum(siblings.map((one) => one.share)));
}

function part(amount: number, whole: number): number {
  return whole === 0 ? 0 : amount / whole;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
