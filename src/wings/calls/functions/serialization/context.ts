// What a function knows of the call that it runs in. The child of a worker says it through a
// global, so that every copy of this file in one process gives the same answer.

/** What a function knows of the call that it runs in. */
export interface CallContext {
  /** Number of the call in the session of its program, from 1, as `weft calls` shows it. */
  readonly id: number;
  /** 1 the first time, 2 after a worker was lost and the call is tried again, … */
  readonly attempt: number;
  /** Aborted when the call is cancelled or out of time; a second later the process is killed. */
  readonly signal: AbortSignal;
  /** Tells the caller how far it is. Throws NotSendable for what cannot be sent. */
  progress(value: unknown): void;
}

const DOOR = Symbol.for('weft.call');
const BRAND = Symbol.for('weft.call.context');

interface World {
  [DOOR]?: () => CallContext | undefined;
}

/** For the child: where `call` finds the call that runs. */
export function provideContext(current: () => CallContext | undefined): void {
  (globalThis as World)[DOOR] = current;
}

function current(): CallContext {
  const found = (globalThis as World)[DOOR]?.();
  if (found !== undefined) return found;
  throw new Error('`call` is known only within a function that runs on a worker of a pool');
}

/** The call that runs, for the function that runs in it. */
export const call: CallContext = Object.defineProperty(
  {
    get id() {
      return current().id;
    },
    get attempt() {
      return current().attempt;
    },
    get signal() {
      return current().signal;
    },
    progress: (value: unknown) => current().progress(value),
  },
  BRAND,
  { value: true },
);

/** Whether a captured value is `call`, of this copy of the library or another. */
export function isContext(value: object): boolean {
  return Object.hasOwn(value, BRAND);
}
