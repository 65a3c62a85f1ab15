// Why a task waits: first what forbids it to start at all, then what the scheduler says, and what
// it can expect.

import { formatInstant } from '../core/base/instant.ts';
import { entryOf } from '../core/controller/jobs/apply.ts';
import type { Job } from '../core/controller/jobs/facts.ts';
import { indicesOf } from '../core/controller/jobs/indices.ts';
import type { Accepted } from '../core/controller/jobs/submit.ts';
import type { Node } from '../core/controller/nodes/facts.ts';
import { labelsOf } from '../core/controller/nodes/view.ts';
import { snapshotOf } from '../core/controller/schedule.ts';
import type { State } from '../core/controller/state.ts';
import type { JobId, UserName } from '../core/model/ids.ts';
import type { JobSpec, PendingReason } from '../core/model/job.ts';
import { TURN_LOOKS_MAX } from '../core/model/limits.ts';
import { pauseWords } from '../core/model/pause.ts';
import type { Settings } from '../core/model/settings.ts';
import { type Awaited, awaitedBy, explain } from '../core/scheduler/answers/explain.ts';
import type { Absence, NodeOutline, Surroundings } from '../core/scheduler/answers/outline.ts';
import { type Prospect, prospectOf } from '../core/scheduler/answers/prospect.ts';
import type { Snapshot } from '../core/scheduler/cycle/snapshot.ts';
import type { QueueEntry } from '../core/scheduler/line/queue.ts';

/** A task that waits, or would if it were submitted. */
export interface Pending extends Pick<Job, 'held' | 'waitsFor' | 'beginReached'> {
  /** Null: not submitted. */
  readonly id: JobId | null;
  readonly spec: Pick<JobSpec, 'dependencies' | 'beginAt'>;
  readonly entry: QueueEntry;
  readonly index: number;
  readonly heldBecause: string | null;
  /** Other arrays whose task with its index it waits for. */
  readonly behind: readonly JobId[];
}

export function pendingOf(job: Job, index: number): Pending {
  const { id, held, waitsFor, beginReached, spec, entry } = job;
  const heldBecause = job.active.get(index)?.heldBecause ?? null;
  const behind = [...job.behind].filter(([, set]) => set.has(index)).map(([on]) => on);
  return { id, held, waitsFor, beginReached, spec, entry, index, heldBecause, behind };
}

/** What has passed all checks of a submission, as it would wait. */
export function pendingAs(
  state: State,
  { spec, waitsFor, behind }: Accepted,
  owner: UserName,
  at: number,
): Pending {
  const pending = indicesOf(spec.array);
  const id = state.nextJobId as JobId;
  return {
    ...{ id: null, spec, heldBecause: null, held: spec.held, waitsFor: new Set(waitsFor) },
    beginReached: spec.beginAt === null || spec.beginAt <= at,
    entry: entryOf(state, { id, owner, submittedAt: at, spec, pending }),
    index: pending.first ?? 0,
    behind: behind.map(({ on }) => on),
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
  /** Where it starts on no node in use. */
  readonly awaited: Awaited | null;
}

export function lookAhead(
  state: State,
  settings: Settings,
  pending: Pending,
  at: number,
): LookAhead {
  const reason = explainPending(state, settings, pending, at);
  if (forbiddenBy(pending) !== null) return { at, reason, prospect: null, awaited: null };
  const snapshot = (): Snapshot => ({
    ...snapshotOf(state, settings, 0, at),
    looksMax: TURN_LOOKS_MAX,
  });
  const prospect = prospectOf(snapshot, pending, at);
  const isHopeless = prospect !== null && prospect.forecast === null && !prospect.startsNow;
  const awaited = isHopeless ? awaitedBy(pending.entry, surroundings(state), snapshot(), at) : null;
  return { at, reason, prospect, awaited };
}

const CONDITIONS = {
  ok: 'to complete',
  any: 'to end',
  fail: 'to fail',
  each: 'to complete',
} as const;

function forbiddenBy(pending: Pending): PendingReason | null {
  const { id, spec, held, heldBecause, waitsFor, beginReached, behind } = pending;
  if (heldBecause !== null)
    return { kind: 'held', words: `${heldBecause}; \`weft release ${id ?? 'JOB'}\` tries again` };
  if (held) return { kind: 'held', words: `held; \`weft release ${id ?? 'JOB'}\` lets it start` };
  if (waitsFor.size > 0) {
    const waited = spec.dependencies
      .filter(({ jobId, condition }) => waitsFor.has(jobId) && condition !== 'each')
      .map(({ jobId, condition }) => `job ${jobId} ${CONDITIONS[condition]}`);
    return { kind: 'dependency', words: `waits for ${waited.join(', ')}` };
  }
  if (behind.length > 0) {
    const waited = behind.map((on) => `${on}[${pending.index}]`).join(' and ');
    return { kind: 'dependency', words: `waits for task ${waited} to complete` };
  }
  if (!beginReached && spec.beginAt !== null) {
    return { kind: 'begin_time', words: `its begin time is ${formatInstant(spec.beginAt)}` };
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

function unavailable(node: Node): Absence | null {
  if (node.drain !== null) return { kind: 'drained', words: `drained (${node.drain.reason})` };
  if (node.unreachableSince !== null) return { kind: 'away', words: 'unreachable' };
  if (node.connected && node.fault !== null) {
    return { kind: 'faulty', words: `out of use (${node.fault})` };
  }
  if (node.connected && node.pausing.now !== null) {
    return { kind: 'paused', words: pauseWords(node.pausing.now) };
  }
  return node.connected ? null : { kind: 'away', words: 'not connected' };
}
