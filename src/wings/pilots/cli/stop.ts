// `weft pilot stop`: fleets end with all their pilots.

import { forEach } from '../../../kernel/cli/jobs/each.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';

export const stop = defineVerb({
  define: (command) => void command.argument('<fleet...>', 'names of fleets'),
  run: ({ context, args }) =>
    forEach(context, args, async (fleet) => {
      await (await context.api()).call('stopFleet', { params: { fleet } });
      context.print(`Fleet ${fleet} is stopped; its pilots end.`);
    }),
});
