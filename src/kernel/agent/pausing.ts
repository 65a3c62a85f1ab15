// The node's pause, for whoever asks on this machine and for the head. Who may ask is for the
// caller to know. The answer comes when the journal has it: neither a crash nor a restart forgets
// it then.

import { err, ok, type Result } from '../base/result.ts';
import { type Refusal, refuse } from '../model/errors.ts';
import type { NodeHello } from '../model/node.ts';
import {
  type OwnerPause,
  type Pause,
  type PauseOrder,
  refusePause,
  refuseUnpause,
  type YieldPause,
} from '../model/pause.ts';
import type { RunnerInput } from '../runner/inputs.ts';
import type { PauseInput } from '../runner/pause/decide.ts';
import { shownPause } from '../runner/pause/state.ts';
import type { RunnerState } from '../runner/state.ts';

export interface PausingWorld {
  readonly node: string;
  /** Longest pause that anybody may ask for. */
  readonly maxMs: number;
  /** The node's tasks are at a site, which suspends none. */
  readonly isAtSite: boolean;
  readonly state: RunnerState;
  readonly step: (input: RunnerInput) => void;
}

export class Pausing {
  readonly #world: PausingWorld;
  #waiting: (() => void)[] = [];

  constructor(world: PausingWorld) {
    this.#world = world;
  }

  get now(): Pause | null {
    return shownPause(this.#world.state.pauses);
  }

  /** The pause that the node has begun itself, also while another one is shown. */
  get yielding(): YieldPause | null {
    return this.#world.state.pauses.yielding;
  }

  async pause(wish: PauseInput): Promise<Result<OwnerPause, Refusal>> {
    const { node, maxMs, state, isAtSite } = this.#world;
    if (isAtSite) return err(refuse('node.at_site', { node }));
    const refusal = refusePause(node, wish.durationMs, maxMs);
    if (refusal !== null) return err(refusal);
    await this.#step({ kind: 'pause', ...wish });
    const { asked } = state.pauses;
    return asked === null ? err(refuseUnpause(node, this.now)) : ok(asked);
  }

  async unpause(by: string): Promise<Result<null, Refusal>> {
    const { node, state } = this.#world;
    if (state.pauses.asked === null) return err(refuseUnpause(node, this.now));
    await this.#step({ kind: 'unpause', by });
    return ok(null);
  }

  /** Whether the machine is in use; null: it is not. */
  yield(yielding: YieldPause | null): void {
    this.#world.step({ kind: 'yield', yielding });
  }

  /** The head knew another limit perhaps: ours is not passed for that. */
  order(order: PauseOrder): void {
    const { maxMs, step } = this.#world;
    const own =
      order.kind === 'pause' && order.durationMs > maxMs ? { ...order, durationMs: maxMs } : order;
    step({ kind: 'order', order: own });
  }

  /** The journal has everything that was decided. */
  onSettled(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  hello(): Pick<NodeHello, 'pause' | 'pauseMaxMs'> {
    const { maxMs, state } = this.#world;
    for (const { kind } of state.reports.values()) {
      if (kind === 'node_pause') return { pauseMaxMs: maxMs };
    }
    return { pauseMaxMs: maxMs, pause: { turn: state.pauses.turn, pause: this.now } };
  }

  #step(input: RunnerInput): Promise<void> {
    const { state, step } = this.#world;
    const { turn } = state.pauses;
    step(input);
    if (state.pauses.turn === turn) return Promise.resolve();
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }
}
