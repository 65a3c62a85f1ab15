// `weft alloc`: nodes are held while a shell or a command runs here.

import { submitterHere } from '../../../kernel/cli/jobs/send.ts';
import {
  defineSubmitOptions,
  makeSubmission,
  type SubmitOptions,
} from '../../../kernel/cli/submit/options.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { withAllocation } from './allocation.ts';
import { runHere } from './run-here.ts';

export const verb = defineVerb<SubmitOptions>({
  define(command) {
    command.usage('[options] [--] [command] [arguments...]');
    command.argument('[command...]', 'runs here while the nodes are held; default: your shell');
    defineSubmitOptions(command);
    command.passThroughOptions();
  },
  async run({ context, args, options }) {
    const own = { ...options, name: options.name ?? 'alloc' };
    const place = { kind: 'argv', argv: ['sleep', 'infinity'] } as const;
    const submission = makeSubmission(place, own, submitterHere(context));
    if (submission.array !== undefined || submission.each !== undefined) {
      throw usage('weft alloc holds the nodes of one task; leave out --array, --each and --sweep');
    }
    return withAllocation(context, submission, (held) => {
      context.note(`job ${held.id} holds ${held.nodes.join(', ')}`);
      return runHere(context, args, held);
    });
  },
});
