// Questions about the history, answered in steps of a bounded number of jobs: between two steps
// waiting commits get their turn. Values are bound, never put into the text.

import { ANY_FAILURE } from '../../model/job.ts';
import type { HistoryQuery, JobRow, TaskRow, UsageQuery, UsageRow } from '../../ports/history.ts';
import { QUERY_STEP_ENDS, QUERY_STEP_JOBS } from './bounds.ts';
import type { Connection } from './connection.ts';
import { JOB_COLUMNS, TASK_COLUMNS, type Value } from './history-rows.ts';
import { UsageSums } from './usage-sums.ts';

/** Ends with the answer; each `yield` is a place to do something else. */
export type Steps<T> = Generator<void, T>;

/** Asked for anew in each step, as a failure in between replaces the connection. */
export type Connect = () => Connection;

interface Condition {
  readonly text: string;
  readonly value: Value;
}

/** Ids from `from` up to but not including `until`. */
interface Range {
  readonly from: number;
  readonly until: number;
}

export function* jobsInSteps(connect: Connect, query: HistoryQuery): Steps<JobRow[]> {
  const conditions = [...jobConditions(query), ...endedAs('jobs.outcome', query)];
  const columns =
    query.withoutSpecs === true ? COLUMNS_WITHOUT_SPEC : selected('jobs', JOB_COLUMNS);
  const rows: JobRow[] = [];
  for (const range of ranges(connect(), query, Number.POSITIVE_INFINITY)) {
    const text = `SELECT ${columns} FROM jobs WHERE jobs.job_id >= ? AND jobs.job_id < ?
      ${and(conditions)} ORDER BY jobs.job_id DESC LIMIT ?`;
    const values = bound(range, conditions, query.limit - rows.length);
    const found = connect()
      .statement(text)
      .all(...values);
    rows.push(...(found as unknown as JobRow[]));
    if (rows.length >= query.limit) break;
    yield;
  }
  return rows;
}

export function* tasksInSteps(connect: Connect, query: HistoryQuery): Steps<TaskRow[]> {
  const conditions = taskConditions(query);
  if (query.ended !== undefined) {
    return yield* endsInSteps(connect, conditions, { from: query.ended.from, limit: query.limit });
  }
  const rows = restOfJob(connect(), query, conditions);
  const below = query.afterTask?.jobId ?? Number.POSITIVE_INFINITY;
  for (const range of ranges(connect(), query, below)) {
    if (rows.length >= query.limit) break;
    rows.push(...tasksOf(connect(), range, conditions, query.limit - rows.length));
    yield;
  }
  return rows;
}

const END = '(tasks.ended_at, tasks.job_id, tasks.task_index, tasks.epoch)';
const NEWEST_END = `ORDER BY tasks.ended_at DESC, tasks.job_id DESC, tasks.task_index DESC,
  tasks.epoch DESC`;
const ENDS = 'tasks INDEXED BY tasks_by_end';

/** From the newest end to the oldest one wanted, so many ends at a time. */
function* endsInSteps(
  connect: Connect,
  conditions: readonly Condition[],
  { from, limit }: { readonly from: number; readonly limit: number },
): Steps<TaskRow[]> {
  const oldest = [from, 0, 0, 0];
  const step = `SELECT ended_at, job_id, task_index, epoch FROM ${ENDS}
    WHERE ${END} < (?, ?, ?, ?) AND ${END} >= (?, ?, ?, ?) ${NEWEST_END} LIMIT 1 OFFSET ?`;
  const text = `SELECT ${selected('tasks', TASK_COLUMNS)} FROM ${ENDS}
    CROSS JOIN jobs ON jobs.job_id = tasks.job_id
    WHERE ${END} < (?, ?, ?, ?) AND ${END} >= (?, ?, ?, ?) ${and(conditions)}
    ${NEWEST_END} LIMIT ?`;
  const rows: TaskRow[] = [];
  let below: Value[] | null = Array.from({ length: 4 }, () => Number.MAX_SAFE_INTEGER);
  while (below !== null && rows.length < limit) {
    const last: object | undefined = connect()
      .statement(step)
      .get(...below, ...oldest, QUERY_STEP_ENDS - 1);
    const until: Value[] = last === undefined ? oldest : (Object.values(last) as Value[]);
    const values = [...below, ...until, ...conditions.map(({ value }) => value)];
    const found = connect()
      .statement(text)
      .all(...values, limit - rows.length);
    rows.push(...asTasks(found));
    below = last === undefined ? null : until;
    yield;
  }
  return rows;
}

