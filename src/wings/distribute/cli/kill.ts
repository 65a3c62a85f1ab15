// `distribute kill`: cancels what waits and runs of a batch.

import { plural } from '../../../kernel/base/plural.ts';
import { KINDS } from '../../../kernel/model/errors.ts';
import { batchNamed, paramsOf } from './batch-names.ts';
import { headVerb } from './head-flags.ts';

export const kill = headVerb({
  define: (command) => void command.argument('<name>', 'BATCH, or NAMESPACE/BATCH'),
  async run({ context, args: [name = ''] }) {
    const api = await context.api();
    const { batches } = await api.call('listBatches');
    const batch = batchNamed(batches, name);
    const { count } = await api.call('cancelBatch', { params: paramsOf(batch) });
    if (count === 0) {
      context.note(`no job of ${batch.title} waits or runs`);
      return KINDS.failed_precondition.exit;
    }
    context.print(
      `${plural(count, 'job')} of ${batch.title} ${count === 1 ? 'is' : 'are'} cancelled.`,
    );
    return 0;
  },
});
