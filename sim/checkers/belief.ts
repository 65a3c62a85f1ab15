// What the head believes, held against itself (S9) and against what really happened.

import { BrokenInvariant } from '../../src/kernel/base/assert.ts';
import { check as checkController } from '../../src/kernel/machine/check.ts';
import type { Event } from '../../src/kernel/machine/declared.ts';
import type { State } from '../../src/kernel/machine/state.ts';
import { formatEpochId, formatTaskId, type JobId } from '../../src/kernel/model/ids.ts';
import type { Outcome } from '../../src/kernel/model/job.ts';
import { check as checkRunner } from '../../src/kernel/runner/check.ts';
import type { RunnerState } from '../../src/kernel/runner/state.ts';
import type { MemoryDisk } from '../memory-store.ts';
import type { SimProcess } from '../process.ts';
import type { JobTruth, Truth } from '../truth.ts';
import { Violation } from '../violation.ts';

/** S9: the books of the head, or of an agent, agree. */
export function checkBooks(of: { head: State } | { agent: RunnerState }): void {
  try {
    if ('head' in of) checkController(of.head);
    else checkRunner(of.agent);
  } catch (error) {
    if (!(error instanceof BrokenInvariant)) throw error;
    throw new Violation('S9', error.message, error);
  }
}

/** S1: what was accepted is in memory or, once retired, in the history; and it is the same job. */
export function checkAccepted(
  accepted: ReadonlyMap<string, JobId>,
  state: State,
  disk: MemoryDisk,
): void {
  for (const [name, id] of accepted) {
    const found = state.jobs.get(id)?.spec.name ?? disk.jobs.get(id)?.name;
    if (found === name) continue;
    throw new Violation('S1', `job ${id} was accepted as ${name} and is now ${found ?? 'lost'}`);
  }
}

/** S6: what the disk once said of an end, memory still says after a restart. */
export function checkFinal(truth: Truth, state: State): void {
  for (const [id, { outcome }] of truth.jobs) {
    const now = state.jobs.get(id);
    if (outcome === null || now === undefined) continue;
    if (now.outcome?.kind !== outcome.kind) {
      const words = `job ${id} ended ${outcome.kind} and is now ${now.outcome?.kind ?? 'not done'}`;
      throw new Violation('S6', words);
    }
  }
}

/** A task's outcome is what its processes did. */
export function checkOutcome(truth: Truth, event: Extract<Event, { kind: 'task_done' }>): void {
  const { place, outcome } = event;
  const job = truth.jobs.get(place.jobId);
  // The program of a maintenance may be told to restart its node, and dies of that as it should.
  const isDown = job?.spec.system !== undefined && outcome.detail === 'restarted its node';
  if (job === undefined || isDown) return;
  const epoch = truth.taskOf(place).epoch;
  const epochId = formatEpochId(formatTaskId(place.jobId, place.index), epoch);
  const ran = truth.ran.get(epochId) ?? [];
  const lie = lieOf(job, outcome, ran);
  if (lie !== null) throw new Violation('belief', `${epochId} is ${outcome.kind}, but ${lie}`);
}

function lieOf(job: JobTruth, outcome: Outcome, ran: readonly SimProcess[]): string | null {
  const { nodeCount, processesPerNode } = job.spec.request;
  switch (outcome.kind) {
    case 'completed': {
      if (job.spec.mpi !== undefined) return lieOfProgram(ran);
      const bad = ran.find(({ exit }) => exit?.code !== 0);
      if (bad !== undefined) return `a process ended ${JSON.stringify(bad.exit)}`;
      const wanted = nodeCount * processesPerNode;
      return ran.length === wanted ? null : `${ran.length} of ${wanted} processes ran`;
    }
    case 'failed': {
      const { code, signal } = outcome.exit ?? {};
      const match = ran.some(({ exit }) => exit?.code === code && exit?.signal === signal);
      return match ? null : `no process ended ${JSON.stringify(outcome.exit)}`;
    }
    case 'timeout':
      return job.spec.walltimeMs === null ? 'it had no walltime' : null;
    default:
      return null;
  }
}

/** An MPI task is what its program on the first node says; the others' servers are ended. */
function lieOfProgram(ran: readonly SimProcess[]): string | null {
  const first = ran.filter(({ variables }) => variables.get('WEFT_NODE_RANK') === '0');
  if (first.length !== 1) return `its program ran ${first.length} times`;
  return first[0]?.exit?.code === 0 ? null : `its program ended ${JSON.stringify(first[0]?.exit)}`;
}
