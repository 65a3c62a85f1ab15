// Runs the site's health check again and again: until it passes, this node gets no new work.

import type { Clock, Timer } from '../ports/clock.ts';
import type { HealthCheck } from '../ports/health.ts';
import type { Log } from '../ports/log.ts';

export interface HealthSettings {
  readonly check: HealthCheck;
  /** From the end of one check to the next. */
  readonly intervalMs: number;
}

export interface HealthWorld {
  readonly clock: Clock;
  readonly log: Log;
  /** Null: the site has no check. */
  readonly health: HealthSettings | null;
  /** The fault is another one than before, or none. */
  readonly onChange: () => void;
}

/** From the start of the agent until the first answer. */
const NOT_YET = 'not checked yet';

export class HealthWatch {
  readonly #world: HealthWorld;
  #fault: string | null;
  #timer: Timer | null = null;
  #stopped = false;

  constructor(world: HealthWorld) {
    this.#world = world;
    this.#fault = world.health === null ? null : NOT_YET;
  }

  /** What is wrong by the last check; null: nothing. */
  get fault(): string | null {
    return this.#fault;
  }

  start(): void {
    const { health } = this.#world;
    if (health !== null) void this.#look(health);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #look(health: HealthSettings): Promise<void> {
    const { isWell, words } = await health.check.run();
    if (this.#stopped) return;
    this.#set(isWell ? null : `unhealthy: ${words}`);
    this.#timer = this.#world.clock.after(health.intervalMs, () => void this.#look(health));
  }

  #set(fault: string | null): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    this.#world.log.debug({ fault }, 'the health check has another answer');
    this.#world.onChange();
  }
}
