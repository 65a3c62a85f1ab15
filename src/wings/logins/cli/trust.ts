// `weft node trust`: nodes that vouch for the users of their machine, so that these need no code.

import type { Context } from '../../../kernel/cli/context.ts';
import { forEach } from '../../../kernel/cli/jobs/each.ts';
import { formatInstant } from '../../../kernel/cli/output/words.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { parseNodeName } from '../../../kernel/model/ids.ts';

export const verb = defineVerb<{ end?: boolean }>({
  define(command) {
    command.argument('[node...]', 'names of nodes (default: show which are trusted)');
    command.option('--end', 'they vouch for nobody any more; tokens that there are stay');
  },
  async run({ context, args, options: { end = false } }) {
    if (args.length > 0) {
      return forEach(context, args.map(readName), (name) => trust(context, name, !end));
    }
    if (end) throw usage('--end needs the names of nodes');
    return show(context);
  },
});

async function trust(context: Context, name: string, isTrusted: boolean): Promise<void> {
  const api = await context.api();
  const { count } = await api.call(isTrusted ? 'trustNode' : 'distrustNode', { params: { name } });
  const now = isTrusted ? 'vouches for its users' : 'vouches for nobody';
  const since = count === 0 ? ' already' : isTrusted ? ' now: they need no code' : ' any more';
  context.print(`Node ${name} ${now}${since}.`);
}

async function show(context: Context): Promise<number> {
  const { nodes } = await (await context.api()).call('listTrustedNodes');
  if (nodes.length === 0) context.print('No node vouches for its users.');
  for (const { name, by, at, why } of nodes) {
    const since = `by ${by}, ${formatInstant(at, Date.now())}`;
    context.print(`${name}  ${since}${why === null ? '' : `; vouches for nobody: ${why}`}`);
  }
  return 0;
}

function readName(text: string): string {
  const name = parseNodeName(text);
  if (!name.ok) throw usage(name.error);
  return name.value;
}
