// `distribute run`: a batch on this machine, as `weft batch run --local` runs it.

import { defineVerb } from '../../../kernel/cli/verb.ts';
import { run as runBatch } from '../../batches/cli/run.ts';
import { defineJobsFile, jobsFile } from './jobs-file.ts';

interface Options {
  readonly saveDir?: string;
  readonly cleanSave?: boolean;
  readonly resume?: boolean;
  readonly newVersion?: boolean;
}

export const run = defineVerb<Options>({
  define(command) {
    defineJobsFile(command);
    command.option(
      '-s, --save-dir <folder>',
      'where results go, as NAMESPACE/BATCH/JOB',
      './distribute-run',
    );
    command.option('--clean-save', 'remove what earlier runs of this batch have left there');
    command.option('--resume', 'run only what did not complete');
    command.option('--new-version', 'begin beside the results that are there, as BATCH@2');
  },
  run({ context, args: [file], options: { saveDir, cleanSave, resume, newVersion } }) {
    const wishes = { saveDir, clean: cleanSave, resume, newVersion };
    return runBatch.run({ context, args: [jobsFile(file)], options: { local: true, ...wishes } });
  },
});