const USAGE_KEYS = {
  user: 'jobs.owner',
  partition: 'jobs.partition',
  outcome: 'tasks.outcome',
  gpu: "ifnull(tasks.gpu_type, '')",
};

export function* usageInSteps(connect: Connect, query: UsageQuery): Steps<UsageRow[]> {
  const conditions = [
    ...maybe('tasks.ended_at >= ?', query.from),
    ...maybe('tasks.ended_at < ?', query.until),
    ...maybe('jobs.owner = ?', query.owner),
    ...maybe('jobs.partition = ?', query.partition),
  ];
  // Numbers are bound as REAL: without the cast this is no whole number.
  const step = query.stepMs === null ? '0' : 'CAST((tasks.ended_at - ?) / ? AS INTEGER)';
  const stepValues = query.stepMs === null ? [] : [query.from, query.stepMs];
  const time = 'ifnull(tasks.ended_at - tasks.started_at, 0)';
  const held = (own: string, asked: string) =>
    `total(${time} * ifnull(tasks.${own}, jobs.node_count * jobs.${asked}))`;
  const text = `SELECT ${USAGE_KEYS[query.by]} AS key, ${step} AS step,
    count(*) AS starts, sum(tasks.final) AS tasks, total(tasks.user_us + tasks.system_us) AS usedUs,
    ${held('held_cpus', 'cpu_count')} AS cpuMs,
    ${held('held_memory_bytes', 'memory_bytes')} AS memoryByteMs,
    total(${time} * ifnull(tasks.gpu_count, 0)) AS gpuMs
    FROM tasks CROSS JOIN jobs ON jobs.job_id = tasks.job_id
    WHERE tasks.job_id >= ? AND tasks.job_id < ? ${and(conditions)} GROUP BY 1, 2`;
  const sums = new UsageSums();
  for (const { from, until } of ranges(connect(), { limit: 1 }, Number.POSITIVE_INFINITY)) {
    const values = [...stepValues, from, until, ...conditions.map(({ value }) => value)];
    const rows = connect()
      .statement(text)
      .all(...values);
    for (const row of rows as unknown as UsageRow[]) sums.add(row);
    yield;
  }
  return sums.rows();
}

/** The tasks that follow `afterTask` within its own job. */
function restOfJob(
  connection: Connection,
  query: HistoryQuery,
  conditions: readonly Condition[],
): TaskRow[] {
  const after = query.afterTask;
  if (after === undefined || query.limit <= 0) return [];
  if (query.belowJobId !== undefined && after.jobId >= query.belowJobId) return [];
  const text = taskText(`tasks.job_id = ? AND (tasks.task_index, tasks.epoch) > (?, ?)
    ${and(conditions)}`);
  const values = [after.jobId, after.taskIndex, after.epoch, ...conditions.map((c) => c.value)];
  return asTasks(connection.statement(text).all(...values, query.limit));
}

function tasksOf(
  connection: Connection,
  range: Range,
  conditions: readonly Condition[],
  limit: number,
): TaskRow[] {
  const text = taskText(`tasks.job_id >= ? AND tasks.job_id < ? ${and(conditions)}`);
  return asTasks(connection.statement(text).all(...bound(range, conditions, limit)));
}

// CROSS JOIN fixes the order of the tables: tasks are read in the order of their key, so that the
// limit ends the reading, also inside an array of a million tasks.
function taskText(where: string): string {
  return `SELECT ${selected('tasks', TASK_COLUMNS)} FROM tasks
    CROSS JOIN jobs ON jobs.job_id = tasks.job_id WHERE ${where}
    ORDER BY tasks.job_id DESC, tasks.task_index, tasks.epoch LIMIT ?`;
}

function asTasks(found: readonly Record<string, unknown>[]): TaskRow[] {
  return found.map((row) => ({ ...row, final: row['final'] === 1 }) as unknown as TaskRow);
}

function jobConditions(query: HistoryQuery): Condition[] {
  return [
    ...maybe('jobs.job_id IN (SELECT value FROM json_each(?))', idList(query.jobIds)),
    ...maybe('jobs.owner = ?', query.owner),
    ...maybe('jobs.state = ?', query.state),
    ...maybe('jobs.name = ?', query.name),
    ...maybe('jobs.submitted_at >= ?', query.submittedFrom),
    ...maybe('jobs.submitted_at < ?', query.submittedUntil),
    ...maybe(HAS_WORDS, wordList(query.words)),
  ];
}

