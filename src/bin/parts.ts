// What wings give to programs: each program loads what it needs of them.

import type { AgentMaker } from '../kernel/wing.ts';
import { WINGS } from '../wings.ts';

/** Those of all wings that do something in agents. */
export async function agentMakers(): Promise<AgentMaker[]> {
  const makers = await Promise.all(WINGS.map(({ agent }) => agent?.()));
  return makers.filter((one) => one !== undefined);
}
