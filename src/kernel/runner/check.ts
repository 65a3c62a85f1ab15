// The invariants of the runner's state. Throws BrokenInvariant; used by tests and the simulator.

import { assert } from '../base/assert.ts';
import type { EpochId } from '../model/ids.ts';
import { oldestReport } from './books.ts';
import { type Epoch, isNext, isOpen, processesOf } from './epoch.ts';
import { isPaused } from './pause/state.ts';
import { FINISHED_MAX, type RunnerState } from './state.ts';

/** Throws when the books do not agree with each other. */
export function check(state: RunnerState): void {
  let processes = 0;
  for (const [id, epoch] of state.epochs) {
    assert(id === epoch.order.epochId, `epoch ${id} is filed under its own id`);
    assert(!state.finished.has(id), `epoch ${id} is not finished while it is here`);
    assert(state.byTask.get(epoch.taskId)?.has(id), `epoch ${id} is known to its task`);
    checkPhase(id, epoch);
    const isStanding = epoch.phase === 'ended' || epoch.paused === isPaused(state.pauses);
    assert(isStanding, `epoch ${id} is paused with the node`);
    checkLaunchIds(state, epoch);
    processes += processesOf(epoch).length;
  }
  assert(processes === state.byLaunch.size, 'every launch id belongs to a process');
  for (const ids of state.byTask.values()) checkTask(state, ids);
  const waiting = [...state.nextOf.values()].flatMap((ids) => [...ids]);
  const next = [...state.epochs.values()].filter(isNext).length;
  assert(waiting.length === next, 'what waits for a place is listed under its job');
  checkReports(state);
  assert(state.finished.size <= FINISHED_MAX, 'finished epochs are bounded');
}

function checkPhase(id: EpochId, epoch: Epoch): void {
  const open = processesOf(epoch).some(isOpen);
  assert(epoch.run === null || epoch.run.processes.length > 0, `${id}: a run has processes`);
  const going = epoch.phase === 'launching' || epoch.phase === 'running';
  assert(!going || open, `${id}: something is open while ${epoch.phase}`);
  const over = ['sweeping', 'storing', 'ended'].includes(epoch.phase);
  assert(!over || !open, `${id}: nothing is open when ${epoch.phase}`);
}

function checkLaunchIds(state: RunnerState, epoch: Epoch): void {
  processesOf(epoch).forEach(({ launchId }, rank) => {
    const place = state.byLaunch.get(launchId);
    assert(place?.epochId === epoch.order.epochId, `launch ${launchId} is of its epoch`);
    assert(place.rank === rank, `launch ${launchId} has rank ${rank}`);
    assert(launchId < state.nextLaunchId, `launch ${launchId} was given out`);
  });
}

/** At most one epoch of a task has processes or is about to (S3). */
function checkTask(state: RunnerState, ids: ReadonlySet<EpochId>): void {
  assert(ids.size > 0, 'a task without epochs is dropped');
  const active = [...ids].filter((id) => {
    const phase = state.epochs.get(id)?.phase;
    return phase !== 'waiting' && phase !== 'ended';
  });
  assert(active.length <= 1, `one active epoch per task, not ${active.join(', ')}`);
}

function checkReports(state: RunnerState): void {
  let next = oldestReport(state);
  for (const serial of state.reports.keys()) {
    assert(serial === next, `report ${serial} is in order`);
    next += 1;
  }
  assert(next === state.nextReport, 'the last report is the newest');
}
