// What is said of a task's memory while it runs: how much it has, and what the kernel has killed of
// it.

import type { JobDetail } from '../../api/jobs.ts';
import { formatInstant } from '../../base/instant.ts';
import { plural } from '../../base/plural.ts';
import { formatSize } from '../../base/size.ts';
import type { Job, Task } from '../../machine/jobs/facts.ts';
import type { State } from '../../machine/state.ts';
import { formatEpochId, type NodeName } from '../../model/ids.ts';
import type { MemoryUse } from '../../model/memory-use.ts';

/** Returns null when the kernel has killed nothing of it, or the task has ended for it. */
export function killedNotice(state: State, task: Task): string | null {
  if (!state.scratch.memory.hasKills) return null;
  for (const [node, { kills, killedAt }] of usesOf(state, task)) {
    if (kills === 0) continue;
    const limit = task.job.spec.request.perNode.memoryBytes;
    const why = limit > 0 ? `over the limit of ${formatSize(limit)}` : `${node} ran out of memory`;
    const more = limit > 0 ? 'more' : 'some';
    const what = `${plural(kills, 'process', 'processes')} of it on ${node}`;
    const when =
      killedAt === null ? 'before its agent was started' : `at ${formatInstant(killedAt)}`;
    return (
      `The kernel killed ${what} ${when}: ${why}. The rest goes on, and may wait for ` +
      `ever; if so, cancel it and ask for ${more} with --memory.`
    );
  }
  return null;
}

/** All of its tasks that run; null: nobody counts it, or none runs. */
export function memoryNowOf(state: State, job: Job): JobDetail['memoryNow'] {
  let found: { bytes: number; peakBytes: number } | null = null;
  for (const task of job.active.values()) {
    for (const [, { bytes, peakBytes }] of usesOf(state, task)) {
      found ??= { bytes: 0, peakBytes: 0 };
      found.bytes += bytes;
      found.peakBytes = Math.max(found.peakBytes, peakBytes);
    }
  }
  return found;
}

function* usesOf({ scratch }: State, task: Task): Iterable<[NodeName, MemoryUse]> {
  const epochId = formatEpochId(task.id, task.epoch);
  for (const node of task.parts.keys()) {
    const use = scratch.memory.of(node, epochId);
    if (use !== undefined) yield [node, use];
  }
}
