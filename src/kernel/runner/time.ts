// What passes with time, without the head: walltime, grace, leases; and memory seen by polling.

import { present } from '../base/assert.ts';
import { formatDuration } from '../base/duration.ts';
import { formatSize } from '../base/size.ts';
import type { EpochId } from '../model/ids.ts';
import {
  beginOf,
  type EndingCause,
  type Epoch,
  elapsedMs,
  endingOf,
  instantOf,
  isBuilding,
  isLaunched,
  isOpen,
  type Now,
  processesOf,
  type Termination,
} from './epoch.ts';
import type { RunnerEvent } from './events.ts';
import { endUnleased, isLeaseOver } from './lease.ts';
import { decidePauseOver } from './pause/decide.ts';
import { givenBack, isNextOver, nextUntilOf } from './places.ts';
import { endUnstored, unblockNext } from './progress.ts';
import { KILL_AGAIN_MS, type RunnerState } from './state.ts';

const NOT_KEPT_IN_TIME = 'not all of it was kept in the time that a cancel leaves for that';

/** Everything that is due by now, over all epochs. */
export function decideTick(state: RunnerState, now: Now): RunnerEvent[] {
  const events = decidePauseOver(state, now);
  for (const epoch of state.epochs.values()) {
    if (epoch.phase === 'storing') {
      if (now.monotonic >= (epoch.storeUntil ?? Number.POSITIVE_INFINITY)) {
        events.push(endUnstored(epoch, NOT_KEPT_IN_TIME), ...unblockNext(state, epoch));
      }
    }
    if (isOver(epoch)) continue;
    if (isNextOver(epoch, now)) {
      events.push(givenBack(epoch, now));
      continue;
    }
    const ending = endingOf(epoch);
    if (ending !== null) events.push(...decideKill(epoch, ending, now));
    else events.push(...decideDue(state, epoch, now));
  }
  return events;
}

function decideKill({ order }: Epoch, ending: Termination, now: Now): RunnerEvent[] {
  if (now.monotonic < ending.killAt) return [];
  const killAt = now.monotonic + KILL_AGAIN_MS;
  return [{ kind: 'kill_due', epochId: order.epochId, killAt }];
}

function decideDue(state: RunnerState, epoch: Epoch, now: Now): RunnerEvent[] {
  const { onNodeLoss } = epoch.order;
  const limitMs = limitOf(epoch);
  if (limitMs !== null && beginOf(epoch) !== null && elapsedMs(epoch, now) >= limitMs) {
    const whose = isBuilding(epoch) ? 'the time limit of a build,' : 'its time limit of';
    const why = `reached ${whose} ${formatDuration(limitMs)}`;
    return [begin(epoch, 'timeout', why, now, state)];
  }
  const warning = warningDue(epoch, now);
  if (warning !== null) return [warning];
  if (onNodeLoss.kind !== 'lease' || !isLeaseOver(state, epoch, now)) return [];
  if (epoch.run === null) return [endUnleased(epoch, now)];
  const why = `the head did not answer for the lease of ${formatDuration(onNodeLoss.leaseMs)}`;
  return [begin(epoch, 'lease_expired', why, now, state)];
}

/** Limit for what runs now: a build has one also where its task has none. */
function limitOf(epoch: Epoch): number | null {
  const { walltimeMs, batch } = epoch.order;
  return isBuilding(epoch) ? (batch?.buildMs ?? null) : walltimeMs;
}

/** What an agent was away for that has no more time left for building counts as the task's own. */
export function decideBuilt(state: RunnerState, epochId: EpochId, now: Now): RunnerEvent[] {
  const epoch = state.epochs.get(epochId);
  if (epoch === undefined || !isLaunched(epoch) || !isBuilding(epoch)) return [];
  const tookMs = Math.min(elapsedMs(epoch, now), epoch.order.batch?.buildMs ?? 0);
  return [
    { kind: 'build_over', epochId, at: instantOf(epoch, now), monotonic: now.monotonic, tookMs },
  ];
}

/** Once, however often the agent restarts; a suspended task hears of it when it goes on. */
function warningDue(epoch: Epoch, now: Now): RunnerEvent | null {
  const at = warningAtMs(epoch);
  if (at === null || isStanding(epoch) || elapsedMs(epoch, now) < at) return null;
  const { epochId, warning } = epoch.order;
  const { signal, to } = present(warning, 'the warning');
  const due = { kind: 'warning_due', epochId, signal } as const;
  return to === undefined ? due : { ...due, to };
}

function isStanding({ run }: Epoch): boolean {
  return run === null || run.runningSince === null;
}

/** In ms of running time; null when there is none to come. */
function warningAtMs(epoch: Epoch): number | null {
  const { walltimeMs, warning } = epoch.order;
  if (epoch.run?.warned === true || isBuilding(epoch) || walltimeMs === null || warning == null)
    return null;
  return Math.max(0, walltimeMs - warning.leadMs);
}

function begin(
  epoch: Epoch,
  cause: EndingCause,
  why: string,
  now: Now,
  state: RunnerState,
): RunnerEvent {
  const killAt = now.monotonic + state.killGraceMs;
  const { epochId } = epoch.order;
  return { kind: 'ending_begun', epochId, cause, why, at: instantOf(epoch, now), killAt };
}

/** No grace: what the kernel would do with a cgroup, it does at once. */
export function decideMemoryExceeded(
  state: RunnerState,
  epochId: EpochId,
  now: Now,
): RunnerEvent[] {
  const epoch = state.epochs.get(epochId);
  if (epoch === undefined || endingOf(epoch) !== null || !processesOf(epoch).some(isOpen))
    return [];
  const why = `exceeded its limit of ${formatSize(epoch.order.share.resources.memoryBytes)}`;
  const common = { epochId, cause: 'out_of_memory', why, at: instantOf(epoch, now) } as const;
  const killAt = now.monotonic + KILL_AGAIN_MS;
  return [
    { kind: 'ending_begun', ...common, killAt: now.monotonic },
    { kind: 'kill_due', epochId, killAt },
  ];
}

/** Nothing of it lives that could run out of time. */
function isOver({ phase }: Epoch): boolean {
  return phase === 'sweeping' || phase === 'storing' || phase === 'ended';
}

/** When so much running time is over, monotonic; null: its clock stands still. */
function wallOf({ run }: Epoch, limitMs: number): number | null {
  if (run === null || run.runningSince === null) return null;
  return run.runningSince + limitMs - run.runningMs;
}

/** When this epoch next needs a tick, in monotonic ms; null = not by itself. */
export function deadlineOf(state: RunnerState, epoch: Epoch): number | null {
  if (epoch.phase === 'storing') return epoch.storeUntil ?? null;
  if (isOver(epoch)) return null;
  const nextUntil = nextUntilOf(epoch);
  if (nextUntil !== null) return nextUntil;
  const ending = endingOf(epoch);
  if (ending !== null) return ending.killAt;
  const { onNodeLoss } = epoch.order;
  const next = warningAtMs(epoch) ?? limitOf(epoch);
  const wall = next === null ? null : wallOf(epoch, next);
  // One ms more: the lease is over when more than leaseMs have passed.
  const lease = onNodeLoss.kind === 'lease' ? (state.heardAt ?? 0) + onNodeLoss.leaseMs + 1 : null;
  if (wall === null || lease === null) return wall ?? lease;
  return Math.min(wall, lease);
}
