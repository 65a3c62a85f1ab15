// When each node was heard last in its session.

import type { NodeName } from '../core/model/ids.ts';
import type { Clock } from '../ports/clock.ts';

interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

export class LastHeard {
  readonly #clock: Pick<Clock, 'monotonic' | 'now'>;
  readonly #at = new Map<NodeName, Instant>();
  #startedAt: number;

  constructor(clock: Pick<Clock, 'monotonic' | 'now'>) {
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  note(node: NodeName): void {
    this.#at.set(node, { monotonic: this.#clock.monotonic(), wall: this.#clock.now() });
  }

  /** Puts back what was true before a note; undefined: it had not been heard. */
  restore(node: NodeName, before: Instant | undefined): void {
    if (before === undefined) this.#at.delete(node);
    else this.#at.set(node, before);
  }

  of(node: NodeName): Instant | undefined {
    return this.#at.get(node);
  }

  /** By the clock that never jumps; a node that was not heard counts from the start. */
  silentMs(node: NodeName): number {
    return this.#clock.monotonic() - (this.#at.get(node)?.monotonic ?? this.#startedAt);
  }

  /**
   * Since then at most: the clock that never jumps stands still while this machine sleeps, and a node
   * may well restart meanwhile. Undefined: it was not heard.
   */
  msAgo(node: NodeName): number | undefined {
    const at = this.#at.get(node);
    if (at === undefined) return undefined;
    return Math.max(this.#clock.monotonic() - at.monotonic, this.#clock.now() - at.wall);
  }

  /** Whoever was not heard could not be heard before. */
  begin(): void {
    this.#startedAt = this.#clock.monotonic();
  }

  reset(): void {
    this.begin();
    this.#at.clear();
  }
}
