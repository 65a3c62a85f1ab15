// Which builds of solvers a node removes: those that nobody has used for long, and then the ones
// used longest ago until the rest has room. Never one that a task here may be about to use.

export interface KeptBuild {
  /** By which tasks call it. */
  readonly key: string;
  readonly folder: string;
  readonly bytes: number;
  readonly usedAt: number;
}

export interface BuildRule {
  readonly now: number;
  readonly ageMs: number;
  readonly bytesMax: number;
  readonly inUse: ReadonlySet<string>;
}

/** In the order in which they go. */
export function buildsToRemove(
  kept: readonly KeptBuild[],
  { now, ageMs, bytesMax, inUse }: BuildRule,
): KeptBuild[] {
  let left = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  const goes: KeptBuild[] = [];
  for (const build of kept.toSorted((a, b) => a.usedAt - b.usedAt)) {
    if (inUse.has(build.key)) continue;
    if (left <= bytesMax && now - build.usedAt < ageMs) break;
    left -= build.bytes;
    goes.push(build);
  }
  return goes;
}
