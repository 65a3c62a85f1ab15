// The variables that a live function has captured, as V8's inspector shows them ([[Scopes]]).

import { Session } from 'node:inspector';

/** Variables by name. */
export type Scope = Readonly<Record<string, unknown>>;

/** What functions have captured, the innermost scope first. Close it after use. */
export interface ScopeReader {
  scopesOf(fn: object): Scope[];
  /** The file or URL that holds the function's source; null when it has none. */
  placeOf(fn: object): string | null;
  close(): void;
}

// The inspector hands values to code of this process only by way of a global; it exists for the
// time of one question.
const DOOR = Symbol('weft: scopes');
const doorName = `Object.getOwnPropertySymbols(globalThis).find((one) => one.description === 'weft: scopes')`;

interface Door {
  fn: object;
  found: { description: string; object: Scope }[];
}

interface Remote {
  readonly objectId: string;
}
interface Internal {
  readonly name: string;
  readonly value: Remote & { readonly value?: { readonly scriptId: string } };
}

/** Opens one. Costs about a millisecond, and about half of one for each function. */
export function openScopes(): ScopeReader {
  const session = new Session();
  session.connect();
  const scripts = new Map<string, string>();
  const ask = askOf(session);
  const askAbout = <T>(fn: object, act: (internals: readonly Internal[], door: Door) => T): T => {
    const door: Door = { fn, found: [] };
    const world = globalThis as { [DOOR]?: Door };
    Object.defineProperty(world, DOOR, { value: door, configurable: true, enumerable: false });
    try {
      const { result } = ask('Runtime.evaluate', { expression: `globalThis[${doorName}].fn` });
      const id = (result as Remote).objectId;
      const answer = ask('Runtime.getProperties', { objectId: id, ownProperties: true });
      return act(answer['internalProperties'] as Internal[], door);
    } finally {
      delete world[DOOR];
    }
  };
  return {
    scopesOf: (fn) =>
      askAbout(fn, (internals, door) => {
        const scopes = internals.find(({ name }) => name === '[[Scopes]]');
        if (scopes === undefined) return [];
        ask('Runtime.callFunctionOn', {
          objectId: scopes.value.objectId,
          // The list has indices and no more: neither a length that counts nor an iterator.
          functionDeclaration: `function () {
            const { found } = globalThis[${doorName}];
            for (let at = 0; at in this; at += 1) found.push(this[at]);
          }`,
        });
        return door.found
          .filter(({ description }) => description !== 'Global')
          .map(({ object }) => object);
      }),
    placeOf: (fn) =>
      askAbout(fn, (internals) => {
        if (scripts.size === 0) {
          session.on('Debugger.scriptParsed', ({ params }) =>
            scripts.set(params.scriptId, params.url),
          );
          ask('Debugger.enable', {});
        }
        const place = internals.find(({ name }) => name === '[[FunctionLocation]]');
        return scripts.get(place?.value.value?.scriptId ?? '') || null;
      }),
    close: () => session.disconnect(),
  };
}

/** The inspector answers a question about its own thread before `post` returns. */
function askOf(session: Session): (method: string, params: object) => Record<string, unknown> {
  return (method, params) => {
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
