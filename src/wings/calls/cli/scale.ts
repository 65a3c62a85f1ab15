// `weft pool scale`: what is not given stays as it is.

import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { rangeWords } from './columns.ts';
import { defineRange, POOL_OPERAND, type RangeOptions, readRange } from './range.ts';

export const scale = defineVerb<RangeOptions>({
  define(command) {
    command.argument('<pool>', POOL_OPERAND);
    defineRange(command);
  },
  async run({ context, args: [id = ''], options }) {
    const body = readRange(options);
    if (Object.keys(body).length === 0)
      throw usage('say what is to change: -n, --min, --max or --idle');
    const pool = await (await context.api()).call('scalePool', { params: { id }, body });
    context.print(`Pool ${pool.name ?? pool.id} has ${rangeWords(pool)} from now on.`);
    return 0;
  },
});
