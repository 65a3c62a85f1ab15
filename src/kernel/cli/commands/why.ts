// `weft why`: in words, why a job waits, where it runs, or how it ended.

import { headNow } from '../../api/head-time.ts';
import { readTaskPath } from '../ids.ts';
import { prose } from '../output/prose.ts';
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
    for (const line of prose(words, headNow(), context.width)) context.print(line);
    return 0;
  },
});
