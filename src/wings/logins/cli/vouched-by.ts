// Asks the nodes of this machine to vouch for whoever types `weft login` here.

import type { Context } from '../../../kernel/cli/context.ts';
import type { Location } from '../../../kernel/connect/locate.ts';
import { AGENT_PATHS } from '../../../kernel/model/agent-socket.ts';
import { Failure } from '../../../kernel/model/failure.ts';
import { askNode, localNodes } from '../../owner/cli/agent-sockets.ts';

/** Nodes of several clusters, at most. */
const NODES_MAX = 4;
/** An agent that does not know the question is of an older release: it vouches for nobody. */
const UNASKED = new Set(['route.unknown', 'agent.unreachable']);

/** The node whose word the head has taken; null: none, and whoever types it has read why. */
export async function vouchedBy(
  context: Context,
  { fingerprint }: Extract<Location, { kind: 'url' }>,
  code: string,
): Promise<string | null> {
  // Only by its certificate can an agent tell whether this is its own head.
  if (fingerprint === null || process.getuid?.() === 0) return null;
  for (const node of localNodes(context).slice(0, NODES_MAX)) {
    try {
      const { node: name } = await askNode<{ readonly node: string }>(node, AGENT_PATHS.login, {
        code,
        fingerprint,
      });
      return name;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!UNASKED.has(error.code)) context.note(error.message);
    }
  }
  return null;
}
