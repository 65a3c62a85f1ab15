// What the wing does in agents: they vouch for the users of their machine.

import type { AgentInside, AgentPart } from '../../../kernel/agent/part.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { AGENT_PATHS } from '../../../kernel/model/agent-socket.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import type { Timer } from '../../../kernel/ports/clock.ts';
import type { ProvenUser } from '../../../kernel/ports/proofs.ts';
import {
  plainFingerprint,
  readVouchAnswer,
  readVouchWish,
  type Vouched,
  WING,
} from '../core/vouch.ts';

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

// Vouches for users of this machine, for whom the head then gives a token: who asks is proven at
// the agent's socket. The token itself never comes by here.

/** The head asks a directory of accounts at most. */
const ANSWER_MS = 15_000;
/** Everybody may ask; one answer each is kept room for. */
const WAITING_MAX = 32;
const ASK_BYTES = 8;

type Heard = Result<{ readonly node: string }, Refusal>;

interface Waiting {
  readonly user: string;
  readonly timer: Timer;
  readonly tell: (heard: Heard) => void;
}

type Agent = Pick<AgentInside, 'say'> & {
  readonly ports: Pick<AgentInside['ports'], 'clock' | 'chance'>;
  readonly settings: Pick<AgentInside['settings'], 'node'>;
};

export class Vouching {
  readonly #agent: Agent;
  /** Certificate of the agent's own head; null: it knows that head by nothing to compare. */
  readonly #fingerprint: string | null;
  readonly #waiting = new Map<string, Waiting>();

  constructor(agent: Agent, fingerprint: string | null) {
    this.#agent = agent;
    this.#fingerprint = fingerprint === null ? null : plainFingerprint(fingerprint);
  }

  ask({ name: user, uid }: ProvenUser, body: Readonly<Record<string, unknown>>): Promise<Heard> {
    const wish = readVouchWish(body);
    if (!wish.ok) return Promise.resolve(wish);
    const { code, fingerprint } = wish.value;
    const why = this.#whyNot(uid, fingerprint);
    if (why !== null) return Promise.resolve(this.#refused(user, why));
    const { ports, say } = this.#agent;
    const ask = Buffer.from(ports.chance.bytes(ASK_BYTES)).toString('hex');
    return new Promise((tell) => {
      const late = () => this.#settle(ask, 'the head has not answered');
      this.#waiting.set(ask, { user, tell, timer: ports.clock.after(ANSWER_MS, late) });
      const isSaid = say(WING, { ask, code, user, uid } satisfies Vouched);
      if (!isSaid) this.#settle(ask, 'its agent has no connection to the head');
    });
  }

  heard(body: unknown): void {
    const answer = readVouchAnswer(body);
    if (answer !== null) this.#settle(answer.ask, answer.why);
  }

  /** What is on the way to the head is not answered any more. */
  parted(): void {
    for (const ask of [...this.#waiting.keys()]) this.#settle(ask, 'the head went away meanwhile');
  }

  #whyNot(uid: number, fingerprint: string): string | null {
    if (uid === 0) return 'nobody vouches for root';
    if (this.#fingerprint === null) return 'its agent does not know its head by a fingerprint';
    // Another's login under the same code would be given away.
    if (this.#fingerprint !== fingerprint) return 'it is a node of another head';
    if (this.#waiting.size >= WAITING_MAX) return 'too many ask at once; try again';
    return null;
  }

  #settle(ask: string, why: string | null): void {
    const waiting = this.#waiting.get(ask);
    if (waiting === undefined) return;
    this.#waiting.delete(ask);
    waiting.timer.cancel();
    const { node } = this.#agent.settings;
    waiting.tell(why === null ? ok({ node }) : this.#refused(waiting.user, why));
  }

  #refused(user: string, why: string): Result<never, Refusal> {
    const { node } = this.#agent.settings;
    return err(refuse('login.not_vouched', { node, user, why }));
  }
}
