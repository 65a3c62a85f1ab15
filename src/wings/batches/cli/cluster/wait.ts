// `weft batch wait`, and `submit --wait`: until a batch is over.

import type { Context } from '../../../../kernel/cli/context.ts';
import { forEach } from '../../../../kernel/cli/jobs/each.ts';
import { waitFor } from '../../../../kernel/cli/jobs/wait-for.ts';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import { BATCH_OPERAND, batchParams } from './batch-name.ts';
import { batchProgress } from './batch-progress.ts';
import { buildWords, countWords } from './columns.ts';

type Params = Readonly<Record<'namespace' | 'name', string>>;

/** Exit code of a batch whose jobs did not all complete. */
const NOT_COMPLETE = 1;

export const wait = defineVerb({
  define(command) {
    command.argument('<batch...>', BATCH_OPERAND);
    command.addHelpText('after', '\nThe exit code is 0 when every job of all of them completed.');
  },
  async run({ context, args }) {
    let exitCode = 0;
    const failed = await forEach(context, args, async (text) => {
      exitCode ||= await waitForBatch(context, await batchParams(context, text));
    });
    return failed || exitCode;
  },
});

/** Says how it ended; also one that was submitted again meanwhile is waited for to its end. */
export async function waitForBatch(context: Context, params: Params): Promise<number> {
  const progress = batchProgress(context, params);
  try {
    return await untilOver(context, params);
  } finally {
    progress.stop();
  }
}

async function untilOver(context: Context, params: Params): Promise<number> {
  const api = await context.api();
  const waited = new Set<number>();
  for (;;) {
    const batch = await api.call('getBatch', { params });
    const jobId = batch.jobIds.find((id) => !waited.has(id));
    if (batch.state === 'done' || jobId === undefined) {
      context.print(
        `${batch.title} ended as ${batch.outcome ?? batch.state}: ${countWords(batch)}`,
      );
      const build = batch.outcome === 'completed' ? null : buildWords(batch);
      if (build !== null) context.note(build);
      return batch.outcome === 'completed' ? 0 : NOT_COMPLETE;
    }
    await waitFor(context, { id: String(jobId) });
    waited.add(jobId);
  }
}
