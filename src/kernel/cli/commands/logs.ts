// `weft logs`: the captured output of a job: of its one process as it is, of several with labels.

import { Option } from 'commander';
import type { JobDetail } from '../../api/jobs.ts';
import { parseSize } from '../../base/size.ts';
import { refuse } from '../../model/errors.ts';
import { failure, usage } from '../../model/failure.ts';
import type { Item } from '../../model/job.ts';
import { parseCount } from '../../model/submission-values.ts';
import { withPatience } from '../connection/patience.ts';
import type { Context } from '../context.ts';
import { readTaskPath } from '../ids.ts';
import { allTasks, failedCount, failedTasks } from '../jobs/failed-tasks.ts';
import {
  copyJob,
  type FollowedJob,
  lackingOf,
  type OutputRange,
  type Stream,
} from '../jobs/follow-job.ts';
import { defineFailed } from '../jobs/row-options.ts';
import { tellStandstill } from '../jobs/standstill.ts';
import { defineStreams, type StreamChoice, streamsOf } from '../jobs/streams.ts';
import { read } from '../submit/read.ts';
import { defineVerb } from '../verb.ts';

interface Options extends StreamChoice {
  readonly follow?: boolean;
  readonly failed?: boolean;
  readonly index?: string;
  readonly epoch?: string;
  readonly node?: string;
  readonly rank?: string;
  readonly offset?: string;
  readonly limit?: string;
  readonly last?: string;
}

const HEAD_AWAY_MAX_MS = 120_000;

export const verb = defineVerb<Options>({
  define(command) {
    command.argument(
      '<job>',
      'job id: 42, or 42[7] for one task; where there are several processes each line says which',
    );
    command.option('-f, --follow', 'go on until the task is done and all output is there');
    defineFailed(command, 'of an array, only the output of tasks that failed', 'follow');
    defineStreams(command);
    command.option('-i, --index <index>', 'which task of an array');
    command.option('--epoch <number>', 'which start of the task (default: the last)');
    command.option('--node <rank>', 'only from this of its nodes, from 0');
    command.option('-r, --rank <rank>', 'only of this process on each node, from 0');
    command.option('--offset <bytes>', 'leave out this many bytes at the beginning of one stream');
    command.option('--limit <bytes>', 'stop after this many bytes of one stream');
    const last = new Option('--last <size>', 'only so much at the end of each stream: 64K');
    command.addOption(last.conflicts(['offset', 'limit']));
  },
  async run({ context, args: [job = ''], options }) {
    const id = readTaskPath(job, options.index);
    const part = readPart(options);
    const followed = await findJob(context, id);
    if (followed.array !== null && options.epoch !== undefined) {
      throw usage(`--epoch: job ${id} is an array; name one task of it, as ${id}[0]`);
    }
    // Bytes are counted in one stream.
    const counts = part.offset !== undefined || part.limit !== undefined;
    const streams = streamsOf({ ...options, stdout: options.stdout || counts });
    tellElsewhere(context, followed, streams);
    const follow = options.follow === true;
    const isSome = options.failed === true && followed.array !== null;
    const first = follow ? [] : await failedFirst(context, followed, isSome);
    if (isSome && first.length === 0) return 0;
    const { items, begun } = await tasksHere(context, followed);
    const shown = follow ? followed.array : begun;
    if (shown === '') {
      context.note(`no task of job ${id} has started`);
      return 0;
    }
    const array = isSome ? first.join(',') : shown;
    const whole = { ...followed, array, first, items };
    const still = follow ? tellStandstill(context, id) : null;
    const copying = copyJob(context, whole, { follow, streams, part });
    const lacking = await copying.finally(() => still?.stop());
    const failures = lacking.map(lackingOf);
    for (const { message } of failures.slice(1)) context.note(message);
    if (failures[0] !== undefined) throw failures[0];
    return 0;
  },
});

/** Tasks of an array that failed: what they wrote is what one looks for. */
async function failedFirst(
  context: Context,
  { array, detail }: Found,
  isAlone: boolean,
): Promise<number[]> {
  if (array === null) return [];
  if (failedCount(detail) === 0) {
    if (isAlone) context.note(`no task of job ${detail.id} failed`);
    return [];
  }
  const failed = await failedTasks(await context.api(), detail);
  const { id, taskCount } = detail;
  const first = isAlone ? '' : '; they come first';
  context.note(`${failed.length} of ${taskCount} tasks of job ${id} failed${first}`);
  return failed.flatMap(({ index }) => index ?? []);
}

/** To ask for the output of fewer tasks is as quick as to ask which have begun. */
const LISTED_TASKS_MIN = 100;

/**
 * Items by index, where the job has any; and which of its tasks may have written something, as
 * `0,2`: of many, those that have started, or ended without a start and for another reason than
 * that somebody cancelled them.
 */
async function tasksHere(
  context: Context,
  { array, detail }: Found,
): Promise<{ readonly items: ReadonlyMap<number, Item>; readonly begun: string | null }> {
  const items = new Map<number, Item>();
  const isLong = detail.taskCount >= LISTED_TASKS_MIN;
  if (array === null || (detail.hasItems !== true && !isLong)) return { items, begun: array };
  const begun: number[] = [];
  for await (const task of allTasks(await context.api(), String(detail.id))) {
    const { index, item, epoch, outcome } = task;
    if (index === null) continue;
    if (item !== undefined) items.set(index, item);
    const isWithout = epoch === 0 && (outcome === null || outcome.kind === 'cancelled');
    if (!isWithout) begun.push(index);
  }
  return { items, begun: isLong ? begun.join(',') : array };
}

interface Found extends FollowedJob {
  readonly detail: JobDetail;
}

async function findJob(context: Context, id: string): Promise<Found> {
  const api = await context.api();
  const patience = { totalMs: HEAD_AWAY_MAX_MS, note: 'Waiting for the head to come back.' };
  const detail = await withPatience(context, patience, () =>
    api.call('getJob', { params: { id } }),
  );
  const { array, files } = detail;
  return { id, array: id.includes('[') ? null : array, files, detail, ...processesOf(detail) };
}

/** What the ranks of an MPI program say comes through the one process that starts them. */
function processesOf({ request, ranksPerNode }: JobDetail) {
  if (ranksPerNode != null) return { nodeCount: 1, processesPerNode: 1 };
  const { nodeCount, processesPerNode } = request;
  return { nodeCount, processesPerNode };
}

/** One stream may go to a file while the other is here: that is said, and the rest shown. */
function tellElsewhere(
  context: Context,
  { id, files }: FollowedJob,
  streams: readonly Stream[],
): void {
  const elsewhere = streams.flatMap((stream) => files[stream] ?? []);
  const refusals = elsewhere.map((path) => failure(refuse('log.elsewhere', { task: id, path })));
  const [first] = refusals;
  if (first !== undefined && refusals.length === streams.length) throw first;
  for (const { message } of refusals) context.note(message);
}

function readPart(options: Options): OutputRange {
  const numbers = {
    epoch: number('--epoch', options.epoch),
    nodeRank: number('--node', options.node),
    rank: number('--rank', options.rank),
    offset: number('--offset', options.offset),
    limit: number('--limit', options.limit),
    last: read('--last', options.last, parseSize),
  };
  const given = Object.entries(numbers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

function number(flag: string, text: string | undefined): number | undefined {
  return read(flag, text, (value) => parseCount(value, 0, Number.MAX_SAFE_INTEGER));
}
