// Why this node should get no new work, as far as the agent itself can tell: its disk, the output
// on it, a launcher that is older than the agent, what the site's health check says, and what the
// agent itself has lacked.

import { NODE_DISK_FREE_BYTES_MIN } from '../model/limits.ts';
import type { NodeLoad } from '../wire/messages.ts';

export interface FaultWorld {
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  readonly load: () => NodeLoad;
  /** Whether an older launcher, from before an upgrade, still has what it started. */
  readonly isLauncherOutdated: () => boolean;
  /** Whether the launcher is there and does not answer. */
  readonly isLauncherSilent: () => boolean;
  /** Whether there is more captured output than is wanted here. */
  readonly isSpoolFull: () => boolean;
  /** What is looked at is the machine of the gateway, and the node another one. */
  readonly isElsewhere?: boolean;
  /** What the site's health check says is wrong; null: nothing, or there is none. */
  readonly ill: () => string | null;
  /** Whether new work could be recorded. */
  readonly hasRoom: () => boolean;
  /** The fault is another one than before, or none. */
  readonly onChange: () => void;
}

const DISK_FULL = 'disk full';
const SPOOL_FULL = 'spool full';
/** Such a launcher keeps no leases; it is replaced when what it runs has ended. */
export const LAUNCHER_OUTDATED = 'old launcher still in use';
const LAUNCHER_SILENT = 'its launcher does not answer';

/** Long enough for some of what runs to end, which gives back what was lacking. */
const LACK_MS = 30_000;

export class FaultWatch {
  readonly #world: FaultWorld;
  #fault: string | null = null;
  #isFull = false;
  #lack: { readonly words: string; readonly until: number } | null = null;

  constructor(world: FaultWorld) {
    this.#world = world;
  }

  /** Looks at the disk; null: all is well. */
  look(): string | null {
    const { diskFreeBytes } = this.#world.load();
    // Twice the minimum before it is well again: the border must not be crossed every second.
    const wanted = (this.#isFull ? 2 : 1) * NODE_DISK_FREE_BYTES_MIN;
    this.#isFull = diskFreeBytes < wanted || !this.#world.hasRoom();
    this.#set(this.#isFull ? this.#here(DISK_FULL) : this.#lesser());
    return this.#fault;
  }

  /** For each order: asks the system nothing while all is well. */
  current(): string | null {
    const { hasRoom, isLauncherOutdated } = this.#world;
    const isWell = this.#fault === null && hasRoom() && !isLauncherOutdated();
    return isWell ? null : this.look();
  }

  /** The agent could not start what the node has room for: it tries again later. */
  lacks(words: string): void {
    this.#lack = { words, until: this.#world.now() + LACK_MS };
    this.look();
  }

  #lesser(): string | null {
    if (this.#lack !== null && this.#world.now() < this.#lack.until)
      return this.#here(this.#lack.words);
    if (this.#world.isLauncherSilent()) return LAUNCHER_SILENT;
    if (this.#world.isLauncherOutdated()) return LAUNCHER_OUTDATED;
    return this.#world.isSpoolFull() ? this.#here(SPOOL_FULL) : this.#world.ill();
  }

  #here(words: string): string {
    return this.#world.isElsewhere === true ? `its gateway: ${words}` : words;
  }

  #set(fault: string | null): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    this.#world.onChange();
  }
}
