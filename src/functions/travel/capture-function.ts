// One function into a parcel: its text, and the variables that it captured.

import { isNative, nameOfBuiltin } from './builtins.ts';
import { CAPTURED, NotSendable, type Trail, wordsOf } from './not-sendable.ts';
import type { Packer } from './packer.ts';
import type { Cell } from './parcel.ts';
import { refOfBuiltin } from './refs.ts';
import type { Scope } from './scopes.ts';
import { readSyntax, type Syntax } from './syntax.ts';

type AnyFunction = (...args: unknown[]) => unknown;

/** The stub of a function. Throws NotSendable when it, or something it captured, cannot travel. */
export function packFunction(packer: Packer, fn: AnyFunction, trail: Trail): unknown {
  const keep = <T>(stub: T): T => {
    packer.became.set(fn, stub);
    return stub;
  };
  const isCallee = packer.options.isCallee === true && trail.up === null;
  const builtin = nameOfBuiltin(fn);
  if (builtin !== undefined && !isCallee) return keep(packer.stub(refOfBuiltin(builtin)));
  const syntax = readFunction(fn, isCallee, trail);
  const scopes = syntax.free.length === 0 ? [] : packer.scopes.scopesOf(fn);
  refuseInternal(packer, fn, scopes, trail);
  const at = packer.functions.length;
  const stub = keep(packer.stub({ is: 'function', at }));
  const base = syntax.importsRelative ? packer.scopes.placeOf(fn) : null;
  // Its place in the table comes before those of what it captured.
  packer.functions.push({ name: '', expression: '', isStrict: true, names: [], cells: [] });
  const captured = capturedOf(syntax, scopes);
  const inside = captureOf(fn, trail);
  packer.functions[at] = {
    name: fn.name,
    expression: syntax.expression,
    // Only a sloppy function has this property.
    isStrict: syntax.isStrict && !Object.hasOwn(fn, 'caller'),
    names: captured.map(([name]) => name),
    cells: captured.map(([name, value]) => cellOf(packer, fn, value, { step: name, up: inside })),
    ...(base === null ? {} : { base }),
    ...parentOf(packer, fn, syntax, trail),
  };
  packProperties(packer, fn, stub, trail);
  return stub;
}

/** The trail into a function: by its name, or by the path to it when it is part of a value. */
function captureOf(fn: AnyFunction, trail: Trail): Trail {
  const isNamed = trail.up === null || trail.up.step.endsWith(CAPTURED);
  return isNamed
    ? { step: `${fn.name || 'the function'}${CAPTURED}`, up: trail.up }
    : { step: CAPTURED, up: trail };
}

function readFunction(fn: AnyFunction, isCallee: boolean, trail: Trail): Syntax {
  const refuse = (why: string): never => {
    throw new NotSendable(wordsOf(trail), why);
  };
  if (isNative(fn)) {
    return refuse(
      fn.name.startsWith('bound ')
        ? 'a bound function hides its target; write () => f(…) instead'
        : `${fn.name || 'it'} is a native function; wrap it in a function of yours`,
    );
  }
  const text = Function.prototype.toString.call(fn);
  if (/^(?:static\s+)?(?:async\s*)?\*?\s*#/.test(text)) return refuse('it is a private method');
  const syntax = readSyntax(text);
  if (syntax === undefined) return refuse('its source cannot be read as JavaScript');
  if (syntax.obstacle !== null) return refuse(syntax.obstacle);
  if (isCallee && syntax.isGenerator)
    return refuse('it is a generator, whose values stay with the worker; return an array instead');
  if (isCallee && syntax.isClass) return refuse('it is a class; send a function that uses it');
  return syntax;
}

/** JavaScript of Node's own that it does not export cannot be named and means nothing elsewhere. */
function refuseInternal(
  packer: Packer,
  fn: AnyFunction,
  scopes: readonly Scope[],
  trail: Trail,
): void {
  if (scopes.length === 0) return;
  if (packer.scopes.placeOf(fn)?.startsWith('node:') === true)
    throw new NotSendable(wordsOf(trail), `${fn.name} belongs to the inside of Node.js`);
}

/** Free names that are variables around the function; the others are globals. */
function capturedOf(syntax: Syntax, scopes: readonly Scope[]): [string, unknown][] {
  return syntax.free.flatMap((name) => {
    const scope = scopes.find((one) => Object.hasOwn(one, name));
    return scope === undefined ? [] : [[name, scope[name]] as [string, unknown]];
  });
}

function cellOf(packer: Packer, owner: AnyFunction, value: unknown, trail: Trail): Cell {
  if (isRequire(value)) {
    const base = packer.scopes.placeOf(owner);
    return { ref: packer.refOf(packer.stub({ is: 'require', base })) ?? 0 };
  }
  const sent = packer.sent(value, trail);
  const ref = packer.refOf(sent);
  if (ref !== undefined) return { ref };
  if (typeof sent !== 'object' || sent === null) return { value: sent };
  return { inGraph: packer.graph.cells.push(sent) - 1 };
}

/** The `require` of a CommonJS module. */
function isRequire(value: unknown): boolean {
  return (
    typeof value === 'function' &&
    value.name === 'require' &&
    ['resolve', 'cache', 'main'].every((name) => Object.hasOwn(value, name))
  );
}

function parentOf(
  packer: Packer,
  fn: AnyFunction,
  syntax: Syntax,
  trail: Trail,
): { parent?: number | null } {
  if (!syntax.isClass || !syntax.hasParent) return {};
  const parent: unknown = Object.getPrototypeOf(fn);
  if (parent === Function.prototype) return { parent: null };
  const stub = packer.sent(parent, { step: nameOf(parent), up: captureOf(fn, trail) });
  return { parent: packer.refOf(stub) ?? null };
}

function nameOf(value: unknown): string {
  return typeof value === 'function' ? value.name : String(value);
}

/** Properties that a program has put on a function, or on the prototype of an old-style class. */
function packProperties(packer: Packer, fn: AnyFunction, stub: unknown, trail: Trail): void {
  if (Object.keys(fn).length > 0) {
    const copy = {};
    packer.fill(copy, fn, trail);
    packer.graph.properties.push([stub, copy]);
  }
  const prototype = Object.getOwnPropertyDescriptor(fn, 'prototype')?.value as object | undefined;
  if (prototype && Object.keys(prototype).length > 0) {
    const copy = {};
    packer.fill(copy, prototype, { step: '.prototype', up: trail });
    packer.graph.prototypes.push([stub, copy]);
  }
}
