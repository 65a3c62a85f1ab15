// Process events → state: what became of single processes of an epoch.

import { present, unreachable } from '../base/assert.ts';
import { epochOf, runOf } from './books.ts';
import type { Process, Run, Start } from './epoch.ts';
import type { RunnerEvent } from './events.ts';
import type { RunnerState } from './state.ts';

type OpenOrGone = Exclude<Process['state'], 'exited'>;
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
  const { epochId, rank } = event;
  const epoch = epochOf(state, epochId);
  const run = runOf(state, epochId);
  switch (event.kind) {
    case 'process_started':
      setProcess(run, rank, 'running');
      run.start ??= startOf(event);
      run.runningSince ??= event.monotonic;
      return;
    case 'process_failed':
      setProcess(run, rank, 'failed');
      run.failure ??= event.failure;
      return;
    case 'process_exited':
      applyExited(run, event);
      return;
    case 'process_stopped':
      setProcess(run, rank, 'stopped');
      if (epoch.wanted === 'resume' && event.found !== true) epoch.wanted = null;
      return;
    case 'process_continued':
      setProcess(run, rank, 'running');
      if (epoch.wanted === 'suspend') epoch.wanted = null;
      // Somebody has woken it: it is told once more.
      if (epoch.paused) epoch.suspendTurns += 1;
      return;
    case 'process_lost':
      setProcess(run, rank, 'lost');
      if (event.why !== undefined) run.lostWhy ??= event.why;
      return;
    default:
      unreachable(event);
  }
}

/** Another state of one process that has not exited. */
export function setProcess(run: Run, rank: number, state: OpenOrGone): void {
  const { launchId } = processAt(run, rank);
  run.processes[rank] = { launchId, state };
}

function processAt(run: Run, rank: number): Process {
  return present(run.processes[rank], `process ${rank}`);
}

function startOf({ at, bootedAt }: EventOf<'process_started'>): Start {
  return bootedAt === undefined ? { at } : { at, bootedAt };
}

function applyExited(run: Run, event: EventOf<'process_exited'>): void {
  const { rank, exit, endedAt, cancelledThere } = event;
  const { launchId } = processAt(run, rank);
  run.processes[rank] = { launchId, state: 'exited', exit, endedAt };
  if (cancelledThere !== undefined) run.cancelledThere = cancelledThere;
  const { userUs, systemUs, memoryPeakBytes } = run.usage;
  run.usage = {
    userUs: userUs + event.usage.userUs,
    systemUs: systemUs + event.usage.systemUs,
    memoryPeakBytes: Math.max(memoryPeakBytes, event.usage.memoryPeakBytes),
  };
}
