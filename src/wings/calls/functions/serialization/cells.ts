// Which variables of the functions in a packed value are one and the same. A function goes with
// copies of its variables; where one function gives a variable a value that another reads, both
// have to have the same one.

import { enteredVariables, type Variable } from './entered.ts';
import { NotSendable } from './not-sendable.ts';
import { isImported } from './packages.ts';
import { readSyntax, type Syntax } from './syntax.ts';

type AnyFunction = (...args: never[]) => unknown;

/** A variable as one function has it. */
export interface CellUse {
  readonly fn: AnyFunction;
  readonly syntax: Syntax;
  readonly name: string;
  readonly value: unknown;
  /** V8's word for the scope that holds it. */
  readonly kind: string;
  readonly scriptId: string | null;
  /** Whether this function gives it a value. */
  readonly isAssigned: boolean;
}

/** Sets of uses that are one variable, which one of them assigns; others are not in any. */
export function sharedCells<U extends CellUse>(uses: readonly U[]): U[][] {
  const sets = new Map<U, U[]>();
  for (const writer of uses.filter(({ isAssigned }) => isAssigned)) {
    for (const other of uses) {
      const set = sets.get(writer) ?? [writer];
      if (set.includes(other) || !isOne(writer, other)) continue;
      const all = [...set, ...(sets.get(other) ?? [other])];
      for (const one of all) sets.set(one, all);
    }
  }
  return [...new Set(sets.values())];
}

/** Throws when a function of one packed value assigns what one of another packed value uses. */
export function refuseAcross(uses: readonly CellUse[], others: readonly CellUse[]): void {
  for (const one of uses) {
    for (const other of others) {
      if (!(one.isAssigned || other.isAssigned)) continue;
      const [writer, user] = one.isAssigned ? [one, other] : [other, one];
      if (!isOne(writer, user)) continue;
      throw new NotSendable(
        one.name,
        `${wordsFor(writer)} assigns it and ${wordsFor(user)} uses it, but one goes as an argument of the other's call, or in a shared value, with a copy of its own; let the function use both by their names`,
      );
    }
  }
}

/** Throws when a function of a value that stays from call to call assigns a variable. */
export function refuseAssigning(uses: readonly CellUse[]): void {
  for (const one of uses) {
    if (!one.isAssigned) continue;
    const why = `${wordsFor(one)} assigns it, and is part of a shared value, which stays from call to call while variables do not; make it a property of an object that is shared`;
    throw new NotSendable(one.name, why);
  }
}

/** Whether both are one variable. Throws when nobody can tell. */
function isOne(writer: CellUse, other: CellUse): boolean {
  if (writer.fn === other.fn || !Object.is(writer.value, other.value)) return false;
  if (isTop(writer) !== isTop(other)) return false;
  const isSameName = writer.name === other.name;
  if (!isTop(writer)) return isSameName && isFound(writer, other);
  if (writer.kind !== other.kind) return false;
  // What a module imports has the name that the importer gave it.
  if (writer.kind === 'Module' && writer.scriptId !== other.scriptId)
    return isImported(other.scriptId, other.name) && isFound(writer, other);
  return isSameName;
}

/** A scope that exists once for each script. */
function isTop({ kind }: CellUse): boolean {
  return kind === 'Module' || kind === 'Script';
}

/** Gives one a value that no other has, and looks whether the other has it. */
function isFound(writer: CellUse, other: CellUse): boolean {
  const [here, there] = [variableOf(writer), variableOf(other)];
  if (here === null || there === null) return refuse(writer, other);
  const before = here.get();
  const mark = {};
  try {
    here.set(mark);
  } catch (cause) {
    const why = `${wordsFor(writer)} assigns it, though it is a constant`;
    throw new NotSendable(writer.name, why, { cause });
  }
  try {
    return there.get() === mark;
  } finally {
    here.set(before);
  }
}

const entered = new WeakMap<object, Map<string, Variable | null>>();

function variableOf(use: CellUse): Variable | null {
  const { fn, name } = use;
  const known = entered.get(fn) ?? new Map<string, Variable | null>();
  entered.set(fn, known);
  if (!known.has(name)) {
    const door = doorInto(use);
    if (door === null) known.set(name, null);
    else for (const [at, one] of enter(door).entries()) known.set(door.names[at] ?? '', one);
  }
  return known.get(name) ?? null;
}

interface Entrance {
  readonly fn: object;
  readonly names: readonly string[];
  readonly isGenerator: boolean;
}

function enter(door: Entrance): (Variable | null)[] {
  return enteredVariables(door.fn, door) ?? door.names.map(() => null);
}

/** A function that stands in the scope: it itself, or a method of the class. */
function doorInto({ fn, syntax, name }: CellUse): Entrance | null {
  if (syntax.canEnter && syntax.free.includes(name))
    return { fn, names: syntax.free, isGenerator: syntax.isGenerator };
  if (!syntax.isClass) return null;
  const text = Function.prototype.toString.call(fn);
  for (const method of methodsOf(fn)) {
    const own = Function.prototype.toString.call(method);
    const inner = text.includes(own) ? readSyntax(own) : undefined;
    if (inner?.canEnter === true && inner.free.includes(name))
      return { fn: method, names: [name], isGenerator: inner.isGenerator };
  }
  return null;
}

function methodsOf(fn: AnyFunction): object[] {
  const owners = [fn, (fn as { prototype?: object }).prototype ?? {}];
  return owners
    .flatMap((owner) => Object.values(Object.getOwnPropertyDescriptors(owner)))
    .flatMap(({ value, get, set }) => [value, get, set] as unknown[])
    .filter((one): one is AnyFunction => typeof one === 'function' && one !== fn);
}

function refuse(writer: CellUse, other: CellUse): never {
  throw new NotSendable(
    writer.name,
    `nobody can tell whether ${wordsFor(writer)}, which assigns it, and ${wordsFor(other)} use one variable of that name or two; make it a property of an object that both use`,
  );
}

function wordsFor({ fn, syntax }: CellUse): string {
  return fn.name || (syntax.isClass ? 'a class' : 'a function');
}