function taskConditions(query: HistoryQuery): Condition[] {
  return [
    ...jobConditions(query),
    // Said as plainly, so that one task of a large array is looked up, and not looked for.
    ...maybe('tasks.job_id = ?', query.jobIds?.length === 1 ? query.jobIds[0] : undefined),
    ...endedAs('tasks.outcome', query),
    ...maybe('tasks.task_index = ?', query.taskIndex),
    ...maybe('(tasks.started_at IS NOT NULL) = ?', query.ended === undefined ? undefined : 1),
    ...maybe("instr(',' || tasks.nodes || ',', ?) > 0", inList(query.ended?.node)),
    ...maybe(`${IS_LAST_EPOCH} = ?`, query.lastEpochs === true ? 1 : undefined),
  ];
}

// One look-up in the key of the table.
const IS_LAST_EPOCH = `NOT EXISTS (SELECT 1 FROM tasks AS later WHERE later.job_id = tasks.job_id
  AND later.task_index = tasks.task_index AND later.epoch > tasks.epoch)`;

function endedAs(column: string, { outcome }: HistoryQuery): Condition[] {
  // The same as `isFailure` says.
  const isFailure = `${column} NOT IN ('completed', 'cancelled')`;
  return outcome === ANY_FAILURE
    ? [{ text: `(${isFailure}) = ?`, value: 1 }]
    : maybe(`${column} = ?`, outcome);
}

function maybe(text: string, value: Value | undefined): Condition[] {
  return value === undefined ? [] : [{ text, value }];
}

// The same text as `searchText` makes.
const HAS_WORDS = `weft_has_words(jobs.job_id || char(10) || jobs.name || char(10) || jobs.owner ||
  char(10) || jobs.partition || char(10) || jobs.command || char(10) ||
  ifnull(jobs.outcome, jobs.state), ?)`;

/** No word has a line's end in it. */
function wordList(words: readonly string[] | undefined): string | undefined {
  return words === undefined || words.length === 0 ? undefined : words.join('\n');
}

/** The name as it stands in a list between commas. */
function inList(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `,${name},`;
}

function idList(ids: readonly number[] | undefined): string | undefined {
  return ids === undefined ? undefined : JSON.stringify(ids);
}

function and(conditions: readonly Condition[]): string {
  return conditions.map((condition) => ` AND ${condition.text}`).join('');
}

function bound(range: Range, conditions: readonly Condition[], limit: number): Value[] {
  return [range.from, range.until, ...conditions.map((condition) => condition.value), limit];
}

function selected(table: string, columns: Readonly<Record<string, string>>): string {
  return Object.entries(columns)
    .map(([field, column]) => `${table}.${column} AS ${field}`)
    .join(', ');
}

const { spec: _, ...SHORT_COLUMNS } = JOB_COLUMNS;
const COLUMNS_WITHOUT_SPEC = `${selected('jobs', SHORT_COLUMNS)}, '' AS spec`;

/** From the newest job in question to the oldest, a step's worth of ids a time; below `below`. */
function* ranges(connection: Connection, query: HistoryQuery, below: number): Generator<Range> {
  const { first, last } = connection.statement(ID_BOUNDS).get() as unknown as Bounds;
  if (first === null || last === null || query.limit <= 0) return;
  const ids = query.jobIds?.filter((id) => id >= first && id <= last) ?? [first, last];
  const lowest = ids.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const oldest = Math.max(lowest, query.fromJobId ?? 0);
  const newest = ids.reduce((a, b) => Math.max(a, b), 0);
  let until = Math.min(newest + 1, below, query.belowJobId ?? Number.POSITIVE_INFINITY);
  while (until > oldest) {
    const from = Math.max(oldest, until - QUERY_STEP_JOBS);
    yield { from, until };
    until = from;
  }
}

interface Bounds {
  readonly first: number | null;
  readonly last: number | null;
}

// Two look-ups at the ends of the key; `SELECT min(…), max(…)` in one would read the whole table.
const ID_BOUNDS = `SELECT (SELECT min(job_id) FROM jobs) AS first,
  (SELECT max(job_id) FROM jobs) AS last`;
