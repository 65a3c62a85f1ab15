// `weft node watch-session`: in the session of a machine's owner, tells the nodes of this machine
// when somebody last typed there. Nobody else is told that by the X server.

import { setTimeout as sleep } from 'node:timers/promises';
import { asSentence } from '../../../../kernel/base/sentence.ts';
import type { Context } from '../../../../kernel/cli/context.ts';
import { formatSpan } from '../../../../kernel/cli/output/words.ts';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import { AGENT_PATHS, type SessionReply } from '../../../../kernel/model/agent-socket.ts';
import { Failure, usage } from '../../../../kernel/model/failure.ts';
import { askNode, localNodes } from '../agent-sockets.ts';
import { cookieFor, localDisplay } from './displays.ts';
import { connectX, type XServer } from './x-server.ts';

interface Options {
  readonly display?: string;
  readonly once?: boolean;
}

/** Nodes forget what they have not heard for a minute. */
const REPORT_MS = 10_000;
/** A user who comes back is reported soon. */
const LOOK_MS = 2_000;
/** Not more often, however much somebody types. */
const NEWS_MS = 4_000;

type Seen = { readonly idleMs: number } | { readonly why: string };

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--display <display>', 'X display of the session (default: DISPLAY)');
    command.option('--once', 'report once, and print what was reported');
  },
  async run({ context, options }) {
    const name = options.display ?? context.environment['DISPLAY'];
    if (!name) throw usage('there is no X display (DISPLAY is not set)', 'Name it with --display.');
    const number = localDisplay(name);
    if (localNodes(context).length === 0) {
      const hint = 'Name the directory of its agent with --dir.';
      throw usage('no agent of a node is on this machine', hint);
    }
    const display = `:${number}`;
    if (isWayland(context)) return watchBlind(context, display, options);
    const server = await reach(number, context);
    try {
      await watch(context, { display, server, isOnce: options.once === true });
    } finally {
      server.close();
    }
    return 0;
  },
});

async function reach(number: number, context: Context): Promise<XServer> {
  try {
    return await connectX(number, cookieFor(number, context.environment));
  } catch (error) {
    const hint =
      'Start it in the session itself, as its user: XAUTHORITY and DISPLAY are set there.';
    throw usage(error instanceof Error ? error.message : String(error), hint);
  }
}

/** Until the session ends. */
async function watch(
  context: Context,
  { display, server, isOnce }: { display: string; server: XServer; isOnce: boolean },
): Promise<void> {
  const teller = new Teller(context, display);
  let toldAt = Number.NEGATIVE_INFINITY;
  let toldInputAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    let idleMs: number;
    try {
      idleMs = await server.idleMs();
    } catch (error) {
      context.note(asSentence(`The session is over: ${(error as Error).message}`));
      return;
    }
    const now = performance.now();
    // Both clocks count in whole ms, and the answer takes its time.
    const isNews = now - idleMs > toldInputAt + LOOK_MS;
    if (now - toldAt >= (isNews ? NEWS_MS : REPORT_MS)) {
      await teller.tell({ idleMs });
      toldAt = now;
      toldInputAt = now - idleMs;
      if (isOnce) context.print(`Last input on ${display}: ${formatSpan(idleMs)} ago.`);
    }
    if (isOnce) return;
    await sleep(LOOK_MS);
  }
}

/** Windows of X in a Wayland session see only what is typed into them. */
function isWayland({ environment }: Context): boolean {
  return Boolean(environment['WAYLAND_DISPLAY']) || environment['XDG_SESSION_TYPE'] === 'wayland';
}

/** The nodes are told all the same: then people are told that this cannot be seen. */
async function watchBlind(context: Context, display: string, { once }: Options): Promise<number> {
  const why = 'the session is one of Wayland, where X sees only some of the input';
  const teller = new Teller(context, display);
  context.note(asSentence(`On ${display} input cannot be seen: ${why}`));
  for (;;) {
    await teller.tell({ why });
    if (once) return 0;
    await sleep(REPORT_MS);
  }
}

/** Tells all nodes of this machine, and says once what came of it. */
class Teller {
  readonly #context: Context;
  readonly #display: string;
  readonly #said = new Map<string, string>();

  constructor(context: Context, display: string) {
    this.#context = context;
    this.#display = display;
  }

  async tell(seen: Seen): Promise<void> {
    for (const node of localNodes(this.#context)) {
      try {
        const body = { display: this.#display, ...seen };
        const { wanted } = await askNode<SessionReply>(node, AGENT_PATHS.session, body);
        const where = wanted ? 'is told' : 'does not ask for it (node.yield.idle_below is not set)';
        this.#say(node.name, `Node ${node.name} ${where}.`);
      } catch (error) {
        // An agent that is away comes back; who may not is told so at once.
        const isAway = error instanceof Failure && error.code === 'agent.unreachable';
        if (!isAway) throw error;
        this.#say(node.name, `Node ${node.name} cannot be told: ${error.message}`);
      }
    }
  }

  #say(node: string, words: string): void {
    if (this.#said.get(node) === words) return;
    this.#said.set(node, words);
    this.#context.print(words);
  }
}
