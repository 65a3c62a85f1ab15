// What the wing does in agents: they vouch for the users of their machine.

import type { AgentPart } from '../../../kernel/agent/part.ts';
import { AGENT_PATHS } from '../../../kernel/model/agent-socket.ts';
import { WING } from '../core/vouch.ts';
import { Vouching } from './vouching.ts';

/** `fingerprint`: of the certificate of the agent's head; null: it has none. */
export function loginsPart(fingerprint: string | null): AgentPart {
  return {
    accompany(agent) {
      const vouching = new Vouching(agent, fingerprint);
      agent.atSocket.set(AGENT_PATHS.login, (user, body) => vouching.ask(user, body));
      return {
        heard: (wing, body) => {
          if (wing === WING) vouching.heard(body);
        },
        parted: () => vouching.parted(),
        stop: () => vouching.parted(),
      };
    },
  };
}
