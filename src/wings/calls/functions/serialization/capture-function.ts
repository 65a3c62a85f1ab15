// One function into a packed value: its text, and the variables that it captured.

import { isNative, nameOfBuiltin } from './builtins.ts';
import type { CellUse } from './cells.ts';
import { idOfClass } from './classes.ts';
import { scriptNamed } from './entered.ts';
import { CAPTURED, NotSendable, type Trail, trailTextOf } from './not-sendable.ts';
import {
  exportOfModule,
  exportOfPackage,
  importOf,
  isOfPackage,
  type PackageRef,
  withWayOut,
} from './packages.ts';
import type { Cell, SentFunction } from './packed-value.ts';
import type { Leaves, Packer } from './packer.ts';
import { builtinRef, refOfBuiltin } from './refs.ts';
import { refuseChanged } from './refusals.ts';
import { type Scope, type Surroundings, surroundingsOf } from './scopes.ts';
import { Shared } from './shared.ts';
import { readSyntax, type Syntax } from './syntax.ts';
import { placeBefore } from './text-place.ts';

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
  const exported = exportOfPackage(fn);
  if (exported !== undefined) return keep(packer.packageStub(exported));
  try {
    return packText(packer, fn, { trail, isCallee, keep });
  } catch (error) {
    throw refusalWithin(fn, error, trail);
  }
}

interface How {
  readonly trail: Trail;
  readonly isCallee: boolean;
  readonly keep: <T>(stub: T) => T;
}

function packText(packer: Packer, fn: AnyFunction, { trail, isCallee, keep }: How): unknown {
  const syntax = readFunction(fn, isCallee, trail);
  refuseChanged(fn, syntax.isClass, trail);
  const around = needsAround(syntax) ? surroundingsOf(fn) : NOWHERE;
  const script = scriptNamed(around.scriptId);
  if (script?.url.startsWith('node:') === true)
    throw new NotSendable(trailTextOf(trail), `${fn.name} belongs to the inside of Node.js`);
  const ofModule = script === null ? undefined : exportOfModule(fn, script.url);
  if (ofModule !== undefined) return keep(packer.packageStub(ofModule));
  const at = packer.functions.length;
  const stub = keep(packer.stub({ is: 'function', at }));
  // Its place in the table comes before those of what it captured.
  packer.functions.push({ name: '', expression: '', isStrict: true, names: [], cells: [] });
  packer.functions[at] = packParts(packer, { fn, syntax, around, at }, trail);
  packProperties(packer, { fn, syntax, stub }, trail);
  return stub;
}

/**
 * The refusal of a function, or of an instance by its class: of a package's inside with the way
 * out.
 */
export function refusalWithin(fn: object, error: unknown, trail: Trail): unknown {
  if (!(error instanceof NotSendable) || isNative(fn)) return error;
  const url = scriptNamed(surroundingsOf(fn).scriptId)?.url ?? '';
  return isOfPackage(url) ? withWayOut(error, url, trail) : error;
}

function packParts(
  packer: Packer,
  { fn, syntax, around, at }: Looked & { readonly at: number },
  trail: Trail,
): SentFunction {
  const captured = capturedOf({ fn, syntax, around }, trail);
  const inside = captureOf(fn, trail);
  for (const use of captured) packer.uses.push({ ...use, at, cell: cellOf(packer, use, inside) });
  const uses = packer.uses.filter((use) => use.at === at);
  const free = uses.filter(({ name }) => syntax.free.includes(name));
  const base = syntax.imports ? scriptNamed(around.scriptId)?.url : undefined;
  return {
    name: fn.name,
    expression: syntax.expression,
    // Only a sloppy function has this property.
    isStrict: syntax.isStrict && !Object.hasOwn(fn, 'caller'),
    names: free.map(({ name }) => name),
    cells: free.map(({ cell }) => cell),
    ...(base === undefined ? {} : { base }),
    ...(free.some(({ isAssigned }) => isAssigned) ? { resets: true } : {}),
    ...(syntax.isClass ? { id: idOfClass(fn) } : {}),
    ...placeOf(around, syntax),
    ...parentOf(packer, fn, syntax, trail),
  };
}

/** What has captured nothing was not looked at: that would cost more than all else. */
function placeOf(around: Surroundings, { lead }: Syntax): Pick<SentFunction, 'place'> {
  const url = scriptNamed(around.scriptId)?.url ?? '';
  return url === '' ? {} : { place: { url, ...placeBefore(around, lead) } };
}

const NOWHERE: Surroundings = { scopes: [], scriptId: null, line: 0, column: 0 };

