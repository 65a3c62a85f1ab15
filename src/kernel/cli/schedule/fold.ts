// The tasks of an array in one line for each state: an array of hundreds is one job to its reader.

import type { ScheduleBar } from '../../api/schedule.ts';
import { IntervalSet } from '../../base/interval-set.ts';

/**
 * The bars in their order; tasks of an array that are in one state stand where the first of them
 * does.
 */
export function folded(bars: readonly ScheduleBar[]): ScheduleBar[] {
  const groups = new Map<string, ScheduleBar[]>();
  for (const bar of bars) {
    const { id, jobId, kind, word, guess } = bar;
    const key = id.includes('[') ? `${jobId} ${kind} ${word} ${guess?.site ?? ''}` : id;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [bar]);
    else group.push(bar);
  }
  return [...groups.values()].map(asOne);
}

function asOne(bars: readonly ScheduleBar[]): ScheduleBar {
  const [first] = bars as [ScheduleBar];
  if (bars.length === 1) return first;
  const ends = bars.map(({ until }) => until);
  const last = ends.some((end) => end === null) ? null : Math.max(...(ends as number[]));
  const indices = new IntervalSet();
  for (const { id } of bars) indices.add(Number(/\[(\d+)/.exec(id)?.[1]));
  const from = Math.min(...bars.map((bar) => bar.from));
  const nodes = [...new Set(bars.flatMap((bar) => bar.nodes))];
  return { ...first, id: `${first.jobId}[${indexWords(indices)}]`, from, until: last, nodes };
}

/** `0-9,12`. */
function indexWords(indices: IntervalSet): string {
  const parts = indices
    .intervals()
    .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return parts.join(',');
}
