// `weft status`: one word for each job, for scripts.

import type { JobView, TaskView } from '../../api/jobs.ts';
import { Failure } from '../../model/failure.ts';
import type { Context } from '../context.ts';
import { stateWords } from '../jobs/columns.ts';
import { OPERANDS_TEXT } from '../jobs/operands.ts';
import { selectJobs } from '../jobs/select.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import type { Column } from '../output/table.ts';
import { defineVerb } from '../verb.ts';

interface Status {
  /** A number as everywhere, or `42[7]` of a task. */
  readonly id: number | string;
  /** A state, or once it is done its outcome; `unknown` where there is no such job. */
  readonly status: string;
  /** Exit code of a job that is done. */
  readonly exitCode: number | null;
  readonly signal: number | null;
}

const AT_ONCE = 16;

const COLUMNS: readonly Column<Status>[] = [
  { title: 'JOB', value: ({ id }) => String(id) },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'EXIT', value: ({ exitCode }) => (exitCode === null ? '-' : String(exitCode)) },
  { title: 'SIGNAL', value: ({ signal }) => (signal === null ? '-' : String(signal)) },
];

export const verb = defineVerb<ListingOptions>({
  define(command) {
    command.argument('<job...>', OPERANDS_TEXT);
    defineListing(command);
    command.addHelpText('after', WORDS);
  },
  async run({ context, args, options }) {
    const jobs = await selectJobs(context, args, {}, { state: 'all' });
    const rows: Status[] = [];
    for (let at = 0; at < jobs.length; at += AT_ONCE) {
      const some = jobs.slice(at, at + AT_ONCE);
      rows.push(...(await Promise.all(some.map(({ id, job }) => statusOf(context, id, job)))));
    }
    if (options.output === undefined) for (const { status } of rows) context.print(status);
    else {
      const listing = { rows, columns: COLUMNS, name: ({ id }: Status) => String(id), empty: '' };
      await context.list(listing, options.output);
    }
    return rows.some(({ status }) => status === UNKNOWN) ? EXIT_NOT_FOUND : 0;
  },
});

const WORDS =
  '\nOne line for each job, in the order named: held, pending, starting, running, suspended or' +
  '\ncompleting; once it is done its outcome, such as completed, failed, cancelled or timeout;' +
  '\nunknown where there is no such job, and then the exit code is 3.';

const UNKNOWN = 'unknown';
const EXIT_NOT_FOUND = 3;

async function statusOf(context: Context, text: string, known?: JobView): Promise<Status> {
  const isTask = text.includes('[');
  const id = isTask ? text : Number(text);
  try {
    const view = known === undefined || isTask ? await fetchOne(context, text) : known;
    const exit = view.outcome?.exit ?? view.exit;
    const { code = null, signal = null } = exit ?? {};
    return { id, status: stateWords(view), exitCode: code, signal };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not_found') throw error;
    return { id, status: UNKNOWN, exitCode: null, signal: null };
  }
}

async function fetchOne(context: Context, id: string): Promise<JobView | TaskView> {
  const api = await context.api();
  if (!id.includes('[')) return api.call('getJob', { params: { id } });
  const { tasks } = await api.call('listTasks', { params: { id }, query: { limit: 1 } });
  // The route answers with that one task, or refuses.
  return tasks[0] as TaskView;
}
