// What of the history goes: jobs that ended long ago, or that are too many, with their tasks; the
// oldest ids first, a bounded number of rows at a time, so that commits and questions get their
// turn.

import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Pruned, PruneRule } from '../../ports/store.ts';
import { PRUNE_CALL_STEPS, PRUNE_STEP_ROWS } from './bounds.ts';
import type { Connection } from './connection.ts';
import type { Connect, Steps } from './history-queries.ts';

/** Where rows are written before they go, beside the store. */
export const EXPORTED_FOLDER = 'exported';

/** Each `yield` is a place to do something else. Ends before all is gone when there is much. */
export function* pruneInSteps(connect: Connect, rule: PruneRule, directory: string): Steps<Pruned> {
  let jobs = 0;
  const { exportAs } = rule;
  const limits = limitsOf(connect(), rule);
  for (let step = 0; step < PRUNE_CALL_STEPS; step++) {
    const gone = connect().transaction(() => {
      if (exportAs === undefined) return pruneSome(connect(), limits, null);
      const lines: string[] = [];
      const some = pruneSome(connect(), limits, lines);
      // On the disk before it is gone here: after a crash in between it is there twice, never lost.
      appendLines(join(directory, EXPORTED_FOLDER), `${exportAs}.jsonl`, lines);
      return some;
    });
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

/** A job goes once its tasks are gone: others see fewer tasks, never a task of no job. */
function pruneSome(connection: Connection, limits: Limits, lines: string[] | null) {
  let rows = 0;
  let jobs = 0;
  for (const jobId of victims(connection, limits)) {
    const values = [jobId, jobId, PRUNE_STEP_ROWS - rows];
    rows += dropped(connection, { table: 'tasks', text: DROP_TASKS, values }, lines);
    if (rows >= PRUNE_STEP_ROWS) return { jobs, isDone: false };
    rows += dropped(connection, { table: 'jobs', text: DROP_JOB, values: [jobId] }, lines);
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

const DROP_JOB = 'DELETE FROM jobs WHERE job_id = ?';

interface Drop {
  readonly table: 'jobs' | 'tasks';
  readonly text: string;
  readonly values: readonly number[];
}

/** How many rows went. `lines`: gets them as JSON; null: nobody wants them. */
function dropped(
  connection: Connection,
  { table, text, values }: Drop,
  lines: string[] | null,
): number {
  if (lines === null) return Number(connection.statement(text).run(...values).changes);
  const rows = connection.statement(`${text} RETURNING *`).all(...values);
  for (const row of rows) lines.push(JSON.stringify({ table, ...row }));
  return rows.length;
}

// Lines at the end of a file, whole or not at all, and on the disk when this returns.

const NEWLINE = 10;

/** Throws what the file system says; the file is then as it was. */
function appendLines(folder: string, name: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = openSync(join(folder, name), 'a+', 0o600);
  try {
    const { size } = fstatSync(file);
    try {
      const begin = isWhole(file, size) ? '' : '\n';
      writeFileSync(file, `${begin}${lines.join('\n')}\n`);
      fsyncSync(file);
    } catch (error) {
      ftruncateSync(file, size);
      throw error;
    }
  } finally {
    closeSync(file);
  }
}

/** A machine that went off may have left half a line. */
function isWhole(file: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === NEWLINE);
}
