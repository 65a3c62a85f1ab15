// Goals from an HTTP address: read again and again, the last good ones kept with their age, also over
// restarts of the head.

import type { GoalClass } from '../../core/goals/goal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DataReader } from '../../ports/data-source.ts';

export interface GoalSourceState {
  readonly url: string;
  /** When the goals in force were read, ms since 1970; null: there are none yet. */
  readonly readAt: number | null;
  /** Why the last reading failed; null: it did not. */
  readonly problem: string | null;
}

/** What is kept of it on the head's disk. */
export interface KeptGoals {
  /** Null: nothing was. */
  load(): { readonly text: string; readonly readAt: number } | null;
  save(text: string): void;
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
  readonly #url: string;
  readonly #everyMs: number;
  #text: string | null = null;
  #readAt: number | null = null;
  #triedAt: number | null = null;
  #problem: string | null = null;
  #isReading = false;

  constructor(world: GoalSourceWorld, url: string, everyMs: number) {
    this.#world = world;
    this.#url = url;
    this.#everyMs = everyMs;
  }

  get state(): GoalSourceState {
    return { url: this.#url, readAt: this.#readAt, problem: this.#problem };
  }

  /** What a head before this one had read last; none where that is nothing, or cannot be read. */
  start(): readonly GoalClass[] {
    const kept = this.#world.kept.load();
    if (kept === null) return [];
    try {
      const classes = this.#world.parse(kept.text);
      [this.#text, this.#readAt] = [kept.text, kept.readAt];
      return classes;
    } catch (error) {
      this.#problem = `what was kept of it: ${wordsOf(error)}`;
      return [];
    }
  }

  /** New goals; null: it is not due, or they are as they were, or cannot be read. */
  async look(): Promise<readonly GoalClass[] | null> {
    const { clock, reader, kept, parse } = this.#world;
    const now = clock.monotonic();
    if (this.#isReading || (this.#triedAt !== null && now - this.#triedAt < this.#everyMs)) {
      return null;
    }
    this.#isReading = true;
    this.#triedAt = now;
    try {
      const from = { kind: 'url', url: this.#url } as const;
      const text = await reader.read({ from, timeoutMs: TIMEOUT_MS });
      const classes = text === this.#text ? null : parse(text);
      kept.save(text);
      [this.#text, this.#readAt, this.#problem] = [text, clock.now(), null];
      return classes;
    } catch (error) {
      this.#problem = wordsOf(error);
      return null;
    } finally {
      this.#isReading = false;
    }
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
