// Why a task waits: first what forbids it to start at all, then what the scheduler says.

import { labelsOf } from '../core/controller/apply/nodes.ts';
import { snapshotOf } from '../core/controller/decide/schedule.ts';
import type { Job, Node, State } from '../core/controller/state.ts';
import type { PendingReason } from '../core/model/job.ts';
import type { Settings } from '../core/model/settings.ts';
import { explain, type NodeOutline } from '../core/scheduler/explain.ts';

export function explainPending(
  state: State,
  settings: Settings,
  job: Job,
  index: number,
  at: number,
): PendingReason {
  const heldBecause = job.active.get(index)?.heldBecause ?? null;
  if (heldBecause !== null)
    return { kind: 'held', words: `${heldBecause}; release it to try again` };
  if (job.held) return { kind: 'held', words: `held; \`weft release ${job.id}\` lets it start` };
  if (job.waitsFor.size > 0) {
    const waited = job.spec.dependencies
      .filter((dependency) => job.waitsFor.has(dependency.jobId))
      .map((dependency) => `${dependency.jobId}:${dependency.condition}`);
    return { kind: 'dependency', words: `waits for ${waited.join(', ')}` };
  }
  if (!job.beginReached && job.spec.beginAt !== null) {
    return { kind: 'begin_time', words: `begins at ${new Date(job.spec.beginAt).toISOString()}` };
  }
  const outlines = [...state.nodes.values()].map(outline);
  return explain(job.entry, outlines, snapshotOf(state, settings, 0, at), at);
}

function outline(node: Node): NodeOutline {
  const { name, total, free } = node;
  return { name, total, free, labels: labelsOf(node), unavailable: unavailable(node) };
}

function unavailable(node: Node): string | null {
  if (node.drain !== null) return `drained (${node.drain.reason})`;
  if (node.unreachableSince !== null) return 'unreachable';
  if (node.connected && node.fault !== null) return node.fault;
  return node.connected ? null : 'not connected';
}
