// `weft batch logs`: what a job of a batch has printed.

import { copyJob } from '../../../../kernel/cli/jobs/follow-job.ts';
import {
  defineStreams,
  type StreamChoice,
  streamsOf,
} from '../../../../kernel/cli/jobs/streams.ts';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import { EXIT_CLUSTER_FAILURE } from '../../../../kernel/model/failure.ts';
import { batchJob } from './batch-jobs.ts';
import { BATCH_OPERAND, batchParams } from './batch-name.ts';
import { buildWords } from './columns.ts';

interface Options extends StreamChoice {
  readonly follow?: boolean;
}

export const logs = defineVerb<Options>({
  define(command) {
    command.argument('<batch>', BATCH_OPERAND);
    command.argument('<name>', 'name of one of its jobs; `weft batch show BATCH` lists them');
    command.option('-f, --follow', 'go on until the job is done and all output is there');
    defineStreams(command);
  },
  async run({ context, args: [text = '', name = ''], options }) {
    const params = await batchParams(context, text);
    const api = await context.api();
    const { id, outcome } = await batchJob(api, params, name);
    if (outcome === 'build_failed') {
      const build = buildWords(await api.call('getBatch', { params }));
      context.note(`${name} has not run${build === null ? ': its build failed' : `; ${build}`}`);
      return EXIT_CLUSTER_FAILURE;
    }
    const streams = streamsOf(options);
    const job = { id, nodeCount: 1, processesPerNode: 1, files: {}, array: null };
    await copyJob(context, job, { follow: options.follow === true, streams });
    return 0;
  },
});
