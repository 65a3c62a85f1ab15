// `weft pool stop`: the pool ends as cancelled.

import { forEach } from '../../../kernel/cli/jobs/each.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { POOL_OPERAND } from './range.ts';

export const stop = defineVerb({
  define: (command) => void command.argument('<pool...>', POOL_OPERAND),
  run: ({ context, args }) =>
    forEach(context, args, async (id) => {
      await (await context.api()).call('stopPool', { params: { id } });
      context.print(`Pool ${id} is stopped.`);
    }),
});
