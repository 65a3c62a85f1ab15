// Does for fleets of pilots what their state asks for: submits, ends and lists at their batch
// systems, one command at a time for each fleet, and tells the controller what was said.

import type { Fleet } from '../machine/facts.ts';
import { pilotsOf } from '../machine/find.ts';
import { type Course, launch, refuse } from './launching.ts';
import { look } from './looking.ts';
import { noAccount, type PilotWorld } from './world.ts';

/** While something is to change, and while nothing is. */
const SOON_MS = 1500;
const LATER_MS = 10_000;
/** While a fleet has no pilots at all: one may still come of a submission whose answer was lost. */
const RARELY_MS = 60_000;
/** What a batch system has not answered by then is left to the head that comes next. */
const CLOSE_MS = 5000;
/** A node has come whose pilot is not known to run: it gets work when that is known. */
const AT_ONCE_MS = 200;

export class PilotKeeper {
  readonly #world: PilotWorld;
  readonly #lookedAt = new Map<string, number>();
  readonly #busy = new Map<string, Promise<void>>();
  readonly #ending = new AbortController();
  readonly #course: Course;

  constructor(world: PilotWorld) {
    this.#world = world;
    const { signal: ending } = this.#ending;
    this.#course = { ending, begunAt: world.engine.now(), doubtfulSince: new Map() };
  }

  tick(): void {
    const { engine } = this.#world;
    if (engine.failure !== null || engine.behind !== null || this.#ending.signal.aborted) return;
    const { fleets } = engine.state;
    for (const id of this.#lookedAt.keys()) if (!fleets.has(id)) this.#lookedAt.delete(id);
    for (const fleet of fleets.values()) {
      if (!this.#busy.has(fleet.id) && this.#isDue(fleet)) this.#begin(fleet.id);
    }
  }

  /** No command is given any more, and what is under way has had its time to be answered. */
  async close(): Promise<void> {
    this.#ending.abort();
    if (this.#busy.size === 0) return;
    const answered = Promise.all(this.#busy.values());
    await new Promise<void>((resolve) => {
      const timer = this.#world.clock.after(CLOSE_MS, resolve);
      void answered.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  #isDue(fleet: Fleet): boolean {
    if (fleet.nextLaunch === 1) return false;
    const agoMs = this.#world.clock.monotonic() - (this.#lookedAt.get(fleet.id) ?? -Infinity);
    return agoMs >= this.#waitOf(fleet);
  }

  #waitOf(fleet: Fleet): number {
    const { nodes } = this.#world.engine.state;
    if (fleet.launches.size === 0) return RARELY_MS;
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
    const account = await world.accountOf(by);
    for (const { number, site } of [...launches.values()]) {
      if (site !== null) continue;
      if (account === null) await refuse(world, { fleet: id, number }, noAccount(by));
      else await launch(world, { fleet: id, number, account }, this.#course);
    }
    // What is there already the head itself still sees and ends: it is root's.
    await look(world, id, account ?? { name: by, user: null }, this.#ending.signal);
  }
}