function needsAround({ free, ownName, imports }: Syntax): boolean {
  return free.length > 0 || ownName !== null || imports;
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
    throw new NotSendable(trailTextOf(trail), why);
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

interface Looked {
  readonly fn: AnyFunction;
  readonly syntax: Syntax;
  readonly around: Surroundings;
}

/** Free names that are variables around the function; the others are globals. */
function capturedOf({ fn, syntax, around }: Looked, trail: Trail): CellUse[] {
  const { scopes, scriptId } = around;
  const uses = syntax.free.flatMap((name) => {
    const scope = scopes.find(({ variables }) => Object.hasOwn(variables, name));
    if (scope === undefined) return [];
    const value = readVariable(scope, name, { step: name, up: captureOf(fn, trail) });
    const isAssigned = syntax.assigned.has(name);
    return [{ fn, syntax, name, value, kind: scope.kind, scriptId, isAssigned }];
  });
  return [...uses, ...ownNameOf({ fn, syntax, around }, trail)];
}

function readVariable({ kind, variables }: Scope, name: string, trail: Trail): unknown {
  if (kind.startsWith('With'))
    throw new NotSendable(trailTextOf(trail), 'it stands in a `with`; name the object');
  try {
    return variables[name];
  } catch (cause) {
    const words = 'it has no value yet; send the function after the line that gives it one';
    throw new NotSendable(trailTextOf(trail), words, { cause });
  }
}

/**
 * The function's own name is bound by the text, or is a variable around it, which its text does not
 * tell. As long as the variable is the function it is all the same.
 */
function ownNameOf({ fn, syntax, around }: Looked, trail: Trail): CellUse[] {
  const { ownName: name } = syntax;
  if (name === null) return [];
  const scope = around.scopes.find(({ variables }) => Object.hasOwn(variables, name));
  if (scope === undefined) return [];
  const inside = { step: name, up: captureOf(fn, trail) };
  const value = readVariable(scope, name, inside);
  if (value === fn && !syntax.assigned.has(name)) {
    const { kind } = scope;
    return [{ fn, syntax, name, value, kind, scriptId: around.scriptId, isAssigned: false }];
  }
  const words = 'the function says its own name, which is a variable with another value';
  throw new NotSendable(trailTextOf(inside), `${words}; give the two different names`);
}

function cellOf(packer: Packer, use: CellUse, inside: Trail): Cell {
  const { fn, name, value } = use;
  if (isRequire(value)) {
    const base = scriptNamed(surroundingsOf(fn).scriptId)?.url ?? null;
    return { ref: packer.refOf(packer.stub({ is: 'require', base })) ?? 0 };
  }
  const imported = importedAs(use);
  if (imported !== undefined) return { ref: packer.refOf(packer.packageStub(imported)) ?? 0 };
  if (typeof value === 'object' && value !== null) packer.identities.push(identityOf(value));
  packer.captures += 1;
  const sent = packer.sent(value, { step: name, up: inside });
  packer.captures -= 1;
  const ref = packer.refOf(sent);
  if (ref !== undefined) return { ref };
  if (typeof sent !== 'object' || sent === null) return { value: sent };
  return { inGraph: packer.graph.cells.push(sent) - 1 };
}

/** What a variable was imported as from a package, unless it goes by a name of its own. */
function importedAs({ name, value, kind, scriptId }: CellUse): PackageRef | undefined {
  const isObject = typeof value === 'function' || (typeof value === 'object' && value !== null);
  if (kind !== 'Module' || !isObject || value instanceof Shared) return undefined;
  return builtinRef(value) === undefined ? importOf(scriptId, name) : undefined;
}

const identities = new WeakMap<object, number>();
let nextIdentity = 1;

/** A number for each object of this process. */
function identityOf(value: object): number {
  const known = identities.get(value) ?? nextIdentity++;
  identities.set(value, known);
  return known;
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
function packProperties(
  packer: Packer,
  { fn, syntax: { isClass }, stub }: Pick<Looked, 'fn' | 'syntax'> & { readonly stub: unknown },
  trail: Trail,
): void {
  const prototype = Object.getOwnPropertyDescriptor(fn, 'prototype')?.value as object | undefined;
  const isLeft: Leaves = (key, known) => isOfText(key, known, isClass);
  packer.captures += 1;
  if (hasOwn(fn, isLeft)) {
    const copy = {};
    packer.fill(copy, fn, trail, isLeft);
    packer.graph.properties.push([stub, copy]);
  }
  packer.keepClosed(stub, fn);
  if (prototype && hasOwn(prototype, isLeft)) {
    const copy = {};
    packer.fill(copy, prototype, { step: '.prototype', up: trail }, isLeft);
    packer.graph.prototypes.push([stub, copy]);
  }
  if (prototype && !Object.isExtensible(prototype)) {
    const words = 'it takes no new properties, which is not kept; leave the prototype open';
    throw new NotSendable(trailTextOf({ step: '.prototype', up: trail }), words);
  }
  packer.captures -= 1;
}

const MADE_WITH_IT: ReadonlySet<string | symbol> = new Set([
  ...['length', 'name', 'prototype', 'arguments', 'caller', 'constructor'],
]);

/** What the text of a function or class makes is not enumerable. */
function isOfText(key: string | symbol, known: PropertyDescriptor, isClass: boolean): boolean {
  if (known.enumerable === true) return false;
  if (MADE_WITH_IT.has(key)) return true;
  const parts = [known.value, known.get, known.set] as unknown[];
  return isClass && parts.some((part) => typeof part === 'function');
}

function hasOwn(owner: object, isLeft: Leaves): boolean {
  return Reflect.ownKeys(owner).some(
    (key) => !isLeft(key, Object.getOwnPropertyDescriptor(owner, key) ?? {}),
  );
}
