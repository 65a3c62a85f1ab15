// What is wrong between the entries of the kernel's tables: each may be right and all of them not.

import { didYouMean } from '../base/nearest-word.ts';
import type { Entries, EntryProblem } from './table.ts';

/** Partitions whose usual time limit is longer than the longest. */
export function* checkTimes(partitions: Entries): Generator<EntryProblem> {
  for (const [name, fields] of partitions) {
    const max = fields.get('limits.time') as number | null | undefined;
    const usual = fields.get('limits.default_time') as number | null | undefined;
    if (max == null || usual == null || usual <= max) continue;
    yield { name, what: 'limits.default_time is longer than limits.time' };
  }
}

/** Groups of shares that are not there, that share members, or that contain each other. */
export function* checkMembership(groups: Entries): Generator<EntryProblem> {
  yield* checkMembers(groups);
  yield* checkCycles(groups);
}

/** Groups that are not there, and members of two groups. */
function* checkMembers(groups: Entries): Generator<EntryProblem> {
  const homes = new Map<string, string>();
  for (const [name, fields] of groups) {
    const wrong = (what: string) => ({ name, what });
    for (const member of membersOf(fields, 'groups')) {
      if (!groups.has(member)) {
        yield wrong(`there is no group '${member}'.${didYouMean(member, groups.keys())}`);
      }
    }
    for (const kind of ['users', 'groups'] as const) {
      for (const member of membersOf(fields, kind)) {
        const key = `${kind} ${member}`;
        const home = homes.get(key);
        if (home !== undefined) yield wrong(`${member} is already in ${home}`);
        homes.set(key, name);
      }
    }
  }
}

function* checkCycles(groups: Entries): Generator<EntryProblem> {
  const seen = new Set<string>();
  for (const start of groups.keys()) {
    const path = cycleFrom(groups, start);
    if (path === null || path.some((name) => seen.has(name))) continue;
    for (const name of path) seen.add(name);
    const what = `the groups contain each other in a circle: ${path.join(' > ')} > ${start}`;
    yield { name: start, what };
  }
}

/** The way from a group back to itself; null when there is none. */
function cycleFrom(groups: Entries, start: string): string[] | null {
  const visited = new Set<string>();
  const walk = (name: string): string[] | null => {
    if (visited.has(name)) return null;
    visited.add(name);
    for (const member of membersOf(groups.get(name), 'groups')) {
      if (member === start) return [name];
      const rest = walk(member);
      if (rest !== null) return [name, ...rest];
    }
    return null;
  };
  return walk(start);
}

function membersOf(
  fields: ReadonlyMap<string, unknown> | undefined,
  kind: 'users' | 'groups',
): readonly string[] {
  return (fields?.get(kind) as readonly string[] | undefined) ?? [];
}
