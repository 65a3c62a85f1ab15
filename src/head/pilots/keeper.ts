// Does for fleets of pilots what their state asks for: submits, ends and lists at their batch systems,
// one command at a time for each fleet, and tells the controller what was said.

import type { Fleet } from '../../core/controller/pilots/facts.ts';
import { pilotsOf } from '../../core/controller/pilots/find.ts';
import { launch } from './launching.ts';
import { look } from './looking.ts';
import type { PilotWorld } from './world.ts';

/** While something is to change, and while nothing is. */
const SOON_MS = 1500;
const LATER_MS = 10_000;
/** A node has come whose pilot is not known to run: it gets work when that is known. */
const AT_ONCE_MS = 200;

export class PilotKeeper {
  readonly #world: PilotWorld;
  readonly #lookedAt = new Map<string, number>();
  readonly #busy = new Map<string, Promise<void>>();

  constructor(world: PilotWorld) {
    this.#world = world;
  }

  tick(): void {
    const { engine } = this.#world;
    if (engine.failure !== null) return;
    const { fleets } = engine.state;
    for (const id of this.#lookedAt.keys()) if (!fleets.has(id)) this.#lookedAt.delete(id);
    for (const fleet of fleets.values()) {
      if (!this.#busy.has(fleet.id) && this.#isDue(fleet)) this.#begin(fleet.id);
    }
  }

  /** What is under way has its answer, or its time-out. */
  async close(): Promise<void> {
    await Promise.all(this.#busy.values());
  }

  #isDue(fleet: Fleet): boolean {
    if (fleet.launches.size === 0) return false;
    const agoMs = this.#world.clock.monotonic() - (this.#lookedAt.get(fleet.id) ?? -Infinity);
    return agoMs >= this.#waitOf(fleet);
  }

  #waitOf(fleet: Fleet): number {
    const { nodes } = this.#world.engine.state;
    let waitMs = LATER_MS;
    for (const { pilot, launch } of pilotsOf(fleet)) {
      const isJoined = nodes.get(pilot.node)?.connected === true;
      if (isJoined && pilot.phase === 'waiting') return AT_ONCE_MS;
      const isSettled = pilot.phase === 'up' && pilot.leaving === null && isJoined;
      if (!isSettled || launch.site === null) waitMs = SOON_MS;
    }
    return waitMs;
  }

  #begin(id: string): void {
    const { log } = this.#world;
    const done = this.#care(id)
      .catch((error: unknown) => log.error({ fleet: id, error }, 'the pilots cannot be cared for'))
      .then(() => {
        this.#busy.delete(id);
        this.#lookedAt.set(id, this.#world.clock.monotonic());
      });
    this.#busy.set(id, done);
  }

  async #care(id: string): Promise<void> {
    const world = this.#world;
    const fleet = world.engine.state.fleets.get(id);
    if (fleet === undefined) return;
    const { by, launches } = fleet;
    const user = await world.userOf(by);
    for (const { number, site } of [...launches.values()]) {
      if (site === null) await launch(world, { fleet: id, number, user });
    }
    await look(world, id, user);
  }
}
