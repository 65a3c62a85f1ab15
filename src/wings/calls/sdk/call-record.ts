// What a pool knows of a call: how far it is and how it ended. `Call` shows it to programs.

import type { Progress } from './progress.ts';

/** `waiting` until it is known to run; `done`: it has its result, or its error. */
export type CallState = 'waiting' | 'running' | 'done';

/** How a call ended. */
export type CallOutcome<T> =
  | { readonly ok: true; readonly value: T }
  /** One of the errors of calls: `RemoteError`, `WorkerLost` and so on. */
  | { readonly ok: false; readonly error: unknown };

export class CallRecord<T> {
  readonly id: number;
  readonly functionName: string;
  /** Number in its session; 0 before it has one. */
  number = 0;
  state: CallState = 'waiting';
  attempt = 0;
  worker: string | null = null;
  /** Where to send what it says while it runs; null as long as nobody has asked. */
  progress: Progress | null = null;
  /** Why its owner wants it to end, when that is what it should be rejected with. */
  abortReason: { readonly reason: unknown } | null = null;
  /** Asks for its end. */
  cancel: () => void = () => undefined;
  #listeners: ((outcome: CallOutcome<T>) => void)[] | null = null;
  #outcome: CallOutcome<T> | null = null;
  #promise: Promise<T> | null = null;
  #settle: ((outcome: CallOutcome<T>) => void) | null = null;

  constructor(id: number, functionName: string) {
    this.id = id;
    this.functionName = functionName;
  }

  /** Only the first end counts. */
  end(outcome: CallOutcome<T>): void {
    if (this.#outcome !== null) return;
    this.state = 'done';
    this.#outcome = outcome;
    const listeners = this.#listeners ?? [];
    this.#listeners = null;
    for (const tell of listeners) tell(outcome);
    this.#settle?.(outcome);
    this.#settle = null;
    this.progress?.end();
  }

  /** Told at its end, or at once when it has ended. */
  whenEnded(tell: (outcome: CallOutcome<T>) => void): void {
    if (this.#outcome !== null) return tell(this.#outcome);
    this.#listeners ??= [];
    this.#listeners.push(tell);
  }

  /** Made only for calls that are awaited: one in a hundred thousand costs nothing else. */
  asPromise(): Promise<T> {
    this.#promise ??= new Promise<T>((resolve, reject) => {
      const settle = (end: CallOutcome<T>): void => {
        if (end.ok) resolve(end.value);
        else reject(end.error);
      };
      if (this.#outcome === null) this.#settle = settle;
      else settle(this.#outcome);
    });
    return this.#promise;
  }
}
