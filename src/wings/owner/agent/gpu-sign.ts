// Users of the node's gpus outside of tasks, as a sign that its machine is in use.

import { cardTitle, type NodeGpus } from '../../../kernel/model/gpu.ts';
import type { Sign } from '../../../kernel/model/presence.ts';

/**
 * Users who only draw a desktop keep no card from being given, and are none; on a card that its
 * owner keeps only such can be. A task that uses a card without having it uses no machine.
 */
export function gpuSign(gpus: NodeGpus | null): Sign {
  const by = 'gpus';
  if (gpus === null || gpus.cards.length === 0) {
    return { kind: 'blind', by, of: 'gpus', why: 'this node tells of no gpus' };
  }
  const used = gpus.cards.filter(({ state, kept }) => state === 'used_outside' && kept !== true);
  const who = used.flatMap((card) => {
    const first = card.users.find(({ task }) => task === undefined);
    return first === undefined ? [] : [`${first.user} on ${cardTitle(card)} (${first.program})`];
  });
  return { kind: 'gpus', by, who };
}
