// The variables that a live function has captured, as V8's inspector shows them ([[Scopes]]), and
// where its text stands. One session for all functions of a thread: opening one costs more than a
// thousand questions.

import { Session } from 'node:inspector';

/** One scope around a function; what it holds is a copy. */
export interface Scope {
  /** V8's word: `Module`, `Closure (make)`, `Block`, `Script`. */
  readonly kind: string;
  /** Reading one that has no value yet throws. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What is around a function, the innermost scope first. */
export interface Surroundings {
  readonly scopes: readonly Scope[];
  readonly scriptId: string | null;
  /** From 0. */
  readonly line: number;
  readonly column: number;
}

export type Ask = (method: string, params?: object) => Record<string, unknown>;

interface Remote {
  readonly objectId: string;
}
interface Location {
  readonly scriptId: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}
interface Internal {
  readonly name: string;
  readonly value: Remote & { readonly value?: Location };
}

/** Hands values to and from the inspector, which takes nothing from code of its own process. */
interface InspectorBridge {
  fn: unknown;
  found: { description: string; object: Scope['variables'] }[];
}

/** The inspector holds what it was asked for until it is told to let go. */
const RELEASE_AFTER = 100;
const GROUP = 'weft';

class Reader {
  readonly #ask: Ask;
  readonly #door: InspectorBridge = { fn: null, found: [] };
  readonly #doorId: string;
  #asked = 0;

  constructor() {
    const session = new Session();
    session.connect();
    this.#ask = askOf(session);
    this.#doorId = idOf(this.#ask, this.#door);
  }

  read(fn: object): Surroundings {
    const door = this.#door;
    door.fn = fn;
    door.found = [];
    try {
      const internals = this.#internalsOf();
      const scopes = internals.find(({ name }) => name === '[[Scopes]]');
      const place = internals.find(({ name }) => name === '[[FunctionLocation]]')?.value.value;
      if (scopes !== undefined) this.#call(scopes.value.objectId, OPEN_SCOPES);
      return {
        scopes: door.found
          .filter(({ description }) => description !== 'Global')
          .map(({ description: kind, object: variables }) => ({ kind, variables })),
        scriptId: place?.scriptId ?? null,
        line: place?.lineNumber ?? 0,
        column: place?.columnNumber ?? 0,
      };
    } finally {
      door.fn = null;
      door.found = [];
      this.#letGo();
    }
  }

  #internalsOf(): readonly Internal[] {
    const { result } = this.#call(this.#doorId, 'function () { return this.fn; }');
    const { objectId } = result as Remote;
    const answer = this.#ask('Runtime.getProperties', { objectId, ownProperties: true });
    return answer['internalProperties'] as Internal[];
  }

  #call(objectId: string, functionDeclaration: string): Record<string, unknown> {
    const values = { arguments: [{ objectId: this.#doorId }], objectGroup: GROUP };
    return this.#ask('Runtime.callFunctionOn', { objectId, functionDeclaration, ...values });
  }

  #letGo(): void {
    this.#asked += 1;
    if (this.#asked % RELEASE_AFTER === 0)
      this.#ask('Runtime.releaseObjectGroup', { objectGroup: GROUP });
  }
}

/** The list has indices and no more: neither a length that counts nor an iterator. */
const OPEN_SCOPES =
  'function (door) { for (let at = 0; at in this; at += 1) door.found.push(this[at]); }';

let reader: Reader | undefined;

/** What is around a function now. */
export function surroundingsOf(fn: object): Surroundings {
  reader ??= new Reader();
  return reader.read(fn);
}

const DOOR = '$weftDoor';

/** Names an object to the inspector. */
export function idOf(ask: Ask, value: object): string {
  return withGlobal(value, () => {
    const { result } = ask('Runtime.evaluate', { expression: `globalThis.${DOOR}` });
    return (result as Remote).objectId;
  });
}

/** While `act` runs, the global `$weftDoor` is the value: evaluated text reaches it by that. */
export function withGlobal<T>(value: object, act: () => T): T {
  const open = { configurable: true, enumerable: false };
  Object.defineProperty(globalThis, DOOR, { value, ...open });
  try {
    return act();
  } finally {
    delete (globalThis as { [DOOR]?: unknown })[DOOR];
  }
}

/** The inspector answers a question about its own thread before `post` returns. */
export function askOf(session: Session): Ask {
  return (method, params = {}) => {
    let answer: { error: Error | null; result?: object } | undefined;
    session.post(method, params, (error, result) => {
      answer = { error, result: result ?? {} };
    });
    if (answer === undefined) throw new Error(`the inspector did not answer ${method}`);
    if (answer.error !== null) throw new Error(`${method}: ${answer.error.message}`);
    const result = answer.result as Record<string, unknown>;
    const details = result['exceptionDetails'] as { text: string } | undefined;
    if (details !== undefined) throw new Error(`${method}: ${details.text}`);
    return result;
  };
}
