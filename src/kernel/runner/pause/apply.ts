// What a pause does to the epochs that are here, and what the head is told of it.

import { addReport } from '../books.ts';
import { type Epoch, pauseWalltime } from '../epoch.ts';
import type { RunnerEvent } from '../events.ts';
import type { RunnerState } from '../state.ts';
import { isPaused, shownPause } from './state.ts';

type EventOf<Kind extends RunnerEvent['kind']> = Extract<RunnerEvent, { kind: Kind }>;

export function applyPause(
  state: RunnerState,
  event: EventOf<'pause_set' | 'yield_set' | 'pause_rebased'>,
): void {
  const { pauses } = state;
  if (event.kind === 'pause_rebased') {
    if (pauses.asked !== null) pauses.asked = { ...pauses.asked, endsAt: event.endsAt };
    return;
  }
  const wasPaused = isPaused(pauses);
  if (event.kind === 'pause_set') {
    pauses.asked = event.pause;
    pauses.orderHeard = event.serial ?? pauses.orderHeard;
  } else pauses.yielding = event.yielding;
  tell(state, event);
  if (wasPaused === isPaused(pauses)) return;
  for (const epoch of state.epochs.values())
    turn(epoch, { paused: !wasPaused, monotonic: event.monotonic });
}

/** Before any report of a task that stops or goes on for it: the head then knows why. */
function tell(state: RunnerState, event: EventOf<'pause_set' | 'yield_set'>): void {
  const { pauses } = state;
  pauses.turn += 1;
  const { turn, orderHeard } = pauses;
  const why = event.kind === 'pause_set' ? (event.why ?? null) : null;
  addReport(state, {
    kind: 'node_pause',
    at: event.at,
    turn,
    orderHeard,
    pause: shownPause(pauses),
    ...(why === null ? {} : { why }),
  });
}

function turn(
  epoch: Epoch,
  { paused, monotonic }: { readonly paused: boolean; readonly monotonic: number },
): void {
  if (epoch.phase === 'ended') return;
  epoch.paused = paused;
  epoch.suspendTurns += 1;
  if (paused) {
    // Of one that stands still already nobody will tell again that it has stopped.
    if (epoch.run?.suspended === true) pauseWalltime(epoch.run, monotonic);
  } else if (epoch.wanted === null && epoch.phase === 'running') {
    epoch.wanted = 'resume';
  }
}
