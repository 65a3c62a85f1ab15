// `weft pool start`: what each worker gets is said as of a job.

import { freshKey } from '../../connect/fresh-key.ts';
import { parseSize } from '../../core/base/size.ts';
import { usage } from '../../core/model/failure.ts';
import { WORKER_PROGRAM } from '../../core/model/pool.ts';
import { parseCount } from '../../core/model/submission-values.ts';
import { submitterHere } from '../jobs/send.ts';
import { withFiles } from '../jobs/send-with-files.ts';
import { defineWorkerOptions, type SubmitOptions, workerWish } from '../submit/options.ts';
import { dropUndefined, read } from '../submit/read.ts';
import { inputsOf } from '../submit/staged-files.ts';
import { defineVerb } from '../verb.ts';
import { rangeWords } from './columns.ts';
import { defineRange, type RangeOptions, readRange } from './range.ts';

interface Options extends Omit<SubmitOptions, 'output'>, RangeOptions {
  readonly recycleAfter?: string;
  readonly recycleAbove?: string;
  readonly output?: string;
}

export const start = defineVerb<Options>({
  define(command) {
    command.option('--name <name>', 'by it your programs find the pool');
    defineRange(command);
    command.option('--recycle-after <calls>', 'a new process for functions after so many calls');
    command.option('--recycle-above <size>', 'and after a call that leaves more memory in use');
    defineWorkerOptions(command);
  },
  async run({ context, options }) {
    const { max, min = 0, ...idle } = readRange(options);
    if (max === undefined) throw usage('say how many workers: -n COUNT, or --max COUNT');
    const { name } = options;
    const worker = workerWish(options, submitterHere(context));
    const recycle = recycleOf(options);
    const body = dropUndefined({ ...worker, name, min, max, ...idle, recycle });
    const api = await context.api();
    const key = freshKey();
    const { jobId } = await withFiles(context, inputsOf(options, WORKER_PROGRAM), (inputs) => {
      const staging = inputs === undefined ? {} : { staging: { ...worker.staging, inputs } };
      return api.call('startPool', { body: { ...body, ...staging } as never, key });
    });
    const title = name === undefined ? `${jobId}` : `${jobId} (${name})`;
    context.print(`Pool ${title} is started: ${rangeWords({ min, max })}.`);
    return 0;
  },
});

function recycleOf({ recycleAfter, recycleAbove }: Options) {
  const most = Number.MAX_SAFE_INTEGER;
  const calls = read('--recycle-after', recycleAfter, (text) => parseCount(text, 1, most));
  const bytes = read('--recycle-above', recycleAbove, parseSize);
  return calls === undefined && bytes === undefined ? undefined : dropUndefined({ calls, bytes });
}
