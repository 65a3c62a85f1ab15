// `weft attach`: the output of a job as it comes, until its end; leaving does nothing to the job.

import { readPlace } from '../../../kernel/cli/ids.ts';
import { followJob } from '../../../kernel/cli/jobs/follow-job.ts';
import { exitCodeOf, outcomeWords } from '../../../kernel/cli/jobs/outcome.ts';
import { waitFor } from '../../../kernel/cli/jobs/wait-for.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { bringInput } from './bring-input.ts';
import { outputName } from './output-name.ts';

interface Options {
  readonly stdin?: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('<job>', 'job id: 42, or 42[7] for one task');
    command.option('--stdin', 'what is typed or piped here is its input; for --stdin attach');
  },
  async run({ context, args: [id = ''], options: { stdin = false } }) {
    const { index } = readPlace(id);
    const api = await context.api();
    const job = await api.call('getJob', { params: { id } });
    const { request, ranksPerNode, files } = job;
    const named = [files.stdout, files.stderr].flatMap((file) =>
      file === undefined ? [] : outputName(job, file, index),
    );
    if (named.length > 0)
      context.note(
        `job ${id} writes to ${[...new Set(named)].join(' and ')} in ${job.directory ?? 'its directory'}: that is not followed, see tail -f`,
      );
    const over = stdin ? await bringInput(context, { id, job }) : null;
    // What ranks say comes through the one program that starts them.
    const isMpi = ranksPerNode != null;
    await followJob(context, {
      id,
      array: index === null ? job.array : null,
      files,
      nodeCount: isMpi ? 1 : request.nodeCount,
      processesPerNode: isMpi ? 1 : request.processesPerNode,
    });
    const ended = await waitFor(context, { id });
    const view = ended.task ?? ended.job;
    await over?.();
    if (view.outcome?.kind !== 'completed')
      context.note(`job ${id}: ${outcomeWords(view, ended.job)}`);
    return exitCodeOf(view);
  },
});
