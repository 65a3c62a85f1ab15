// Whether the head's disk has room for new work, or only for what ends work.

import type { Clock, Timer } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Room, Store } from '../ports/store.ts';
import { SHORTAGE } from './shortage.ts';

/** How often a full disk is looked at: each time a reserve of some MiB may be written. */
const ROOM_LOOK_MS = 5000;

export interface RoomWorld {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The store can write, as far as anybody knows. */
  readonly isRunning: () => boolean;
  /** There is room, maybe again. */
  readonly onRoom: () => void;
}

export class RoomWatch {
  readonly #world: RoomWorld;
  #endsOnly = false;
  #look: Timer | null = null;

  constructor(world: RoomWorld) {
    this.#world = world;
  }

  /** The disk is full, and what is written comes from the store's reserve. */
  get endsOnly(): boolean {
    return this.#endsOnly;
  }

  keepTo(room: Room): void {
    const { log, clock, onRoom } = this.#world;
    if (room === 'ends_only' && !this.#endsOnly) log.error({}, SHORTAGE);
    if (room === 'enough' && this.#endsOnly) {
      log.info({}, 'the disk has room again; new work is accepted');
    }
    this.#endsOnly = room === 'ends_only';
    this.#look?.cancel();
    this.#look = this.#endsOnly ? clock.after(ROOM_LOOK_MS, () => this.#lookForRoom()) : null;
    if (!this.#endsOnly) onRoom();
  }

  #lookForRoom(): void {
    const { store, log, isRunning } = this.#world;
    if (!isRunning()) return;
    store.probe().then(
      (room) => {
        // A store that cannot write any more says so at the next commit.
        if (isRunning()) this.keepTo(room === 'enough' ? 'enough' : 'ends_only');
      },
      (error: unknown) => {
        log.warn({ error: String(error) }, 'the free space of the disk cannot be read');
        this.keepTo('ends_only');
      },
    );
  }
}
