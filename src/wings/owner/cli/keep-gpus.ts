// `weft pause --gpu` and `weft unpause --gpu`: single gpus of this machine for its owner.

import { headNow } from '../../../kernel/api/head-time.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { formatInstant } from '../../../kernel/cli/output/words.ts';
import { AGENT_PATHS, type KeepReply } from '../../../kernel/model/agent-socket.ts';
import { Failure, usage } from '../../../kernel/model/failure.ts';
import { askNode } from './agent-sockets.ts';
import { askEach, askNodes } from './ask.ts';

interface Wish {
  readonly gpus: readonly string[];
  /** Undefined: all of this machine. */
  readonly nodes: readonly string[] | undefined;
  /** 0: they are given to tasks again. */
  readonly durationMs: number;
}

/** Each of them on the node of this machine that has it. */
export function keepGpus(context: Context, wish: Wish): Promise<void> {
  return askEach(context, wish.gpus, (gpu) => keepGpu(context, gpu, wish));
}

async function keepGpu(context: Context, gpu: string, wish: Wish): Promise<void> {
  let isFound = false;
  let unknown: Failure | null = null;
  await askNodes(context, wish.nodes, {
    async here(node) {
      try {
        const body = { gpu, durationMs: wish.durationMs };
        say(context, await askNode<KeepReply>(node, AGENT_PATHS.keepGpu, body), wish);
        isFound = true;
      } catch (error) {
        // Of several nodes here, the one that has it is meant.
        if (!(error instanceof Failure) || error.code !== 'argument.invalid') throw error;
        unknown ??= error;
      }
    },
    byHead: (name) => {
      const words = `--gpu is asked of the agent of ${name}; type it on its machine, as whoever may pause it`;
      return Promise.reject(usage(words));
    },
  });
  if (!isFound && unknown !== null) throw unknown;
}

function say(context: Context, reply: KeepReply, { durationMs }: Wish): void {
  const { node, gpu, until, tasks } = reply;
  if (durationMs === 0) return context.print(`Gpu ${gpu} of ${node} ${givenWords(reply)}.`);
  const now = tasks.length === 0 ? 'no task has it' : `${tasks.join(', ')} keeps it until it ends`;
  context.print(`Gpu ${gpu} of ${node} is kept until ${formatInstant(until, headNow())}; ${now}.`);
}

/** What else keeps it from being given goes on doing so. */
export function givenWords({
  wasKept = true,
  why = null,
}: Pick<KeepReply, 'wasKept' | 'why'>): string {
  const now = why === null ? 'is given to tasks' : `is ${why}`;
  if (!wasKept) return `was not kept: it ${now}`;
  return why === null ? `${now} again` : `is kept no more: it ${now}`;
}
