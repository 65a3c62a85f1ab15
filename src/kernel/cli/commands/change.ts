// `weft change`: sets something else of jobs that wait.

import type { Command } from 'commander';
import type { JobView } from '../../api/jobs.ts';
import { usage } from '../../model/failure.ts';
import { CHANGED_WHILE_RUNNING, ROWS, type TypedOptions } from '../../model/options/table.ts';
import type { JobChange } from '../../model/submission.ts';
import * as values from '../../model/submission-values.ts';
import { forEachJob, hasTasks } from '../jobs/each.ts';
import { OPERANDS_TEXT } from '../jobs/operands.ts';
import { selectJobs } from '../jobs/select.ts';
import { changedValues } from '../submit/option-values.ts';
import { dropUndefined, read } from '../submit/read.ts';
import { defineVerb } from '../verb.ts';

interface Options extends TypedOptions {
  readonly release?: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('<job...>', OPERANDS_TEXT);
    for (const { flags, words, change } of ROWS) {
      if (change !== undefined) command.option(flags, change.words ?? words);
    }
    for (const [flags, text] of FLAGS) command.option(flags, text);
    addRule(command);
  },
  async run({ context, args, options }) {
    const body = changeOf(options);
    if (Object.keys(body).length === 0) {
      throw usage(
        'there is nothing to change; give an option such as --time 2h (`weft change --help` lists them)',
      );
    }
    const isMeant = (job: JobView) => hasTasks(job, 'pending');
    const jobs = await selectJobs(context, args, {}, { state: 'active', isMeant, done: 'changed' });
    const ids = jobs.map(({ id }) => id);
    return forEachJob(context, ids, async (id) => {
      const api = await context.api();
      await api.call('changeJob', { params: { id }, body });
      return `Job ${id} is changed.`;
    });
  },
});

/** Those that are no option of a job that is new, or say something else there. */
const FLAGS: readonly (readonly [flags: string, text: string])[] = [
  ['--at-once <count>', 'tasks of an array that may run at once, or none for no limit'],
  ['--hold', 'do not start before `weft release`'],
  ['--release', 'let it start'],
];

function addRule(command: Command): void {
  command.addHelpText(
    'after',
    '\nThe job must wait. Once some tasks of an array run, only' +
      `\n${CHANGED_WHILE_RUNNING} can be changed.` +
      '\nOnce none waits, the comment alone can be, until the job has ended.' +
      '\nPartitions and limits are checked as at submission.',
  );
}

function changeOf(options: Options): JobChange {
  if (options.hold && options.release) throw usage('--hold and --release exclude each other');
  const { MAX_SAFE_INTEGER: most } = Number;
  const atOnce = (text: string) => values.parseCount(text, 1, most);
  return dropUndefined({
    ...changedValues(options, Date.now()),
    runningMax: options.atOnce === 'none' ? null : read('--at-once', options.atOnce, atOnce),
    held: options.hold ? true : options.release ? false : undefined,
  }) as JobChange;
}
