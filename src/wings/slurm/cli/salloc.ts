// `salloc`: not here, and said so with what to type.

import { usage } from '../../../kernel/model/failure.ts';
import { speaking } from './speaking.ts';

export const summary = 'Says what there is in place of salloc.';
export const verb = speaking('salloc', async () => {
  const hint = 'Run a command now with srun, or submit a script with sbatch.';
  throw usage('allocations without a script are not there', hint);
});
