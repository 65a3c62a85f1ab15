// The gpus of a node, beside its agent: what they are, who else uses them, and what tasks find of
// them.

import type { AgentInside, AgentPart, AtSocket } from '../../../kernel/agent/part.ts';
import { formatCpuList } from '../../../kernel/base/cpu-list.ts';
import { AGENT_PATHS } from '../../../kernel/model/agent-socket.ts';
import { meetingOf } from '../core/meeting.ts';
import type { KnownCards } from '../ports/known-cards.ts';
import { type KeepingWorld, keeping } from './keeping.ts';
import type { Lookout } from './lookout.ts';
import { type CardWatchSettings, NodeWatch } from './node-watch.ts';

export type KeepRights = Pick<KeepingWorld, 'rights' | 'maxMs'>;

export function gpusPart(
  lookout: Lookout,
  settings: CardWatchSettings,
  knownBy: (agent: AgentInside) => KnownCards,
  /** Rights to keep cards, and for how long; null: nobody has them. */
  rights: KeepRights | null = null,
): AgentPart {
  let watch: NodeWatch | null = null;
  return {
    variables: ({ order }) => {
      const { ours = {}, ...meeting } = meetingOf(order, (node) => lookout.isHere(node));
      const near = watch?.near(order) ?? null;
      const bound = near === null ? {} : { WEFT_CPUSET: formatCpuList(near) };
      return { ...meeting, ours: { ...watch?.variables(order.share), ...bound, ...ours } };
    },
    shut: (share) => watch?.shut(share) ?? [],
    accompany: (agent) => {
      const own = new NodeWatch(agent, lookout, settings, knownBy(agent));
      watch = own;
      if (rights !== null) agent.atSocket.set(AGENT_PATHS.keepGpu, keepingOf(agent, own, rights));
      return own;
    },
  };
}

function keepingOf(agent: AgentInside, watch: NodeWatch, rights: KeepRights): AtSocket {
  return keeping({
    ...rights,
    node: agent.settings.node,
    clock: agent.ports.clock,
    cards: () => watch.cards,
    tasksOn: (card) => watch.tasksOn(card),
    isKept: (uuid) => watch.isKept(uuid),
    keep: (uuid, keep) => watch.keep(uuid, keep),
  });
}
