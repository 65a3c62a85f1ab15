// Asks nodes which cpus processes of a task are to be bound to, before any of them starts: all are
// bound, or none runs.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { AgentAcceptor } from '../../../kernel/head/http/services.ts';
import type { EpochId, NodeName } from '../../../kernel/model/ids.ts';
import type { Clock, Timer } from '../../../kernel/ports/clock.ts';
import type { BindTo } from '../core/binding.ts';
import { CLAIM_MS, CLAIMS_MAX } from '../core/limits.ts';
import { type Claimed, type ClaimWish, WING } from '../core/told.ts';

interface Asked {
  readonly node: NodeName;
  readonly of: number;
  readonly timer: Timer;
  readonly settle: (answer: Result<readonly string[], string>) => void;
}

export class Claims {
  readonly #agents: Pick<AgentAcceptor, 'tellWing'>;
  readonly #clock: Clock;
  readonly #asked = new Map<number, Asked>();
  #next = 0;

  constructor(agents: Pick<AgentAcceptor, 'tellWing'>, clock: Clock) {
    this.#agents = agents;
    this.#clock = clock;
  }

  /** The cpus of each of these processes, or words why there are none. */
  async ask(
    nodes: readonly NodeName[],
    { epochId, to }: { readonly epochId: EpochId; readonly to: BindTo },
  ): Promise<Result<string[], string>> {
    const groups = [...Map.groupBy(nodes, (node) => node)];
    const answers = await Promise.all(
      groups.map(async ([node, { length: of }]) => {
        const cpus = await this.#askNode(node, { epochId, to, of });
        return cpus.ok ? cpus : err(`on node ${node} ${cpus.error}`);
      }),
    );
    const left = new Map<NodeName, string[]>();
    for (const [at, [node]] of groups.entries()) {
      const answer = answers[at];
      if (answer === undefined || !answer.ok) return answer ?? err(`node ${node} was not asked`);
      left.set(node, [...answer.value]);
    }
    return ok(nodes.map((node) => left.get(node)?.shift() ?? ''));
  }

  hear(node: NodeName, { claimed, cpus, why }: Claimed): void {
    const asked = this.#asked.get(claimed);
    if (asked?.node !== node) return;
    if (cpus !== undefined && cpus.length !== asked.of) return;
    this.#settle(claimed, cpus === undefined ? err(why ?? 'it cannot be bound') : ok(cpus));
  }

  /** Nobody answers any more. */
  close(): void {
    for (const number of [...this.#asked.keys()]) this.#settle(number, err('its head has stopped'));
  }

  #askNode(
    node: NodeName,
    wish: Omit<ClaimWish, 'do' | 'claim'>,
  ): Promise<Result<readonly string[], string>> {
    if (this.#asked.size >= CLAIMS_MAX)
      return Promise.resolve(err('its head waits for too many answers'));
    const number = this.#next++;
    return new Promise((settle) => {
      const late = (): void => this.#settle(number, err('there is no answer about cpus'));
      const timer = this.#clock.after(CLAIM_MS, late);
      this.#asked.set(number, { node, of: wish.of, timer, settle });
      const claim: ClaimWish = { do: 'claim', claim: number, ...wish };
      if (!this.#agents.tellWing(node, WING, claim)) this.#settle(number, err('its agent is away'));
    });
  }

  #settle(number: number, answer: Result<readonly string[], string>): void {
    const asked = this.#asked.get(number);
    this.#asked.delete(number);
    asked?.timer.cancel();
    asked?.settle(answer);
  }
}
