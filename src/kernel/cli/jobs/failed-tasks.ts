// Which tasks of a job ended badly, and the last lines of one of them: what somebody looks for
// first.

import type { JobDetail, ListTasksReply, TaskView } from '../../api/jobs.ts';
import type { Api } from '../../connect/api.ts';
import { Failure } from '../../model/failure.ts';
import { printable } from '../output/table.ts';
import { STREAMS, type Stream } from './follow-job.ts';
import { logSize } from './log-size.ts';

const TASKS_PER_PAGE = 1000;
const LINES_MAX = 10;
/** Enough for as many lines of a stack or of a compiler. */
const TAIL_BYTES = 4096;
/** There is nothing to show: somebody else's output, or none that the head has. */
const WITHOUT_OUTPUT = new Set(['permission_denied', 'failed_precondition', 'not_found']);

type Counted = Pick<JobDetail, 'outcomeCounts' | 'outcome' | 'array'>;

/** How many of its tasks ended, and neither completed nor were cancelled. */
export function failedCount({ outcomeCounts, outcome, array }: Counted): number {
  if (array === null) return outcome !== null && isFailure(outcome.kind) ? 1 : 0;
  const counts = Object.entries(outcomeCounts ?? {});
  return counts.reduce((sum, [kind, count]) => sum + (isFailure(kind) ? count : 0), 0);
}

/** The first of them by index, `limit` at most. */
export async function failedTasks(
  api: Api,
  job: Counted & Pick<JobDetail, 'id'>,
  limit = Number.POSITIVE_INFINITY,
): Promise<TaskView[]> {
  const count = Math.min(limit, failedCount(job));
  const found: TaskView[] = [];
  if (count === 0) return found;
  for await (const task of allTasks(api, String(job.id))) {
    if (task.outcome !== null && isFailure(task.outcome.kind)) found.push(task);
    if (found.length === count) break;
  }
  return found;
}

/** The tasks of a job by index, page by page. */
export async function* allTasks(api: Api, id: string): AsyncGenerator<TaskView> {
  let after: number | undefined;
  for (;;) {
    const query = { after, limit: TASKS_PER_PAGE };
    const page: ListTasksReply = await api.call('listTasks', { params: { id }, query });
    yield* page.tasks;
    if (page.next === null) return;
    after = page.next;
  }
}

function isFailure(kind: string): boolean {
  return kind !== 'completed' && kind !== 'cancelled';
}

/** The end of what the first failed task wrote, with a title; empty where there is none. */
export async function lastLines(api: Api, job: JobDetail): Promise<string[]> {
  const [task] = await failedTasks(api, job, 1);
  if (task === undefined) return [];
  for (const stream of [...STREAMS].reverse()) {
    if (job.files[stream] !== undefined) continue;
    const lines = await tail(api, job, { task, stream });
    if (lines.length === 0) continue;
    const name = task.index === null ? task.id : `'${task.id}'`;
    const command = `weft logs ${name}${stream === 'stderr' ? ' -e' : ' -o'}`;
    return ['', `Last lines of ${command}:`, ...lines.map((line) => `  ${printable(line)}`)];
  }
  return [];
}

interface Written {
  readonly task: TaskView;
  readonly stream: Stream;
}

async function tail(api: Api, job: JobDetail, { task, stream }: Written): Promise<string[]> {
  const { node = '', rank = 0 } = task.outcome?.process ?? {};
  // What the ranks of an MPI program say comes through the one process that starts them.
  const isMpi = job.ranksPerNode !== null;
  const nodeRank = isMpi ? 0 : Math.max(0, task.nodes.indexOf(node));
  const which = { stream, nodeRank, rank: isMpi ? 0 : rank, follow: false };
  try {
    const size = await logSize(api, task.id, which);
    if (size === 0) return [];
    const offset = Math.max(0, size - TAIL_BYTES);
    const asked = { params: { id: task.id }, query: { ...which, offset } };
    const text = await textOf(await api.stream('readLogs', asked));
    const lines = text.trimEnd().split('\n').slice(-LINES_MAX);
    return lines.length === 1 && lines[0] === '' ? [] : lines;
  } catch (error) {
    if (!(error instanceof Failure) || !WITHOUT_OUTPUT.has(error.kind)) throw error;
    return [];
  }
}

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece as Uint8Array);
  return Buffer.concat(pieces).toString();
}
