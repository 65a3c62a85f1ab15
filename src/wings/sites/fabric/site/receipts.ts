// Receipts of the scripts that a site runs for us, read from their folders.

import { type LaunchEntry, receiptsRead } from './entry.ts';
import { ENDED, parseEndReceipt, parseStartReceipt, STARTED } from './script.ts';
import { hasBegun } from './stage.ts';
import type { SiteWorld } from './world.ts';

/** At once: a file server has others to serve. */
const LOOKS_MAX = 200;

export class Receipts {
  readonly #world: Pick<SiteWorld, 'folders' | 'clock' | 'log'>;
  #lookedAt = 0;
  /** Unreadable receipts were reported, and are not reported again until they can be read. */
  #isUnreadable = false;

  constructor(world: Pick<SiteWorld, 'folders' | 'clock' | 'log'>) {
    this.#world = world;
  }

  /** A share of them, where there are many, and the next share the next time. */
  readSome(all: readonly LaunchEntry[]): void {
    const entries = all.filter(({ stage }) => stage.kind !== 'ended');
    const count = Math.min(entries.length, LOOKS_MAX);
    const wrong: unknown[] = [];
    for (let looked = 0; looked < count; looked += 1) {
      const entry = entries[(this.#lookedAt + looked) % entries.length];
      try {
        if (entry !== undefined) this.read(entry);
      } catch (error) {
        // The file server is away, or its user has shut the folder: others are read all the same.
        wrong.push(error);
      }
    }
    this.#lookedAt += count;
    const [first] = wrong;
    const told = { error: String(first), launches: wrong.length };
    if (wrong.length > 0 && !this.#isUnreadable)
      this.#world.log.warn(told, 'receipts are unreadable');
    this.#isUnreadable = wrong.length > 0;
  }

  read(entry: LaunchEntry): void {
    if (entry.stage.kind === 'ended' || entry.stage.kind === 'unsent' || entry.isForeign) return;
    const { folders, clock } = this.#world;
    const started =
      hasBegun(entry) && entry.startedAt !== null ? null : folders.read(entry.launchId, STARTED);
    const ended = folders.read(entry.launchId, ENDED);
    const receipts = {
      started: started === null ? null : parseStartReceipt(started),
      ended: ended === null ? null : parseEndReceipt(ended),
    };
    receiptsRead(entry, receipts, clock.now());
  }
}
