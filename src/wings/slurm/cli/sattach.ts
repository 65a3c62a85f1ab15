// `sattach`: the output of a job's script as it comes.

import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { readId } from '../core/ids.ts';
import { speaking } from './speaking.ts';

export const summary = 'Follow the output of a job, as sattach of Slurm does.';
export const verb = speaking('sattach', sattach);

/** `42`, `42_7`, `42.batch`: what a step says goes to whoever has started it. */
async function sattach(context: Context, words: readonly string[]): Promise<number> {
  const option = words.find((word) => word.startsWith('-'));
  if (option !== undefined) throw usage(`${option} is not honoured here`);
  const [said, more] = words;
  if (said === undefined || more !== undefined) throw usage('Usage: sattach <jobid[.batch]>');
  const [, job = '', step = 'batch'] = /^([^.]*)(?:\.(.*))?$/.exec(said) ?? [];
  const id = readId(job);
  if (!id.ok) throw usage(id.error);
  if (step !== 'batch') {
    // One that is not there is told first.
    await (await context.api()).call('getJob', { params: { id: id.value } });
    throw usage(
      `${said}: a step's output goes to the srun that has started it, and to nobody else`,
      `The output of its script: sattach ${job}.batch`,
    );
  }
  return (await context.runLine?.(['attach', '--', id.value], context.terminal)) ?? 1;
}
