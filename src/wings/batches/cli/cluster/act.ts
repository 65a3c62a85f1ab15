// `weft batch cancel|retry|rebuild|remove`: one route for each batch that is named.

import { plural } from '../../../../kernel/base/plural.ts';
import { formatBytes } from '../../../../kernel/base/size.ts';
import type { Context } from '../../../../kernel/cli/context.ts';
import { forEach } from '../../../../kernel/cli/jobs/each.ts';
import { defineVerb, type Verb } from '../../../../kernel/cli/verb.ts';
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

interface RemoveOptions {
  readonly keepArchive?: boolean;
  readonly dryRun?: boolean;
}

export const remove = defineVerb<RemoveOptions>({
  define(command) {
    command.argument('<batch...>', BATCH_OPERAND);
    command.option('--keep-archive', 'leave the files of its jobs where they are on the head');
    command.option('--dry-run', 'remove nothing: say what would go');
  },
  run: ({ context, args, options: { keepArchive = false, dryRun = false } }) =>
    forEach(context, args, async (text) => {
      const api = await context.api();
      const params = await batchParams(context, text);
      if (dryRun) {
        const { title, outputs } = await api.call('getBatch', { params });
        const what = keepArchive ? '' : goingWords(outputs ?? NO_FILES);
        context.print(`Batch ${title} would be removed${what}.`);
        return;
      }
      const query = keepArchive ? { keep: true } : {};
      // A head of an earlier release removes no files.
      const { title, removed = NO_FILES } = await api.call('removeBatch', { params, query });
      context.print(`Batch ${title} is removed${goingWords(removed)}.`);
    }),
});

interface Going {
  readonly tasks: number;
  readonly files: number;
  readonly bytes: number;
  readonly more?: boolean;
}

const NO_FILES: Going = { tasks: 0, files: 0, bytes: 0 };

function goingWords({ tasks, files, bytes, more = false }: Going): string {
  if (tasks === 0) return '';
  const least = more ? 'at least ' : '';
  const of = `${plural(tasks, 'job')}${more ? ' and more' : ''}`;
  return `, and with it ${least}${plural(files, 'file')} with ${formatBytes(bytes)} of ${of}`;
}
