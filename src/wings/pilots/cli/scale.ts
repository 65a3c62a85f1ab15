// `weft pilot scale`: other bounds; without any, a fleet that is paused tries again.

import { defineVerb } from '../../../kernel/cli/verb.ts';
import { defineRange, type RangeOptions, readRange } from './range.ts';

export const scale = defineVerb<RangeOptions>({
  define(command) {
    command.argument('<fleet>', 'name of a fleet');
    defineRange(command);
  },
  async run({ context, args: [fleet = ''], options }) {
    const api = await context.api();
    const body = readRange(options);
    const { count } = await api.call('scaleFleet', { params: { fleet }, body });
    context.print(count === 0 ? `Fleet ${fleet} is so already.` : `Fleet ${fleet} is changed.`);
    return 0;
  },
});
