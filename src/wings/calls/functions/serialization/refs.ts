// Built-ins and symbols as what stands behind a stub.

import { types } from 'node:util';
import { nameOfBuiltin } from './builtins.ts';
import { isContext } from './context.ts';
import { NotSendable, type Trail, trailTextOf } from './not-sendable.ts';
import type { Ref } from './packed-value.ts';

/** Built-in objects that go by name. Namespaces of `import * as` are known by their default. */
export function builtinRef(value: object): Ref | undefined {
  if (value === globalThis) return { is: 'global' };
  if (isContext(value)) return { is: 'context' };
  const known =
    nameOfBuiltin(value) ??
    (types.isModuleNamespaceObject(value) && isObject(defaultOf(value))
      ? nameOfBuiltin(defaultOf(value) as object)
      : undefined);
  return known && refOfBuiltin(known);
}

function defaultOf(namespace: object): unknown {
  return 'default' in namespace ? namespace.default : undefined;
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

export function refOfBuiltin(name: NonNullable<ReturnType<typeof nameOfBuiltin>>): Ref {
  const path = name.path.map((step) =>
    typeof step === 'string' ? step : { symbol: (step.description ?? '').replace('Symbol.', '') },
  );
  return { is: 'builtin', module: name.module, path };
}

export function refOfSymbol(value: symbol, trail: Trail): Ref {
  const key = Symbol.keyFor(value);
  if (key !== undefined) return { is: 'symbol', key, isWellKnown: false };
  const name = (value.description ?? '').replace('Symbol.', '');
  if ((Symbol as unknown as Record<string, unknown>)[name] === value)
    return { is: 'symbol', key: name, isWellKnown: true };
  throw new NotSendable(trailTextOf(trail), `${String(value)} is unique; use Symbol.for(…)`);
}
