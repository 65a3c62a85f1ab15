// `weft job`: everything about one job, or the list of its tasks.

import { headNow } from '../../api/head-time.ts';
import type { ListTasksReply, TaskView } from '../../api/jobs.ts';
import type { Api } from '../../connect/api.ts';
import { ANY_FAILURE } from '../../model/job.ts';
import { fileLines } from '../files/job-files.ts';
import { ofJob } from '../glance.ts';
import { readPlace } from '../ids.ts';
import { taskColumns, withStatus } from '../jobs/columns.ts';
import { describeJob } from '../jobs/describe.ts';
import { lastLines } from '../jobs/failed-tasks.ts';
import { cutWords, defineFailed, readLimit } from '../jobs/row-options.ts';
import { readStateFilter, type StateFilter } from '../jobs/state-filter.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { formatOne, titledLines } from '../output/one.ts';
import { defineVerb } from '../verb.ts';

interface Options extends ListingOptions {
  readonly tasks?: boolean;
  readonly state?: string;
  readonly failed?: boolean;
  readonly limit?: string;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('<job>', 'job id; 42[7] lists that one task');
    command.option('--tasks', 'list its tasks');
    command.option(
      '-s, --state <states>',
      'only its tasks in these states, as the list shows them: failed, or pending,running',
    );
    defineFailed(command, 'only its tasks that failed, in any way: -s failure', 'state');
    command.option('--limit <count>', 'at most this many tasks', '1000');
    defineListing(command);
  },
  async run({ context, args: [id = ''], options }) {
    const { index } = readPlace(id);
    const api = await context.api();
    const state = options.failed ? ANY_FAILURE : options.state;
    if (options.tasks || state !== undefined || index !== null) {
      const wish = state === undefined ? null : readStateFilter('--state', state);
      const limit = readLimit(options.limit ?? '1000');
      const { rows, isCut } = await fetchTasks(api, { id, limit, wish });
      const name = (task: TaskView) => task.id;
      const hasItems = rows.some(({ item }) => item !== undefined);
      const given = await givenTo(api, id, rows);
      const columns = taskColumns(headNow(), { hasItems, ...given });
      const empty = wish === null ? 'No tasks.' : `No tasks of job ${id} are so.`;
      await context.list({ rows: rows.map(withStatus), columns, name, empty }, options.output);
      if (isCut) context.note(cutWords(rows.length, 'task'));
      return 0;
    }
    const job = await api.call('getJob', { params: { id } });
    const isForPeople = options.output === undefined || options.output === 'table';
    const files = isForPeople ? await fileLines(api, job) : [];
    const added = isForPeople ? await ofJob(context.wings) : [];
    const more = added.flatMap(({ titled }) => titled?.(job) ?? []);
    const inWords = () =>
      titledLines([...describeJob(job, headNow(), more), ...files], 12, context.paint);
    for (const line of formatOne(withStatus(job), options.output, String(job.id), inWords))
      context.print(line);
    for (const { below } of added)
      for (const line of below?.(job, headNow(), context.look) ?? []) context.print(line);
    if (isForPeople) for (const line of await lastLines(api, job)) context.print(line);
    return 0;
  },
});

/** The limits of its job, where a task went over one. */
async function givenTo(api: Api, id: string, rows: readonly TaskView[]) {
  if (rows.every(({ outcome }) => outcome?.kind !== 'timeout')) return {};
  return { given: await api.call('getJob', { params: { id: String(readPlace(id).jobId) } }) };
}

interface Wanted {
  readonly id: string;
  readonly limit: number;
  /** Null: all of them. */
  readonly wish: StateFilter | null;
}

async function fetchTasks(api: Api, { id, limit, wish }: Wanted) {
  const rows: TaskView[] = [];
  const failed = wish?.isOfFailures ? true : undefined;
  let after: number | undefined;
  for (;;) {
    const query = { after, limit: Math.min(1000, limit - rows.length), failed };
    const page: ListTasksReply = await api.call('listTasks', { params: { id }, query });
    rows.push(...page.tasks.filter((task) => wish?.isMeant?.(task) ?? true));
    if (page.next === null || rows.length >= limit) return { rows, isCut: page.next !== null };
    after = page.next;
  }
}
