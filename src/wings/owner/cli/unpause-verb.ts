// `weft unpause`: nodes take work again before the end of their pause.

import type { Context } from '../../../kernel/cli/context.ts';
import { collect } from '../../../kernel/cli/submit/read.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { AGENT_PATHS } from '../../../kernel/model/agent-socket.ts';
import { Failure } from '../../../kernel/model/failure.ts';
import { askNode } from './agent-sockets.ts';
import { askNodes, untilAnswered } from './ask.ts';
import { keepGpus } from './keep-gpus.ts';

export const verb = defineVerb<{ readonly node?: string[]; readonly gpu?: string[] }>({
  define(command) {
    command.option('--node <node>', 'this node (default: all of this machine)', collect);
    command.option('--gpu <gpu>', 'give this gpu to tasks again, which was kept', collect);
  },
  async run({ context, options }) {
    const { gpu: gpus, node: nodes } = options;
    if (gpus === undefined) await unpauseNodes(context, nodes);
    else await keepGpus(context, { gpus, nodes, durationMs: 0 });
    return 0;
  },
});

/** Those that were named, else all of this machine that are paused. */
export async function unpauseNodes(
  context: Context,
  names: readonly string[] | undefined,
): Promise<void> {
  const unpaused: string[] = [];
  let notPaused: Failure | null = null;
  await askNodes(context, names, {
    async here(node) {
      try {
        await askNode(node, AGENT_PATHS.unpause, {});
        unpaused.push(node.name);
      } catch (error) {
        // Of several here, those that are paused are meant.
        const isOther = error instanceof Failure && error.code === 'node.not_paused';
        if (!isOther || names !== undefined) throw error;
        notPaused ??= error;
      }
    },
    async byHead(name) {
      if (await unpauseByHead(context, name)) unpaused.push(name);
    },
  });
  if (unpaused.length === 0 && notPaused !== null) throw notPaused;
  for (const name of unpaused) context.print(`Node ${name} takes work again.`);
}

async function unpauseByHead(context: Context, name: string): Promise<boolean> {
  const api = await context.api();
  await api.call('unpauseNode', { params: { name } });
  if ((await untilAnswered(context, name)) !== null) return true;
  context.print(`Node ${name} has not answered yet; the request reaches it as soon as it can.`);
  return false;
}
