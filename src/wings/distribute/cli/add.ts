// `distribute add`: checks a batch, says how many nodes could run it, and submits it as `weft batch
// submit` does.

import { plural } from '../../../kernel/base/plural.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { nodeWords } from '../../batches/cli/check.ts';
import { submit } from '../../batches/cli/cluster/submit.ts';
import { relative } from '../../batches/cli/operand.ts';
import { batchTitle } from '../../batches/core/batch.ts';
import { runnableNodes } from '../../batches/core/runnable.ts';
import { headVerb } from './head-flags.ts';
import { defineJobsFile, jobsFile } from './jobs-file.ts';

interface Options {
  readonly showCaps?: boolean;
  readonly dry?: boolean;
  readonly resume?: boolean;
  readonly newVersion?: boolean;
}

export const add = headVerb<Options>({
  define(command) {
    defineJobsFile(command);
    command.option('-s, --show-caps', 'list the capabilities of each node');
    command.option('-d, --dry', 'check it, and submit nothing');
    command.option('--resume', 'run only what did not complete, in the same batch');
    command.option('--new-version', 'begin beside the one that is there, as BATCH@2');
  },
  async run({ context, args: [given], options }) {
    const { readBatch } = await import('../../batches/batch/read/read-batch.ts');
    const file = jobsFile(given);
    const { batch } = readBatch(relative(context, file));
    const { nodes } = await (await context.api()).call('listNodes');
    if (options.showCaps) {
      for (const { name, labels } of nodes) context.print(`${name}: ${labels.join(', ')}`);
    }
    const runnable = runnableNodes(batch, nodes);
    const said = nodeWords(batch, runnable);
    if (runnable.nodes.length === 0) {
      throw usage(said, '`weft node label NODE CAPABILITY` gives a node a capability.');
    }
    context.print(`${said}.`);
    if (options.dry) {
      context.print(
        `${batchTitle(batch)}: ${plural(batch.jobs.length, 'job')}; nothing is submitted.`,
      );
      return 0;
    }
    const { resume, newVersion } = options;
    return submit.run({ context, args: [file], options: { resume, newVersion } });
  },
});
