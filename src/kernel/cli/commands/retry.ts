// `weft retry`: runs the tasks of a job that did not complete again, or all, as a new job.

import type { JobView } from '../../api/jobs.ts';
import { freshKey } from '../../connect/fresh-key.ts';
import { parseDependency } from '../../model/submission-values.ts';
import { withPatience } from '../connection/patience.ts';
import { readPlace } from '../ids.ts';
import { forEachJob } from '../jobs/each.ts';
import { OPERANDS_TEXT } from '../jobs/operands.ts';
import { type RenewOptions, renewedInputs, tellDifferences } from '../jobs/renewed-files.ts';
import { selectJobs } from '../jobs/select.ts';
import { collect, readAll } from '../submit/read.ts';
import { defineVerb } from '../verb.ts';

interface Options extends RenewOptions {
  readonly all?: boolean;
  readonly after?: readonly string[];
}

function isOver({ outcome }: JobView): boolean {
  return outcome !== null;
}

function isRetriable({ outcome }: JobView): boolean {
  return outcome !== null && outcome.kind !== 'completed';
}

/** The indices that are named of each job; null: the job is, as a whole. */
function byJob(ids: readonly string[]): Map<string, number[] | null> {
  const wishes = new Map<string, number[] | null>();
  for (const { jobId, index } of ids.map(readPlace)) {
    const before = wishes.get(String(jobId));
    const isWhole = index === null || before === null;
    wishes.set(String(jobId), isWhole ? null : [...(before ?? []), index]);
  }
  return wishes;
}

/** A head that restarts is back within seconds. */
const HEAD_AWAY_MAX_MS = 30_000;

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('<job...>', OPERANDS_TEXT);
    const after = 'start when this job is done, or none; else as the job did (repeatable)';
    command.option('--after <job[:ok|any|fail|each|start]>', after, collect);
    command.option('--all', 'run the tasks that completed again, too');
    const files = 'send the files that were sent with the job as they are here now';
    command.option('--with-new-files', files);
    const more = 'send this file or folder, in place of the one that was sent (repeatable)';
    command.option('--in <path[=name]>', more, collect);
    command.addHelpText(
      'after',
      '\nPrints the id of each new job. It has the same command, environment and options, and of an' +
        '\narray the indices that did not complete, with --all the whole array. Tasks that are named, 42[7] 42[9-12],' +
        '\nrun again alone, those of one array as one job. Its tasks find the array as it was in' +
        '\nWEFT_ARRAY_FIRST, WEFT_ARRAY_LAST and WEFT_ARRAY_COUNT. Files go as they were sent with the job, unless' +
        '\n--with-new-files or --in says otherwise. `weft pull` of the job brings what its tasks left when they ran last.',
    );
  },
  async run({ context, args, options }) {
    const isFree = options.after?.length === 1 && options.after[0] === 'none';
    const dependencies = isFree ? [] : readAll('--after', options.after, parseDependency);
    const isAll = options.all === true;
    const body = { ...(dependencies && { dependencies }), ...(isAll && { all: true }) };
    const isMeant = isAll ? isOver : isRetriable;
    const among = { state: 'all', isMeant, done: 'run again' } as const;
    const jobs = await selectJobs(context, args, {}, among);
    const wishes = byJob(jobs.map(({ id }) => id));
    return forEachJob(context, [...wishes.keys()], async (id) => {
      const inputs = await renewedInputs(context, id, options);
      const api = await context.api();
      const key = freshKey();
      const patience = { totalMs: HEAD_AWAY_MAX_MS, note: 'Trying again.' };
      const indices = wishes.get(id)?.join(',');
      const named = indices === undefined ? body : { ...body, indices };
      const sent = inputs === undefined ? named : { ...named, inputs };
      const call = { params: { id }, body: sent, key } as const;
      const { jobId } = await withPatience(context, patience, () => api.call('retryJob', call));
      // A retry that is refused needs no word about its files.
      if (inputs === undefined) await tellDifferences(context, id);
      return String(jobId);
    });
  },
});
