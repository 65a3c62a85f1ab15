// `weft why`: in words, why a job waits, where it runs, or how it ended.

import { readTaskPath } from '../ids.ts';
import { printable } from '../output/table.ts';
import { defineVerb } from '../verb.ts';

export const verb = defineVerb<{ index?: string }>({
  define(command) {
    command.argument('<job>', 'job id: 42, or 42[7] for one task of an array');
    command.option('-i, --index <index>', 'which task of an array');
  },
  async run({ context, args: [job = ''], options }) {
    const id = readTaskPath(job, options.index);
    const api = await context.api();
    const { words } = await api.call('explainJob', { params: { id } });
    context.print(words.split('\n').map(printable).join('\n'));
    return 0;
  },
});
