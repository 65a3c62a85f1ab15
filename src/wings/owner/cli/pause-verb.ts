// `weft pause`: the owner of a machine takes it back for a while.

import { headNow } from '../../../kernel/api/head-time.ts';
import { parseDuration } from '../../../kernel/base/duration.ts';
import { plural } from '../../../kernel/base/plural.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { formatInstant } from '../../../kernel/cli/output/words.ts';
import { collect, read } from '../../../kernel/cli/submit/read.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import type { PauseReply } from '../../../kernel/model/agent-socket.ts';
import { AGENT_PATHS } from '../../../kernel/model/agent-socket.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { PAUSE_DEFAULT_MS } from '../../../kernel/model/pause.ts';
import { askNode } from './agent-sockets.ts';
import { askNodes, untilAnswered } from './ask.ts';
import { keepGpus } from './keep-gpus.ts';

interface Options {
  readonly node?: string[];
  readonly requeue?: boolean;
  readonly gpu?: string[];
}

interface PauseRequest {
  readonly durationMs: number;
  readonly requeue: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('[duration]', 'how long, as 1h30m10s (default: 1h)');
    command.option('--node <node>', 'this node (default: all of this machine)', collect);
    command.option('--requeue', 'tasks that may be requeued go elsewhere');
    command.option('--gpu <gpu>', 'no pause: only keep this gpu from new tasks', collect);
  },
  async run({ context, args: [duration], options }) {
    const durationMs = read('the duration', duration, parseDuration) ?? PAUSE_DEFAULT_MS;
    if (options.gpu !== undefined) {
      if (options.requeue) throw usage('--requeue is for whole nodes; leave it out, or --gpu');
      if (durationMs === 0) throw usage('a gpu is kept for 1s at least; write a duration as 1h');
      await keepGpus(context, { gpus: options.gpu, nodes: options.node, durationMs });
      return 0;
    }
    await pauseNodes(context, options.node, { durationMs, requeue: options.requeue === true });
    return 0;
  },
});

/** Those that were named, else all of this machine; says until when, and returns the last of it. */
export async function pauseNodes(
  context: Context,
  names: readonly string[] | undefined,
  wish: PauseRequest,
): Promise<number> {
  let last = 0;
  await askNodes(context, names, {
    async here(node) {
      const { pause, tasks } = await askNode<PauseReply>(node, AGENT_PATHS.pause, wish);
      say(context, node.name, { until: pause.until, tasks, wish });
      last = Math.max(last, pause.until);
    },
    byHead: (name) => pauseByHead(context, name, wish),
  });
  return last;
}

async function pauseByHead(context: Context, name: string, wish: PauseRequest): Promise<void> {
  const api = await context.api();
  await api.call('pauseNode', { params: { name }, body: wish });
  const node = await untilAnswered(context, name);
  if (node?.paused?.kind === 'owner') {
    const { paused, running } = node;
    say(context, name, { until: paused.until, tasks: running.length, wish });
  } else
    context.print(`Node ${name} has not answered yet; the request reaches it as soon as it can.`);
}

function say(
  context: Context,
  name: string,
  { until, tasks, wish }: { until: number; tasks: number; wish: PauseRequest },
): void {
  const what = tasks === 0 ? 'nothing runs there' : taskWords(tasks, wish);
  context.print(`Node ${name} is paused until ${formatInstant(until, headNow())}; ${what}.`);
}

function taskWords(tasks: number, { requeue }: PauseRequest): string {
  const stands = `${plural(tasks, 'task')} ${tasks === 1 ? 'stands' : 'stand'} still`;
  return requeue ? `${stands}, or ${tasks === 1 ? 'goes' : 'go'} elsewhere` : stands;
}
