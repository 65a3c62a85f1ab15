// The gpus of a node, beside its agent: what they are, who else uses them, and what tasks find of
// them.

import type { AgentInside, AgentPart } from '../../../kernel/agent/part.ts';
import type { KnownCards } from '../ports/known-cards.ts';
import type { Lookout } from './lookout.ts';
import { type CardWatchSettings, NodeWatch } from './node-watch.ts';

export function gpusPart(
  lookout: Lookout,
  settings: CardWatchSettings,
  knownBy: (agent: AgentInside) => KnownCards,
): AgentPart {
  let watch: NodeWatch | null = null;
  return {
    variables: ({ order }) => ({ ours: watch?.variables(order.share) ?? {} }),
    accompany: (agent) => {
      watch = new NodeWatch(agent, lookout, settings, knownBy(agent));
      return watch;
    },
  };
}
