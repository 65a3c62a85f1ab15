// Pools as the API shows them.

import { firstPending, jobState } from '../../../kernel/head/answers/job-state.ts';
import type { Reasons } from '../../../kernel/head/answers/reasons.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import { shownState } from '../../../kernel/machine/tasks/shown-state.ts';
import type { TaskState } from '../../../kernel/model/job.ts';
import type { PoolView } from '../api/pools.ts';
import { targetOf } from '../model/pool.ts';

/** What is known of its calls; null: it takes none any more. */
type Calls = (NonNullable<PoolView['calls']> & { readonly waits: string | null }) | null;

/** `job` is a pool. */
export function viewPool(job: Job, known: Calls, reasons: Reasons): PoolView {
  const { waits = null, ...calls } = known ?? {};
  const { id, owner, spec, outcome, losses, submittedAt, endedAt } = job;
  const {
    name = null,
    min = 0,
    max = 0,
    idleMs = 0,
    isTemporary = false,
    image = null,
    python = null,
  } = spec.pool ?? {};
  const { perNode } = spec.request;
  return {
    id,
    name,
    owner,
    state: jobState(job),
    outcome: outcome?.kind ?? null,
    min,
    max,
    idleMs,
    temporary: isTemporary,
    target: targetOf(spec),
    workers: workersOf(job),
    reason: withWaits(reasonOf(job, reasons), waits),
    losses,
    image,
    python,
    calls: known === null ? null : (calls as PoolView['calls']),
    partition: spec.partition,
    perWorker: { ...perNode, counted: { ...perNode.counted } },
    submittedAt,
    endedAt,
  };
}

function workersOf(job: Job): PoolView['workers'] {
  const workers: Partial<Record<TaskState, number>> = {};
  for (const task of job.active.values()) {
    if (task.parts.size === 0) continue;
    const state = shownState(task);
    workers[state] = (workers[state] ?? 0) + 1;
  }
  return workers;
}

/** Also what its workers wait for, however many it has. */
function withWaits(reason: PoolView['reason'], waits: string | null): PoolView['reason'] {
  if (waits === null) return reason;
  return reason === null
    ? { kind: 'calls', words: waits }
    : { ...reason, words: `${reason.words}; ${waits}` };
}

function reasonOf(job: Job, reasons: Reasons): PoolView['reason'] {
  if (job.outcome !== null || job.entry.running >= targetOf(job.spec)) return null;
  const index = firstPending(job);
  return index === undefined ? null : reasons.of(job, index);
}
