// How many tasks completed, failed and were cancelled, counted by one rule everywhere.

/** `ended`: of jobs of an earlier release, which do not say how tasks ended, all completed. */
export function endCounts(ended: number, counts: Readonly<Record<string, number>>) {
  const known = Object.entries(counts);
  const { completed = known.length === 0 ? ended : 0, cancelled = 0 } = counts;
  const failed = known.reduce((sum, [kind, count]) => sum + (isFailure(kind) ? count : 0), 0);
  return { completed, failed, cancelled };
}

function isFailure(kind: string): boolean {
  return kind !== 'completed' && kind !== 'cancelled';
}
