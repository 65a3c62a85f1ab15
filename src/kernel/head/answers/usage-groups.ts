// Usage of groups, from that of their users.

import type { UsageRow } from '../../ports/history.ts';

/** Usage by group: users of several count in each, of none under ''. Sorted by step, then name. */
export function usageOfGroups(
  rows: readonly UsageRow[],
  groupsOf: (user: string) => readonly string[],
): UsageRow[] {
  const sums = new Map<string, UsageRow>();
  // A user has a row for each step, and groups are looked for in long lists.
  const known = new Map<string, readonly string[]>();
  for (const row of rows) {
    const groups = known.get(row.key) ?? groupsOf(row.key);
    known.set(row.key, groups);
    for (const key of groups.length === 0 ? [''] : groups) {
      const name = `${row.step} ${key}`;
      sums.set(name, sum({ ...row, key }, sums.get(name)));
    }
  }
  return [...sums.values()].sort(
    (one, other) => one.step - other.step || (one.key < other.key ? -1 : 1),
  );
}

function sum(one: UsageRow, other: UsageRow | undefined): UsageRow {
  if (other === undefined) return one;
  return {
    key: one.key,
    step: one.step,
    starts: one.starts + other.starts,
    tasks: one.tasks + other.tasks,
    usedUs: one.usedUs + other.usedUs,
    cpuMs: one.cpuMs + other.cpuMs,
    memoryByteMs: one.memoryByteMs + other.memoryByteMs,
    gpuMs: one.gpuMs + other.gpuMs,
  };
}
