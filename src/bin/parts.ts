// What wings give to programs: each program loads what it needs of them.

import type { AgentMaker, ElsewhereMaker } from '../kernel/wing.ts';
import { WINGS } from '../wings.ts';

/** Those of all wings that do something in agents. */
export async function agentMakers(): Promise<AgentMaker[]> {
  const makers = await Promise.all(WINGS.map(({ agent }) => agent?.()));
  return makers.filter((one) => one !== undefined);
}

/** Says of each node whether its tasks run elsewhere: what the first wing says that knows. */
export async function elsewhereMaker(): Promise<ElsewhereMaker> {
  const makers = await Promise.all(WINGS.map(({ elsewhere }) => elsewhere?.()));
  return (node) => {
    for (const make of makers) {
      const found = make?.(node) ?? null;
      if (found !== null) return found;
    }
    return null;
  };
}
