// Fair share: what somebody's usage, as usage-book.ts counts it, does to the place in the queue.
// The factor is Slurm's classic one, 2^(-usage/share), over a tree of groups
// (https://slurm.schedmd.com/classic_fair_share.html).

import type { UserName } from '../../model/ids.ts';
import type { FairShare, FairShareGroup } from '../../model/scheduling.ts';

/** One user in the tree. */
export interface FairStanding {
  /** Milliseconds of a cpu, faded. */
  readonly usage: number;
  /** Share of the whole cluster, 0…1: own share among the siblings, times that of the group. */
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
