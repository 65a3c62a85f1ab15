// When each node was heard last in its session, and how long it has been silent since: time in
// which this head stood still, as in a huge request or a machine that hangs, is no silence.

import type { NodeName } from '../model/ids.ts';
import type { Clock } from '../ports/clock.ts';

export interface LastHeardOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'now'>;
  /** A head that does not stand still looks this often. */
  readonly lookMs: number;
  /** Told how long it has stood still. */
  readonly onStall: (ms: number) => void;
}

interface Instant {
  readonly monotonic: number;
  readonly wall: number;
  /** Reading of the clock that stands still whenever the head does. */
  readonly awake: number;
}

/** Looks that are late by no more are those of a busy machine. */
const LOOKS_LATE = 2;

export class LastHeard {
  readonly #options: LastHeardOptions;
  readonly #at = new Map<NodeName, Instant>();
  #lookedAt: number;
  /** All stalls together. */
  #stalledMs = 0;
  #startedAt: number;

  constructor(options: LastHeardOptions) {
    this.#options = options;
    this.#lookedAt = options.clock.monotonic();
    this.#startedAt = this.look();
  }

  /** The clock that leaves out stalls. To be called every `lookMs`: what is longer was one. */
  look(): number {
    const { clock, lookMs, onStall } = this.#options;
    const now = clock.monotonic();
    const gapMs = now - this.#lookedAt;
    this.#lookedAt = now;
    if (gapMs > LOOKS_LATE * lookMs) {
      this.#stalledMs += gapMs - lookMs;
      onStall(gapMs - lookMs);
    }
    return now - this.#stalledMs;
  }

  note(node: NodeName): void {
    const { clock } = this.#options;
    const awake = this.look();
    this.#at.set(node, { monotonic: clock.monotonic(), wall: clock.now(), awake });
  }

  /** Puts back what was true before a note; undefined: it had not been heard. */
  restore(node: NodeName, before: Instant | undefined): void {
    if (before === undefined) this.#at.delete(node);
    else this.#at.set(node, before);
  }

  of(node: NodeName): Instant | undefined {
    return this.#at.get(node);
  }

  /** Less than has passed, if anything; a node that was not heard counts from the start. */
  silentMs(node: NodeName): number {
    return this.look() - (this.#at.get(node)?.awake ?? this.#startedAt);
  }

  /**
   * Since then at most, stalls and all: a node may well restart meanwhile. And the clock that never
   * jumps stands still while this machine sleeps. Undefined: it was not heard.
   */
  msAgo(node: NodeName): number | undefined {
    const { clock } = this.#options;
    const at = this.#at.get(node);
    if (at === undefined) return undefined;
    return Math.max(clock.monotonic() - at.monotonic, clock.now() - at.wall);
  }

  /** Counts silence from now on: before this instant no node could be heard. */
  begin(): void {
    this.#startedAt = this.look();
  }

  reset(): void {
    this.begin();
    this.#at.clear();
  }
}
