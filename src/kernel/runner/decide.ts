// One input → the events that follow from it. Decides nothing twice: the same input again, after
// its events were applied, gives none.

import { unreachable } from '../base/assert.ts';
import { isNewer } from '../model/life.ts';
import { oldestReport } from './books.ts';
import type { Now } from './epoch.ts';
import type { RunnerEvent } from './events.ts';
import type { RunnerInput } from './inputs.ts';
import { decideOrder, decideRefused } from './orders.ts';
import { decidePause, decideUnpause, decideYield } from './pause/decide.ts';
import { giveAllBack } from './places.ts';
import { decideProcess } from './processes.ts';
import {
  decideGivenBack,
  decidePrepared,
  decidePrepareFailed,
  decideReleased,
  decideStored,
  decideSwept,
} from './progress.ts';
import type { RunnerState } from './state.ts';
import { decideBuilt, decideMemoryExceeded, decideTick } from './time.ts';

/** What follows from an input; changes nothing. */
export function decide(state: RunnerState, input: RunnerInput, now: Now): RunnerEvent[] {
  switch (input.kind) {
    case 'order':
      return decideOrder(state, input.order, now);
    case 'refused':
      return decideRefused(state, input, input.why, now);
    case 'prepared':
      return decidePrepared(state, input.epochId, input.preparation, now);
    case 'prepare_failed':
      return decidePrepareFailed(state, input, now);
    case 'given_back':
      return decideGivenBack(state, input.epochId, input.why, now);
    case 'process':
      return decideProcess(state, input.event, now);
    case 'memory_exceeded':
      return decideMemoryExceeded(state, input.epochId, now);
    case 'built':
      return decideBuilt(state, input.epochId, now);
    case 'swept':
      return decideSwept(state, input, now);
    case 'stored':
      return decideStored(state, input.epochId, input.stored, now);
    case 'released':
      return decideReleased(state, input.epochId);
    case 'closed':
      return giveAllBack(state, now);
    case 'tick':
      return decideTick(state, now);
    case 'reports_acknowledged':
      return decideAcknowledged(state, input.upTo);
    case 'heard':
      return decideHeard(state, input.sentAt);
    case 'stamp':
      return isNewer(input.stamp, state.stamp) ? [{ kind: 'stamped', stamp: input.stamp }] : [];
    case 'kill_grace':
      if (input.graceMs === state.killGraceMs) return [];
      return [{ kind: 'kill_grace_set', graceMs: input.graceMs }];
    case 'pause':
      return decidePause(state, input, now);
    case 'unpause':
      return decideUnpause(state, input.by, now);
    case 'yield':
      return decideYield(state, input.yielding, now);
    case 'launch_ids_used':
      return input.upTo < state.nextLaunchId ? [] : [{ kind: 'launch_ids_used', upTo: input.upTo }];
    default:
      return unreachable(input);
  }
}

function decideAcknowledged(state: RunnerState, upTo: number): RunnerEvent[] {
  if (state.reports.size === 0 || oldestReport(state) > upTo) return [];
  return [{ kind: 'reports_acknowledged', upTo }];
}

/** The lease counts from sending: the head cannot have heard us later than it answered. */
function decideHeard(state: RunnerState, sentAt: number): RunnerEvent[] {
  return state.heardAt !== null && sentAt <= state.heardAt ? [] : [{ kind: 'heard', sentAt }];
}
