// What a process knows of functions that came to it: kept in a global, as in the child of a worker
// Weft is there twice, once as the child itself and once as the package that functions import.

import type { Ref } from './packed-value.ts';

export interface KnownHere {
  /** What came as an export of a package. */
  readonly imports: WeakMap<object, Extract<Ref, { is: 'package' }>>;
  /** Names of classes. */
  readonly classIds: WeakMap<object, string>;
  /** Classes by name, whose instances may come back here. */
  readonly classes: Map<string, WeakRef<object>>;
}

const DOOR = Symbol.for('weft.known-here');

interface World {
  [DOOR]?: KnownHere;
}

/** One object for all copies of this file. */
export const knownHere: KnownHere = find();

function find(): KnownHere {
  const world = globalThis as World;
  world[DOOR] ??= { imports: new WeakMap(), classIds: new WeakMap(), classes: new Map() };
  return world[DOOR];
}
