// O1, O2 on what really runs: no task goes on beyond the grace on a node that is paused, and no
// pause outlives its deadline, while the agent lives that has to see to it.

import { endingOf } from '../../src/kernel/runner/epoch.ts';
import { isPaused } from '../../src/kernel/runner/pause/state.ts';
import type { Machine } from '../machine.ts';
import type { PauseWork } from '../pause-work.ts';
import { placeOf, type Truth } from '../truth.ts';
import { Violation } from '../violation.ts';

export interface PauseWatchWorld {
  readonly truth: Truth;
  readonly machines: readonly Machine[];
  readonly allowed: PauseWork['allowed'];
  readonly killGraceMs: number;
  readonly now: () => number;
}

/** Timers, the journal, and messages to the launcher may take this much together. */
const SLACK_MS = 4000;
const SLOW_CLOCK = 1.05;

export class PauseWatch {
  readonly #world: PauseWatchWorld;
  /** Since when each node is seen paused, with an agent that can write. */
  readonly #since = new Map<string, number>();

  constructor(world: PauseWatchWorld) {
    this.#world = world;
  }

  /** Call every so often. */
  look(): void {
    for (const machine of this.#world.machines) {
      this.#checkEnd(machine);
      this.#checkStill(machine);
    }
  }

  /** After a restart with a lost clock it may last as long as it was to last, from there. */
  #checkEnd({ name, agent, agentSince, skew, disk }: Machine): void {
    const { allowed, now } = this.#world;
    if (agent === null || agentSince === null || disk.isFull) return;
    if (agent.state.pauses.asked === null) return;
    const { until = 0, durationMs = 0 } = allowed.get(name) ?? {};
    const latest = Math.max(until, skew.bootedAt + durationMs * SLOW_CLOCK, agentSince);
    if (now() <= latest + SLACK_MS) return;
    throw new Violation('O2', `${name} is still paused ${now() - latest} ms after its deadline`);
  }

  #checkStill({ name, agent, agentSince, disk, orphans }: Machine): void {
    const { truth, killGraceMs, now } = this.#world;
    const isWatched = agent !== null && agentSince !== null && !disk.isFull;
    if (!isWatched || !isPaused(agent.state.pauses)) {
      this.#since.delete(name);
      return;
    }
    const since = Math.max(this.#since.get(name) ?? now(), agentSince);
    this.#since.set(name, since);
    const graceMs = killGraceMs * SLOW_CLOCK + SLACK_MS;
    if (now() - since <= graceMs) return;
    for (const process of truth.live) {
      // What is being ended has to run for it, and what was left behind is nobody's task any more.
      if (process.node !== name || process.runningSince === null || process.isLeftover) continue;
      const { epochId } = placeOf(process);
      const epoch = [...agent.state.epochs.values()].find(({ order }) => order.epochId === epochId);
      const isEnding = epoch === undefined || endingOf(epoch) !== null || orphans.has(process);
      if (isEnding || now() - process.runningSince <= graceMs) continue;
      throw new Violation('O1', `${epochId} runs on ${name}, which is paused since ${since}`);
    }
  }
}
