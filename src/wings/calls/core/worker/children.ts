// The processes of a worker that run functions: its own, and for each depth of calls that wait for
// calls of their own pool one more, so that no wait keeps from running what it waits for (C17).

import { ChildMind } from './child-mind.ts';
import type { BareEnd, CallEntry, OwnAsset, WorkerPort } from './entries.ts';

export class Children {
  readonly #port: WorkerPort;
  readonly #onEnd: (entry: CallEntry, end: BareEnd) => void;
  /** By depth; the first is the worker's own. */
  readonly #minds: ChildMind[];

  constructor(
    port: WorkerPort,
    onEnd: (entry: CallEntry, end: BareEnd) => void,
    hopeless: (detail: string) => void,
  ) {
    this.#port = port;
    this.#onEnd = onEnd;
    this.#minds = [new ChildMind(port, { ended: onEnd, hopeless })];
  }

  /** The worker's own. */
  get own(): ChildMind {
    return this.#minds[0] as ChildMind;
  }

  get all(): readonly ChildMind[] {
    return this.#minds;
  }

  /** The one for calls of this depth; made when it is asked for first. */
  at(depth: number): ChildMind {
    for (let next = this.#minds.length; next <= depth; next += 1) {
      this.#minds.push(new ChildMind(this.#port.seat(next), { ended: this.#onEnd }));
    }
    return this.#minds[depth] as ChildMind;
  }

  of({ depth }: CallEntry): ChildMind {
    return this.at(depth);
  }

  /** Calls that run now. */
  get running(): CallEntry[] {
    return this.#minds.flatMap(({ running }) => (running === null ? [] : [running]));
  }

  /** All that has not started: what waits here; what a child has is asked for. */
  recallAll(): CallEntry[] {
    return this.#minds.flatMap((mind) => mind.recall(Number.POSITIVE_INFINITY));
  }

  /** The same when all of them are gone. */
  halt(): CallEntry[] {
    return this.#minds.flatMap((mind) => mind.halt());
  }

  feed(): void {
    for (const mind of this.#minds) mind.feed();
  }

  unload(asset: OwnAsset): void {
    for (const mind of this.#minds) mind.unload(asset);
  }

  stoodStill(ms: number, now: number): void {
    for (const mind of this.#minds) mind.stoodStill(ms, now);
  }

  tick(now: number): void {
    for (const mind of this.#minds) mind.tick(now);
  }
}
