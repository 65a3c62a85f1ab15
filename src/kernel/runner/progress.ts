// The steps of an epoch that the shell reports: prepared, swept, stored, released; and how it
// ended.

import type { EpochId } from '../model/ids.ts';
import type { EndCause, EndReport } from '../model/orders.ts';
import type { Stored } from '../model/staging.ts';
import {
  type Epoch,
  endedAtOf,
  exitOf,
  instantOf,
  isNext,
  type Now,
  type Preparation,
  type Run,
  type Storing,
  type Sweeping,
  type Termination,
} from './epoch.ts';
import type { RunnerEvent } from './events.ts';
import type { RunnerInput } from './inputs.ts';
import { endUnlaunched, endUnleased, isLeaseOver } from './lease.ts';
import { rebasePause } from './pause/decide.ts';
import { whyPaused } from './pause/state.ts';
import { endWithNext } from './places.ts';
import type { RunnerState } from './state.ts';

/** The launch ids are fixed here, in the journal, before anything is started. */
export function decidePrepared(
  state: RunnerState,
  epochId: EpochId,
  preparation: Preparation,
  now: Now,
): RunnerEvent[] {
  const epoch = state.epochs.get(epochId);
  if (epoch?.phase !== 'accepted') return [];
  if (isLeaseOver(state, epoch, now))
    return [endUnleased(epoch, now), ...unblockNext(state, epoch)];
  const paused = whyPaused(state.pauses);
  if (paused !== null) return decideGivenBack(state, epochId, paused, now);
  const firstLaunchId = state.nextLaunchId;
  return [{ kind: 'epoch_launching', epochId, firstLaunchId, preparation }];
}

/** No such user, no such directory, files that cannot be had: nothing was started. */
export function decidePrepareFailed(
  state: RunnerState,
  { epochId, failure, cause }: Extract<RunnerInput, { kind: 'prepare_failed' }>,
  now: Now,
): RunnerEvent[] {
  const epoch = state.epochs.get(epochId);
  if (epoch?.phase !== 'accepted') return [];
  const ended = endUnlaunched(epoch, { cause, ...failure }, now);
  return [ended, ...unblockNext(state, epoch)];
}

/** Gives an epoch back: it may start elsewhere, or here, and that does not count against it. */
export function decideGivenBack(
  state: RunnerState,
  epochId: EpochId,
  why: string,
  now: Now,
): RunnerEvent[] {
  const epoch = state.epochs.get(epochId);
  if (epoch?.phase !== 'accepted') return [];
  const end = { cause: 'never_started', nodeFault: false, detail: why } as const;
  return [endUnlaunched(epoch, end, now), ...unblockNext(state, epoch)];
}

/**
 * The machine has started anew, and what was accepted before is not begun: the head counts on the
 * boot that it spoke to, and has perhaps given the task to somebody else.
 */
export function rebootEvents(state: RunnerState, now: Now): RunnerEvent[] {
  const detail = 'the node restarted before the task started';
  const events = rebasePause(state, now);
  for (const epoch of state.epochs.values()) {
    if (epoch.phase === 'storing' && epoch.storeUntil !== undefined) {
      const storeUntil = now.monotonic + state.killGraceMs;
      events.push({ kind: 'storing_hastened', epochId: epoch.order.epochId, storeUntil });
    }
    if (epoch.phase !== 'waiting' && epoch.phase !== 'accepted') continue;
    events.push(endUnlaunched(epoch, { cause: 'never_started', nodeFault: false, detail }, now));
  }
  return events;
}

/** Nothing is left of the epoch: how it ended is decided here, once. */
export function decideSwept(
  state: RunnerState,
  swept: Extract<RunnerInput, { kind: 'swept' }>,
  now: Now,
): RunnerEvent[] {
  const epoch = state.epochs.get(swept.epochId);
  if (epoch?.phase !== 'sweeping') return [];
  const { epochId, leaves } = swept;
  const report = endReport(epoch, swept, now);
  const isKept = leaves && isWorthKeeping(report);
  const { ending } = epoch.run;
  if (isKept && ending?.discards !== true) {
    return [{ kind: 'storing_begun', epochId, at: instantOf(epoch, now), report }];
  }
  const told = isKept && ending !== null ? discarded(report, ending.why) : report;
  return [...endWithNext(state, epoch, told, now), ...unblockNext(state, epoch)];
}

/** Not of what never ran, nor of what the head has given to another node. */
function isWorthKeeping({ cause }: EndReport): boolean {
  return cause !== 'launch_failed' && cause !== 'lease_expired';
}

/** Only now the end is told: the head counts on its files being there. */
export function decideStored(
  state: RunnerState,
  epochId: EpochId,
  stored: Stored,
  now: Now,
): RunnerEvent[] {
  const epoch = state.epochs.get(epochId);
  if (epoch?.phase !== 'storing') return [];
  const report = { ...epoch.end, stored };
  return [...endWithNext(state, epoch, report, now), ...unblockNext(state, epoch)];
}

