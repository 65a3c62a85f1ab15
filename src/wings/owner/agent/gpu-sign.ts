// Users of the node's gpus outside of tasks, as a sign that its machine is in use.

import { cardTitle, type NodeGpus } from '../../../kernel/model/gpu.ts';
import type { Sign } from '../../../kernel/model/presence.ts';

/** Users who only draw a desktop keep no card from being given, and are none. */
export function gpuSign(gpus: NodeGpus | null): Sign {
  const by = 'gpus';
  if (gpus === null || gpus.cards.length === 0) {
    return { kind: 'blind', by, of: 'gpus', why: 'this node tells of no gpus' };
  }
  const used = gpus.cards.filter(({ state }) => state === 'used_outside');
  const who = used.flatMap((card) => {
    const [first] = card.users;
    return first === undefined ? [] : [`${first.user} on ${cardTitle(card)} (${first.program})`];
  });
  return { kind: 'gpus', by, who };
}
