// `weft attach`: the output of a job as it comes, until its end; leaving does nothing to the job.

import { readPlace } from '../../../kernel/cli/ids.ts';
import { followJob } from '../../../kernel/cli/jobs/follow-job.ts';
import { exitCodeOf, outcomeWords } from '../../../kernel/cli/jobs/outcome.ts';
import { tellStandstill } from '../../../kernel/cli/jobs/standstill.ts';
import { waitFor } from '../../../kernel/cli/jobs/wait-for.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { parseStepId } from '../core/ids.ts';
import { attachStep } from './attach-step.ts';
import { bringInput } from './bring-input.ts';
import { outputName } from './output-name.ts';

interface Options {
  readonly stdin?: boolean;
  readonly label?: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('<job>', 'job id: 42, 42[7] for one task, or 42.0 for a step');
    command.option('-l, --label', 'of a step: say before each line which process it is of');
    command.option('--stdin', 'what is typed or piped here is its input; for --stdin attach');
  },
  async run({ context, args: [id = ''], options: { stdin = false, label = false } }) {
    if (parseStepId(id).ok) {
      if (stdin)
        throw usage('the input of a step is that of whoever started it; leave out --stdin');
      return attachStep(context, id, { label });
    }
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
    const still = tellStandstill(context, id);
    await followJob(context, {
      id,
      array: index === null ? job.array : null,
      files,
      nodeCount: isMpi ? 1 : request.nodeCount,
      processesPerNode: isMpi ? 1 : request.processesPerNode,
    }).finally(still.stop);
    const ended = await waitFor(context, { id });
    const view = ended.task ?? ended.job;
    const isWhole = (await over?.()) ?? true;
    if (view.outcome?.kind !== 'completed')
      context.note(`job ${id}: ${outcomeWords(view, ended.job)}`);
    return exitCodeOf(view) || (isWhole ? 0 : 1);
  },
});
