// What of the history goes: jobs that ended long ago, or that are too many, with their tasks; the
// oldest ids first, a bounded number of rows at a time, so that commits and questions get their
// turn.

import type { Pruned, PruneRule } from '../../ports/store.ts';
import { PRUNE_CALL_STEPS, PRUNE_STEP_ROWS } from './bounds.ts';
import type { Connection } from './connection.ts';
import type { Connect, Steps } from './history-queries.ts';

/** Each `yield` is a place to do something else. Ends before all is gone when there is much. */
export function* pruneInSteps(connect: Connect, rule: PruneRule): Steps<Pruned> {
  let jobs = 0;
  const limits = limitsOf(connect(), rule);
  for (let step = 0; step < PRUNE_CALL_STEPS; step++) {
    const gone = connect().transaction(() => pruneSome(connect(), limits));
    jobs += gone.jobs;
    if (gone.isDone) return { jobs, isDone: true };
    yield;
  }
  return { jobs, isDone: false };
}

interface Limits {
  /** Done jobs that ended before this go. */
  readonly endedBefore: number;
  /** And up to this one, in the order of submission, those that ended before the other instant. */
  readonly submittedUntil: number;
  readonly jobIdUntil: number;
  readonly settledBefore: number;
}

const NEVER = -1;

function limitsOf(
  connection: Connection,
  { endedBefore, jobsMax, settledBefore }: PruneRule,
): Limits {
  const row =
    jobsMax === null
      ? undefined
      : connection
          .statement(
            'SELECT submitted_at, job_id FROM jobs ORDER BY submitted_at DESC, job_id DESC LIMIT 1 OFFSET ?',
          )
          .get(jobsMax);
  const submittedUntil = row === undefined ? NEVER : Number(row['submitted_at']);
  const jobIdUntil = row === undefined ? NEVER : Number(row['job_id']);
  return { endedBefore: endedBefore ?? NEVER, submittedUntil, jobIdUntil, settledBefore };
}

/**
 * A job goes once its tasks are gone: who asks meanwhile sees fewer tasks, never a task of no job.
 */
function pruneSome(connection: Connection, limits: Limits) {
  let rows = 0;
  let jobs = 0;
  for (const jobId of victims(connection, limits)) {
    rows += changed(connection, DROP_TASKS, [jobId, jobId, PRUNE_STEP_ROWS - rows]);
    if (rows >= PRUNE_STEP_ROWS) return { jobs, isDone: false };
    rows += changed(connection, 'DELETE FROM jobs WHERE job_id = ?', [jobId]);
    jobs += 1;
  }
  return { jobs, isDone: jobs < PRUNE_STEP_ROWS };
}

/** No job that was submitted after both limits can be one: the index says where they begin. */
function victims(connection: Connection, limits: Limits): number[] {
  const { endedBefore, submittedUntil, jobIdUntil, settledBefore } = limits;
  const found = connection
    .statement(
      `SELECT job_id FROM jobs WHERE submitted_at <= ? AND state = 'done'
        AND (ended_at < ? OR ((submitted_at, job_id) <= (?, ?) AND ended_at < ?))
        ORDER BY submitted_at LIMIT ?`,
    )
    .all(
      Math.max(endedBefore, submittedUntil),
      endedBefore,
      submittedUntil,
      jobIdUntil,
      settledBefore,
      PRUNE_STEP_ROWS,
    );
  return found.map((row) => Number(row['job_id']));
}

const DROP_TASKS = `DELETE FROM tasks WHERE job_id = ? AND (task_index, epoch) IN
  (SELECT task_index, epoch FROM tasks WHERE job_id = ? LIMIT ?)`;

function changed(connection: Connection, text: string, values: readonly number[]): number {
  return Number(connection.statement(text).run(...values).changes);
}
