// Why a task waits: first what forbids it to start at all, then what the scheduler says, and what
// it can expect.

import { formatInstant } from '../core/base/instant.ts';
import { entryOf } from '../core/controller/apply/jobs.ts';
import { snapshotOf } from '../core/controller/decide/schedule.ts';
import type { Accepted } from '../core/controller/decide/submit.ts';
import { indicesOf } from '../core/controller/indices.ts';
import { labelsOf } from '../core/controller/node-view.ts';
import type { Job, Node, State } from '../core/controller/state.ts';
import type { JobId, UserName } from '../core/model/ids.ts';
import type { JobSpec, PendingReason } from '../core/model/job.ts';
import { TURN_LOOKS_MAX } from '../core/model/limits.ts';
import type { Settings } from '../core/model/settings.ts';
import { explain } from '../core/scheduler/explain.ts';
import type { NodeOutline, Surroundings } from '../core/scheduler/outline.ts';
import { type Prospect, prospectOf } from '../core/scheduler/prospect.ts';
import type { QueueEntry } from '../core/scheduler/queue.ts';
import type { Snapshot } from '../core/scheduler/snapshot.ts';

/** A task that waits, or would if it were submitted. */
export interface Pending extends Pick<Job, 'held' | 'waitsFor' | 'beginReached'> {
  /** Null: not submitted. */
  readonly id: JobId | null;
  readonly spec: Pick<JobSpec, 'dependencies' | 'beginAt'>;
  readonly entry: QueueEntry;
  readonly index: number;
  readonly heldBecause: string | null;
}

export function pendingOf(job: Job, index: number): Pending {
  const { id, held, waitsFor, beginReached, spec, entry } = job;
  const heldBecause = job.active.get(index)?.heldBecause ?? null;
  return { id, held, waitsFor, beginReached, spec, entry, index, heldBecause };
}

/** What has passed all checks of a submission, as it would wait. */
export function pendingAs(
  state: State,
  { spec, waitsFor }: Accepted,
  owner: UserName,
  at: number,
): Pending {
  const pending = indicesOf(spec.array);
  const jobId = state.nextJobId as JobId;
  return {
    ...{ id: null, spec, heldBecause: null, held: spec.held, waitsFor: new Set(waitsFor) },
    beginReached: spec.beginAt === null || spec.beginAt <= at,
    entry: entryOf(state, { jobId, owner, submittedAt: at }, spec, pending),
    index: pending.first ?? 0,
  };
}

export function explainPending(
  state: State,
  settings: Settings,
  pending: Pending,
  at: number,
): PendingReason {
  const forbidden = forbiddenBy(pending);
  if (forbidden !== null) return forbidden;
  return explain(pending.entry, surroundings(state), snapshotOf(state, settings, 0, at), at);
}

/** Why a task waits and what it can expect. */
export interface LookAhead {
  readonly at: number;
  readonly reason: PendingReason;
  /** Null while something other than the scheduler keeps it from starting. */
  readonly prospect: Prospect | null;
}

export function lookAhead(
  state: State,
  settings: Settings,
  pending: Pending,
  at: number,
): LookAhead {
  const reason = explainPending(state, settings, pending, at);
  if (forbiddenBy(pending) !== null) return { at, reason, prospect: null };
  const snapshot = (): Snapshot => ({
    ...snapshotOf(state, settings, 0, at),
    looksMax: TURN_LOOKS_MAX,
  });
  const prospect = prospectOf(snapshot, pending, at);
  return { at, reason, prospect };
}

function forbiddenBy(pending: Pending): PendingReason | null {
  const { id, spec, held, heldBecause, waitsFor, beginReached } = pending;
  if (heldBecause !== null)
    return { kind: 'held', words: `${heldBecause}; release it to try again` };
  if (held) return { kind: 'held', words: `held; \`weft release ${id ?? 'JOB'}\` lets it start` };
  if (waitsFor.size > 0) {
    const waited = spec.dependencies
      .filter((dependency) => waitsFor.has(dependency.jobId))
      .map((dependency) => `${dependency.jobId}:${dependency.condition}`);
    return { kind: 'dependency', words: `waits for ${waited.join(', ')}` };
  }
  if (!beginReached && spec.beginAt !== null) {
    return { kind: 'begin_time', words: `begins at ${formatInstant(spec.beginAt)}` };
  }
  return null;
}

function surroundings(state: State): Surroundings {
  return {
    nodes: [...state.nodes.values()].map(outline),
    reservationOf: (id) => state.reservations.get(id),
  };
}

function outline(node: Node): NodeOutline {
  const { name, total, free, holding } = node;
  const idle = holding.size === 0;
  return { name, total, free, idle, labels: labelsOf(node), unavailable: unavailable(node) };
}

function unavailable(node: Node): string | null {
  if (node.drain !== null) return `drained (${node.drain.reason})`;
  if (node.unreachableSince !== null) return 'unreachable';
  if (node.connected && node.fault !== null) return `out of use (${node.fault})`;
  return node.connected ? null : 'not connected';
}
