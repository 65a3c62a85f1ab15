// Process events → state: what became of single processes of an epoch.

import { present, unreachable } from '../base/assert.ts';
import { epochOf } from './books.ts';
import type { RunnerEvent } from './events.ts';
import type { Epoch, Process, RunnerState } from './state.ts';

type EventOf<Kind extends RunnerEvent['kind']> = Extract<RunnerEvent, { kind: Kind }>;

/** Changes the one process that the event is about, and what its epoch sums up. */
export function applyProcess(
  state: RunnerState,
  event: EventOf<
    | 'process_started'
    | 'process_failed'
    | 'process_exited'
    | 'process_stopped'
    | 'process_continued'
    | 'process_lost'
  >,
): void {
  const epoch = epochOf(state, event.epochId);
  const process = present(epoch.processes[event.rank], `process ${event.rank}`);
  switch (event.kind) {
    case 'process_started':
      process.state = 'running';
      if (epoch.startedAt === null) {
        epoch.startedAt = event.at;
        if (event.bootedAt !== undefined) epoch.bootedAt = event.bootedAt;
      }
      epoch.runningSince ??= event.monotonic;
      return;
    case 'process_failed':
      process.state = 'failed';
      epoch.failure ??= event.failure;
      return;
    case 'process_exited':
      applyExited(epoch, process, event);
      return;
    case 'process_stopped':
      process.state = 'stopped';
      if (epoch.suspendWanted === false && event.found !== true) epoch.suspendWanted = null;
      return;
    case 'process_continued':
      process.state = 'running';
      if (epoch.suspendWanted === true) epoch.suspendWanted = null;
      // Somebody has woken it: it is told once more.
      if (epoch.paused) epoch.suspendTurns += 1;
      return;
    case 'process_lost':
      process.state = 'lost';
      return;
    default:
      unreachable(event);
  }
}

function applyExited(epoch: Epoch, process: Process, event: EventOf<'process_exited'>): void {
  process.state = 'exited';
  process.exit = event.exit;
  process.endedAt = event.endedAt;
  if (event.cancelledThere !== undefined) epoch.cancelledThere = event.cancelledThere;
  const { userUs, systemUs, memoryPeakBytes } = epoch.usage;
  epoch.usage = {
    userUs: userUs + event.usage.userUs,
    systemUs: systemUs + event.usage.systemUs,
    memoryPeakBytes: Math.max(memoryPeakBytes, event.usage.memoryPeakBytes),
  };
}
