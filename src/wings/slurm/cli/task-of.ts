// Which task of ours a program is in that has the variables of Slurm.

import type { Context } from '../../../kernel/cli/context.ts';

export function taskOf({
  SLURM_ARRAY_TASK_ID: index,
  ...environment
}: Context['environment']): string {
  const { SLURM_JOB_ID: job = '', WEFT_TASK_ID: own } = environment;
  return own ?? (index === undefined ? job : `${job}[${index}]`);
}