/** Nobody waits for its files any more. */
export function endUnstored({ order, end }: Storing, problem: string): RunnerEvent {
  const report = { ...end, stored: unstored(problem) };
  return { kind: 'epoch_ended', epochId: order.epochId, report };
}

/** Nobody wants its files. */
export function endDiscarded({ order, end }: Storing, why: string): RunnerEvent {
  const report = discarded(end, why);
  return { kind: 'epoch_ended', epochId: order.epochId, report };
}

/** A head that lost the reason must not take it for done: it is told as ended by an order. */
function discarded(report: EndReport, why: string): EndReport {
  const stored = unstored(`ended before its files were kept: ${why}`);
  if (report.cause !== 'exited' || report.there !== undefined) return { ...report, stored };
  return { ...report, cause: 'ended', detail: why, stored };
}

function unstored(problem: string): Stored {
  return { files: 0, bytes: 0, leftOut: 0, problem };
}

/** The newest start of its task that waits for its end. */
export function unblockNext(state: RunnerState, gone: Epoch): RunnerEvent[] {
  let next: Epoch | null = null;
  for (const id of state.byTask.get(gone.taskId) ?? []) {
    const other = state.epochs.get(id) as Epoch;
    if (other === gone || other.phase === 'ended') continue;
    if (other.phase !== 'waiting') return [];
    if (isNext(other)) continue;
    if (next === null || other.order.epoch > next.order.epoch) next = other;
  }
  return next === null ? [] : [{ kind: 'epoch_unblocked', epochId: next.order.epochId }];
}

function endReport(
  epoch: Sweeping,
  swept: Extract<RunnerInput, { kind: 'swept' }>,
  now: Now,
): EndReport {
  const { run } = epoch;
  const cause = endCause(epoch, swept.outOfMemory);
  const peak = Math.max(run.usage.memoryPeakBytes, swept.memoryPeakBytes ?? 0);
  const detail = endDetail(run, cause);
  return {
    kind: 'task_ended',
    epochId: swept.epochId,
    at: lastEnd(run) ?? instantOf(epoch, now),
    cause,
    nodeFault: cause === 'lost' || (cause === 'launch_failed' && run.failure?.nodeFault === true),
    processes: run.processes.flatMap((process, rank) => {
      return process.state === 'exited' ? [{ rank, exit: process.exit }] : [];
    }),
    usage: { ...run.usage, memoryPeakBytes: peak },
    ...(detail === null ? {} : { detail }),
    ...thereOf(run, cause),
    ...(swept.silent ? { silentNodeRank: epoch.order.nodeRank } : {}),
  };
}

/** An end that the node asked for is its own, whatever its site calls it. */
function thereOf(run: Run, cause: EndCause): Pick<EndReport, 'there'> {
  if (run.failure?.there !== undefined) return { there: run.failure.there };
  return wasCancelledThere(run, cause) ? { there: 'cancelled' } : {};
}

function wasCancelledThere({ cancelledThere }: Run, cause: EndCause): boolean {
  return cancelledThere !== undefined && cause === 'exited';
}

function endCause({ order, run }: Sweeping, outOfMemory: boolean): EndCause {
  if (run.failure !== null) return 'launch_failed';
  // A rank that the kernel ended makes its program end, and that ends the server here.
  const hasSteps = order.mpi !== undefined && order.nodeRank > 0;
  if (outOfMemory && hasSteps) return 'out_of_memory';
  if (run.ending !== null && wasEndedBy(run, run.ending)) return run.ending.cause;
  if (run.processes.some((process) => process.state === 'lost')) return 'lost';
  const failed = run.processes.some((process) => exitOf(process)?.code !== 0);
  // A program may lose a helper to the kernel and still succeed; then it has not run out.
  return outOfMemory && failed ? 'out_of_memory' : 'exited';
}

/** Something was still running when the signal went out. */
function wasEndedBy({ processes }: Run, ending: Termination): boolean {
  return processes.some((process) => process.state !== 'exited' || process.endedAt >= ending.at);
}

/** A start that was asked for may not have reached the launcher either. */
const LOST =
  'the launcher knows nothing of it: the launcher or the agent died, and how it ended is lost with it';

function endDetail(run: Run, cause: EndCause): string | null {
  if (run.failure !== null) return run.failure.detail;
  if (cause === 'lost') return run.lostWhy ?? LOST;
  if (wasCancelledThere(run, cause)) return run.cancelledThere ?? null;
  return cause === 'exited' || cause === 'out_of_memory' ? null : (run.ending?.why ?? null);
}

function lastEnd({ processes }: Run): number | null {
  let last: number | null = null;
  for (const process of processes) {
    const endedAt = endedAtOf(process);
    if (endedAt !== null && (last === null || endedAt > last)) last = endedAt;
  }
  return last;
}

/** The shell is through with an ended epoch. */
export function decideReleased(state: RunnerState, epochId: EpochId): RunnerEvent[] {
  const epoch = state.epochs.get(epochId);
  if (epoch?.phase !== 'ended' || epoch.released) return [];
  return [{ kind: 'epoch_released', epochId }];
}
