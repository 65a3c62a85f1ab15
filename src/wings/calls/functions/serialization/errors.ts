// Errors in packed values: their class by name, message, stack, cause and own properties.
// Structured clone alone loses the own properties.

import { nameOfBuiltin } from './builtins.ts';
import { NotSendable, stepTo, type Trail } from './not-sendable.ts';
import type { ErrorParts } from './packed-value.ts';
import type { Packer } from './packer.ts';
import { refusePrivate } from './refusals.ts';

/** Classes that exist in every process. */
const KINDS: Readonly<Record<string, { prototype: Error }>> = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
  AggregateError,
  DOMException,
  // Node.js has had it since 24, and programs may run with an older one.
  ...(typeof SuppressedError === 'undefined' ? {} : { SuppressedError }),
};

/** Own properties of kinds of errors that cannot be enumerated and say what happened. */
const SAID_BY_KIND: Readonly<Record<string, readonly string[]>> = {
  SuppressedError: ['error', 'suppressed'],
  // Read from a field of its own, which follows no name that is given to it later.
  DOMException: ['code'],
};

const PLACED = new Set(['name', 'message', 'stack', 'cause', 'errors']);

export function packError(packer: Packer, error: Error, trail: Trail): unknown {
  const kind = kindOf(error);
  const stub = packer.stub({ is: 'error', kind });
  packer.became.set(error, stub);
  const part = (value: unknown, step: string) => partOf(packer, value, { step, up: trail });
  const own = {};
  for (const [key, { get, value }] of ownOf(error, kind)) {
    const sent = get === undefined ? part(value, stepTo(key)) : '[a getter]';
    Object.defineProperty(own, key, { value: sent, ...OPEN });
  }
  if (error instanceof DOMException)
    Object.defineProperty(own, 'code', { value: codeOf(error), ...OPEN });
  const hasCause = Object.hasOwn(error, 'cause');
  const parts: ErrorParts = {
    name: textOf(error, 'name'),
    message: textOf(error, 'message') ?? '',
    stack: textOf(error, 'stack'),
    hasCause,
    cause: hasCause ? part(error.cause, '.cause') : undefined,
    errors: membersOf(error)?.map((one, at) => part(one, `.errors[${at}]`)) ?? null,
    own,
  };
  packer.graph.errors.push([stub, parts]);
  const ofClass = packer.options.withFunctions ? classOf(packer, error, trail) : undefined;
  packer.nameClassOf(error, stub);
  if (ofClass !== undefined) packer.graph.instances.push([stub, ofClass]);
  return stub;
}

/** The nearest class of an error that the other side has too. */
function kindOf(error: Error): string {
  for (let at: unknown = error; at !== null; at = Object.getPrototypeOf(at)) {
    for (const [name, { prototype }] of Object.entries(KINDS)) if (at === prototype) return name;
  }
  return 'Error';
}

/** The stub of a class of the program's. */
function classOf(packer: Packer, error: Error, trail: Trail): unknown {
  const { prototype } = KINDS[kindOf(error)] ?? Error;
  if (Object.getPrototypeOf(error) === prototype) return undefined;
  const maker: unknown = error.constructor;
  if (typeof maker !== 'function' || nameOfBuiltin(maker) !== undefined) return undefined;
  refusePrivate(maker, trail);
  return packer.sent(maker, { step: '.constructor', up: trail });
}

function textOf(error: Error, name: 'name' | 'message' | 'stack'): string | null {
  try {
    const text: unknown = error[name];
    return typeof text === 'string' ? text : null;
  } catch {
    return null; // A getter of the error's own class; an error without this still says the rest.
  }
}

/** Number by the standard; 0 where its own class has something else there. */
function codeOf(error: DOMException): number {
  try {
    return typeof error.code === 'number' ? error.code : 0;
  } catch {
    return 0; // It was made by `Object.create`, and has no fields.
  }
}

function membersOf(error: Error): unknown[] | null {
  if (!(error instanceof AggregateError)) return null;
  const members: unknown = error.errors;
  return Array.isArray(members) ? members : null;
}

function ownOf(error: Error, kind: string): [string, PropertyDescriptor][] {
  const said = SAID_BY_KIND[kind] ?? [];
  return Object.entries(Object.getOwnPropertyDescriptors(error)).filter(
    ([key, { enumerable }]) => (enumerable === true || said.includes(key)) && !PLACED.has(key),
  );
}

/** An error is never kept back for what it carries: words stand for what cannot be sent. */
function partOf(packer: Packer, value: unknown, trail: Trail): unknown {
  try {
    return packer.sent(value, trail);
  } catch (refusal) {
    if (!(refusal instanceof NotSendable)) throw refusal;
    return `[not sent: ${refusal.reason}]`;
  }
}

export function emptyError(kind: string): Error {
  const maker = Object.hasOwn(KINDS, kind) ? KINDS[kind] : Error;
  return maker === AggregateError ? new AggregateError([]) : new (maker as typeof Error)();
}

/** Gives an empty error what the one that was sent had. */
export function fillError(error: Error, parts: ErrorParts): void {
  const set = (key: string, value: unknown): void => {
    const open = { writable: true, enumerable: false, configurable: true };
    Object.defineProperty(error, key, { value, ...open });
  };
  if (parts.name !== null && parts.name !== error.name) set('name', parts.name);
  set('message', parts.message);
  set('stack', parts.stack ?? `${error.name}: ${parts.message}`);
  if (parts.hasCause) set('cause', parts.cause);
  if (parts.errors !== null) set('errors', parts.errors);
  const hidden = SAID_BY_KIND[kindOf(error)] ?? [];
  for (const [key, value] of Object.entries(parts.own)) {
    if (hidden.includes(key)) set(key, value);
    else if (!PLACED.has(key)) Object.defineProperty(error, key, { value, ...OPEN });
  }
}

const OPEN = { writable: true, enumerable: true, configurable: true };
