// `cmkill`: cancels one job, in the seed's words.

import { readPlace } from '../../../kernel/cli/ids.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { Failure } from '../../../kernel/model/failure.ts';

export const summary = 'Kill a job.';

export const verb = defineVerb({
  define: (command) => void command.argument('<job_id>', 'number of the job'),
  async run({ context, args: [id = ''] }) {
    readPlace(id);
    const api = await context.api();
    try {
      await api.call('cancelJob', { params: { id } });
      context.print(`Kill signal sent to job ${id}.`);
      return 0;
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'job.already_done') throw error;
      context.print(`Couldn't kill job ${id}; maybe it's already done?`);
      return error.exitCode;
    }
  },
});
