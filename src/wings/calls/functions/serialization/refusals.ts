// Objects that are bound to their process, and why.

import { types } from 'node:util';
import { isNative, nameOfBuiltin, wordsOfBuiltin } from './builtins.ts';
import { NotSendable, type Trail, trailTextOf } from './not-sendable.ts';
import { readSyntax } from './syntax.ts';

/** Classes whose instances structured clone and the walk know; of another realm as well. */
const CARRIED: ReadonlySet<string> = new Set(['Object', 'Array', 'Map', 'Set']);

export function isCarried(maker: object): boolean {
  return CARRIED.has((maker as { name: string }).name) && isNative(maker);
}

/** May be extended by a class of the user's whose instances travel: its state is ordinary data. */
const CARRIED_PARENT = 'EventEmitter';

/** Instances of classes that are not the user's. */
export function refuseForeign(maker: object, isOwn: boolean, trail: Trail): void {
  if (isCarried(maker)) return;
  const name = (maker as { name: string }).name;
  const builtin = nameOfBuiltin(maker);
  if (builtin === undefined && !isNative(maker)) return;
  if (!isOwn && name === CARRIED_PARENT) return;
  const words = builtin === undefined ? name : wordsOfBuiltin(builtin);
  const what = isOwn ? `a ${words} lives in its process only` : `it is a kind of ${words}`;
  throw new NotSendable(trailTextOf(trail), `${what}; open or make it where it is used`);
}

/** What is bound to its process, and would clone wrongly or with words that say little. */
export function refuseLiving(value: object, trail: Trail): void {
  const what = types.isProxy(value)
    ? 'a Proxy does not travel; send what it stands for'
    : types.isPromise(value)
      ? 'it is a promise; await it first'
      : types.isWeakMap(value) || types.isWeakSet(value) || value instanceof WeakRef
        ? 'weak collections do not travel'
        : types.isGeneratorObject(value)
          ? 'a running generator does not travel; collect what it yields'
          : isIterator(value)
            ? 'an iterator does not travel; collect what it gives into an array'
            : types.isSharedArrayBuffer(value)
              ? 'memory cannot be shared with another process; copy it into an ArrayBuffer'
              : types.isExternal(value)
                ? 'it is a native handle'
                : value === process.env
                  ? 'the environment is not sent; pass the values that are needed'
                  : null;
  if (what !== null) throw new NotSendable(trailTextOf(trail), what);
}

/**
 * What `map.keys()`, `text.matchAll(…)` and the like give, of any realm: its prototype has a `next`
 * of the language and no class. A copy would be an empty object.
 */
function isIterator(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return false;
  const next: unknown = Object.getOwnPropertyDescriptor(prototype, 'next')?.value;
  return (
    typeof next === 'function' &&
    isNative(next) &&
    !Object.hasOwn(prototype as object, 'constructor')
  );
}

/** Private members in the words of a refusal. */
const SHOWN = 5;

const privates = new WeakMap<object, readonly string[]>();

/** Instances whose class has private members: a copy without them would be broken. */
export function refusePrivate(maker: object, trail: Trail): void {
  if (isNative(maker)) return;
  const known = privates.get(maker) ?? privatesOf(maker);
  privates.set(maker, known);
  if (known.length === 0) return;
  const { name } = maker as { name: string };
  const shown = known.length > SHOWN ? [...known.slice(0, SHOWN), '…'] : known;
  const words = `${name || 'its class'} has private members (${shown.join(', ')})`;
  throw new NotSendable(trailTextOf(trail), `${words}, which cannot be read; send its data`);
}

function privatesOf(maker: object): readonly string[] {
  const text = Function.prototype.toString.call(maker);
  return text.includes('#') ? (readSyntax(text)?.privates ?? []) : [];
}

/** Dates and the like that are more than their kind: a copy would be that kind alone. */
export function refuseUnlike(value: object, trail: Trail): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  const maker = (prototype as { constructor?: unknown } | null)?.constructor;
  const isKind = typeof maker === 'function' && isNative(maker) && maker.prototype === prototype;
  const { lastIndex = 0 } = value as { lastIndex?: number };
  const isFresh = !types.isRegExp(value) || lastIndex === 0;
  const hasMore =
    !types.isStringObject(value) && Reflect.ownKeys(value).some((key) => key !== 'lastIndex');
  if (isKind && isFresh && !hasMore) return;
  const what = isFresh ? 'it has more than others of its kind' : 'it is in the middle of a search';
  throw new NotSendable(trailTextOf(trail), `${what}, which a copy would not; send its parts`);
}

/** Objects that inherit from one that no class has made. */
export function refuseStrange(value: object, maker: unknown, trail: Trail): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (types.isModuleNamespaceObject(value)) return refuseChanging(value, trail);
  if (prototype === null) return;
  if (typeof maker === 'function' && (maker.prototype === prototype || isNative(maker))) return;
  const words = 'its prototype is an object that no class has; make it with a class, or copy it';
  throw new NotSendable(trailTextOf(trail), words);
}

/** A copy of a module stands still, while its functions change what it exports. */
function refuseChanging(namespace: object, trail: Trail): void {
  const all = Object.values(namespace) as unknown[];
  const isChanging = all.some(
    (one) =>
      typeof one === 'function' &&
      !isNative(one) &&
      (readSyntax(Function.prototype.toString.call(one))?.assigned.size ?? 0) > 0,
  );
  if (!isChanging || all.every((one) => typeof one === 'function')) return;
  const words = 'it is a whole module, whose functions change its variables; import them by name';
  throw new NotSendable(trailTextOf(trail), words);
}

/** A class, or a function, that was changed after its text was read. */
export function refuseChanged(fn: object, isClass: boolean, trail: Trail): void {
  const refuse = (why: string): never => {
    throw new NotSendable(trailTextOf(trail), why);
  };
  const prototype = Object.getOwnPropertyDescriptor(fn, 'prototype')?.value as object | undefined;
  if (!isClass) {
    const [own, inherited] = [fn, prototype].map((one) => one && Object.getPrototypeOf(one));
    const isKnown = (one: unknown) => one === undefined || KNOWN_PROTOTYPES.has(one);
    if (!(isKnown(own) && isKnown(inherited)))
      refuse('it inherits from an object that was given to it later; write a class');
    return;
  }
  const text = Function.prototype.toString.call(fn);
  for (const owner of [fn, prototype ?? {}]) {
    for (const [key, one] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      if (one.enumerable === true || key === 'constructor' || key === 'prototype') continue;
      for (const part of [one.value, one.get, one.set] as unknown[]) {
        if (typeof part !== 'function') continue;
        if (!text.includes(Function.prototype.toString.call(part)))
          refuse(`its ${key} was replaced after the class was made; write it in the class`);
      }
    }
  }
}

/** What functions of each kind, and their prototypes, inherit from. */
const KNOWN_PROTOTYPES: ReadonlySet<unknown> = new Set(
  [() => undefined, async () => undefined, function* () {}, async function* () {}].flatMap(
    (one) => [
      Object.getPrototypeOf(one) as unknown,
      Object.getPrototypeOf((one as { prototype?: object }).prototype ?? {}) as unknown,
    ],
  ),
);
