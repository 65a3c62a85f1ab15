// Objects that are bound to their process, and why.

import { types } from 'node:util';
import { isNative, nameOfBuiltin, wordsOfBuiltin } from './builtins.ts';
import { NotSendable, type Trail, wordsOf } from './not-sendable.ts';
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
  throw new NotSendable(wordsOf(trail), `${what}; open or make it where it is used`);
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
          : types.isSharedArrayBuffer(value)
            ? 'memory cannot be shared with another process; copy it into an ArrayBuffer'
            : types.isExternal(value)
              ? 'it is a native handle'
              : value === process.env
                ? 'the environment is not sent; pass the values that are needed'
                : null;
  if (what !== null) throw new NotSendable(wordsOf(trail), what);
}

const privates = new WeakMap<object, readonly string[]>();

/** Instances whose class has private members: a copy without them would be broken. */
export function refusePrivate(maker: object, trail: Trail): void {
  if (isNative(maker)) return;
  const known = privates.get(maker) ?? privatesOf(maker);
  privates.set(maker, known);
  if (known.length === 0) return;
  const { name } = maker as { name: string };
  const words = `${name || 'its class'} has private members (${known.join(', ')})`;
  throw new NotSendable(wordsOf(trail), `${words}, which cannot be read; send its data`);
}

function privatesOf(maker: object): readonly string[] {
  const text = Function.prototype.toString.call(maker);
  return text.includes('#') ? (readSyntax(text)?.privates ?? []) : [];
}
