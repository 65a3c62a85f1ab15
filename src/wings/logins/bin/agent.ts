// Logins on the nodes of an agents' program.

import type { AgentMaker } from '../../../kernel/wing.ts';
import { loginsPart } from '../agent/part.ts';

export const loginsOnNode: AgentMaker = ({ options: { head, site } }) => {
  // Its users are another cluster's.
  if (site !== undefined) return {};
  return loginsPart('url' in head ? (head.fingerprint ?? null) : null);
};
