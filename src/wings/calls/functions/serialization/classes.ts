// Classes that went with functions, by name on both sides: an instance that comes back is one of
// the program's own class again.

import { randomUUID } from 'node:crypto';
import { knownHere } from './known-here.ts';

type Class = abstract new (...args: never[]) => object;

const PROCESS = randomUUID();
const { classIds: ids, classes } = knownHere;
const gone = new FinalizationRegistry<string>((id) => {
  // Another of that name may have taken its place.
  if (classes.get(id)?.deref() === undefined) classes.delete(id);
});

/**
 * The name under which a class of this program goes to workers. One that came here with a function
 * keeps its name; of several of one name that which went last is the one whose instances come back.
 */
export function idOfClass(made: object): string {
  const known = ids.get(made);
  const id = known ?? `${PROCESS}:${classes.size}:${randomUUID().slice(0, 8)}`;
  if (known === undefined) nameClass(made, id);
  if (classes.get(id)?.deref() === made) return id;
  classes.set(id, new WeakRef(made));
  gone.register(made, id);
  return id;
}

/** At a worker: this is the class of that name. */
export function nameClass(made: object, id: string): void {
  ids.set(made, id);
}

/** The name of the class of an instance; undefined when it came from no program. */
export function classNameOf(instance: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(instance);
  const maker: unknown = (prototype as { constructor?: unknown } | null)?.constructor;
  if (typeof maker !== 'function' || maker.prototype !== prototype) return undefined;
  return ids.get(maker);
}

/** The class of this program that has the name; undefined when it has none. */
export function classNamed(id: string): Class | undefined {
  return classes.get(id)?.deref() as Class | undefined;
}
