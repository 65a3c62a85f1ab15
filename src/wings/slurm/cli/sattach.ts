// `sattach`: the output of a job's script, or of a step, as it comes.

import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { attachStep } from '../../steps/cli/attach-step.ts';
import { readId } from '../core/ids.ts';
import type { OptionRow } from '../core/option-table.ts';
import { readWords, speaking } from './speaking.ts';

export const summary = 'Follow the output of a job, as sattach of Slurm does.';
export const verb = speaking('sattach', sattach);

const OPTIONS = [
  { long: 'label', short: 'l', words: 'the rank stands before each line' },
  { long: 'quiet', short: 'Q', words: 'as it is anyway' },
  { long: 'verbose', short: 'v', words: 'as it is anyway' },
] as const satisfies readonly OptionRow[];

/** `42`, `42_7`, `42.batch`: of its script; `42.0`: of a step that the head has started. */
async function sattach(context: Context, words: readonly string[]): Promise<number> {
  const { given, operands } = readWords(OPTIONS, words);
  const [said, more] = operands;
  if (said === undefined || more !== undefined) throw usage('Usage: sattach <jobid[.batch]>');
  const [, job = '', step = 'batch'] = /^([^.]*)(?:\.(.*))?$/.exec(said) ?? [];
  const id = readId(job);
  if (!id.ok) throw usage(id.error);
  if (step === 'batch')
    return (await context.runLine?.(['attach', '--', id.value], context.terminal)) ?? 1;
  if (!/^\d+$/.test(step)) throw usage(`${said}: '${step}' is no number of a step`);
  return attachStep(context, `${id.value}.${step}`, { label: given.label !== undefined });
}
