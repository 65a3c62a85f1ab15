// Goals from an HTTP address: read again and again, the last good ones kept with their age, also
// over restarts of the head.

import { isSame } from '../../../kernel/base/same.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { DataReader } from '../../../kernel/ports/data-source.ts';
import type { GoalClass } from '../core/goal.ts';

export interface GoalSourceState {
  /** Without what only its server is to read; of a file its path. */
  readonly url: string;
  /** When the goals in force were read, ms since 1970; null: there are none yet. */
  readonly readAt: number | null;
  /** Why the last reading failed; null: it did not. */
  readonly problem: string | null;
}

/** What is kept of it on the head's disk: goals of one address are none of another's. */
export interface KeptGoals {
  /** Null when nothing was; throws words when it cannot be read. */
  load(): { readonly url: string; readonly text: string; readonly readAt: number } | null;
  save(kept: { readonly url: string; readonly text: string }): void;
}

export interface GoalSourceWorld {
  readonly reader: DataReader;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly kept: KeptGoals;
  /** Throws words. */
  readonly parse: (text: string) => readonly GoalClass[];
}

const TIMEOUT_MS = 10_000;

export class GoalSource {
  readonly #world: GoalSourceWorld;
  readonly url: string;
  readonly #everyMs: number;
  #readAt: number | null = null;
  #triedAt: number | null = null;
  #problem: string | null = null;
  #isReading = false;

  constructor(world: GoalSourceWorld, url: string, everyMs: number) {
    this.#world = world;
    this.url = url;
    this.#everyMs = everyMs;
  }

  get state(): GoalSourceState {
    return { url: shownAddress(this.url), readAt: this.#readAt, problem: this.#problem };
  }

  /** What a head before this one had read last; none where that is nothing, or cannot be read. */
  start(): readonly GoalClass[] {
    try {
      const kept = this.#world.kept.load();
      if (kept === null || kept.url !== this.url) return [];
      const classes = this.#world.parse(kept.text);
      this.#readAt = kept.readAt;
      return classes;
    } catch (error) {
      this.#problem = `what was kept of it: ${errorTextOf(error)}`;
      return [];
    }
  }

  /** New goals; null: it is not due, or they are those in force, or cannot be read. */
  async look(inForce: readonly GoalClass[]): Promise<readonly GoalClass[] | null> {
    const { clock, reader, kept, parse } = this.#world;
    const now = clock.monotonic();
    if (this.#isReading || (this.#triedAt !== null && now - this.#triedAt < this.#everyMs)) {
      return null;
    }
    this.#isReading = true;
    this.#triedAt = now;
    try {
      const from = { kind: 'url', url: this.url } as const;
      const text = await reader.read({ from, timeoutMs: TIMEOUT_MS });
      const classes = parse(text);
      kept.save({ url: this.url, text });
      [this.#readAt, this.#problem] = [clock.now(), null];
      // Another text may say the same: a comment is no reason to look at all nodes anew.
      return isSame(classes, inForce) ? null : classes;
    } catch (error) {
      this.#problem = errorTextOf(error);
      return null;
    } finally {
      this.#isReading = false;
    }
  }
}

function errorTextOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For everybody to see: what comes after its path may be a key. */
export function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
