// Why this node should get no new work, as far as the agent itself can tell: its disk, and the
// output on it.

import { NODE_DISK_FREE_BYTES_MIN } from '../core/model/limits.ts';
import type { NodeLoad } from '../wire/messages.ts';

export interface FaultWorld {
  readonly load: () => NodeLoad;
  /** Whether there is more captured output than is wanted here. */
  readonly isSpoolFull: () => boolean;
  /** Whether new work could be recorded. */
  readonly hasRoom: () => boolean;
  /** The fault is another one than before, or none. */
  readonly onChange: () => void;
}

const DISK_FULL = 'disk full';
const SPOOL_FULL = 'spool full';

export class FaultWatch {
  readonly #world: FaultWorld;
  #fault: string | null = null;

  constructor(world: FaultWorld) {
    this.#world = world;
  }

  /** Looks at the disk; null: all is well. */
  look(): string | null {
    const { diskFreeBytes } = this.#world.load();
    // Twice the minimum before it is well again: the border must not be crossed every second.
    const wanted = (this.#fault === null ? 1 : 2) * NODE_DISK_FREE_BYTES_MIN;
    const isFull = diskFreeBytes < wanted || !this.#world.hasRoom();
    this.#set(isFull ? DISK_FULL : this.#world.isSpoolFull() ? SPOOL_FULL : null);
    return this.#fault;
  }

  /** For each order: asks the system nothing while all is well. */
  current(): string | null {
    return this.#fault === null && this.#world.hasRoom() ? null : this.look();
  }

  #set(fault: string | null): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    this.#world.onChange();
  }
}
