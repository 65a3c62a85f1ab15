// `weft batch cancel|retry|rebuild|remove`: one route for each batch that is named.

import { plural } from '../../../core/base/plural.ts';
import type { Context } from '../../context.ts';
import { forEach } from '../../jobs/each.ts';
import { defineVerb, type Verb } from '../../verb.ts';
import { BATCH_OPERAND, batchParams } from './batch-name.ts';

type Params = Awaited<ReturnType<typeof batchParams>>;

/** `act` says what has happened. */
function actionVerb(act: (context: Context, params: Params) => Promise<string>): Verb {
  return defineVerb({
    define: (command) => void command.argument('<batch...>', BATCH_OPERAND),
    run: ({ context, args }) =>
      forEach(context, args, async (text) => {
        context.print(await act(context, await batchParams(context, text)));
      }),
  });
}

export const cancel = actionVerb(async (context, params) => {
  const { title, count } = await (await context.api()).call('cancelBatch', { params });
  if (count === 0) return `No job of ${title} waits or runs.`;
  return `${plural(count, 'job')} of ${title} ${count === 1 ? 'is' : 'are'} cancelled.`;
});

export const retry = actionVerb(async (context, params) => {
  const { title, jobCount } = await (await context.api()).call('retryBatch', { params });
  return `${plural(jobCount, 'job')} of ${title} ${jobCount === 1 ? 'runs' : 'run'} again.`;
});

export const rebuild = actionVerb(async (context, params) => {
  const { title } = await (await context.api()).call('rebuildBatch', { params });
  return `The solver of ${title} is built anew on every node.`;
});

export const remove = actionVerb(async (context, params) => {
  const { title } = await (await context.api()).call('removeBatch', { params });
  return `Batch ${title} is removed.`;
});
