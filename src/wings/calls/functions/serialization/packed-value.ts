// The bytes of a packed value: either a plain structured clone, or a table of what the clone cannot
// carry (functions, built-ins, errors) and a clone in which stubs stand for those.

import { CALL_BYTES_MAX } from '../../../../kernel/model/limits.ts';
import { NotSendable } from './not-sendable.ts';

/** What stands behind a stub. */
export type Ref =
  | { readonly is: 'function'; readonly at: number }
  | { readonly is: 'builtin'; readonly module: string | null; readonly path: readonly Step[] }
  | { readonly is: 'symbol'; readonly key: string; readonly isWellKnown: boolean }
  | { readonly is: 'error'; readonly kind: string }
  | { readonly is: 'url'; readonly href: string }
  | { readonly is: 'shared'; readonly sha256: string; readonly asHandle: boolean }
  | { readonly is: 'require'; readonly base: string | null }
  /** `base` imports `from`; `name` leads from there, `*` is all of it. */
  | { readonly is: 'package'; readonly base: string; readonly from: string; readonly name: string }
  | { readonly is: 'global' }
  | { readonly is: 'context' };

/** A property's name, or `{ symbol }` for a well-known symbol. */
export type Step = string | { readonly symbol: string };

/** A captured variable: known at once, or read from the graph. */
export type Cell =
  | { readonly ref: number }
  | { readonly value: unknown }
  | { readonly inGraph: number }
  /** Each call brings its value. */
  | { readonly variable: number };

/** A function as it travels. */
export interface SentFunction {
  readonly name: string;
  readonly expression: string;
  readonly isStrict: boolean;
  readonly names: readonly string[];
  readonly cells: readonly Cell[];
  /** The class that it extends, as a ref; `null` for `extends null`, undefined for no class. */
  readonly parent?: number | null;
  /** Where imports in it start. */
  readonly base?: string;
  /** The name of a class, by which its instances come back. */
  readonly id?: string;
  /**
   * Where its expression stands: the file's URL, line and column from 0; of 0.1.0 without the
   * column.
   */
  readonly place?: { readonly url: string; readonly line: number; readonly column?: number };
  /** Whether it gives values to what it captured: each call finds those that were sent. */
  readonly resets?: boolean;
}

/** Functions that have variables in common, and assign them. */
export interface SentGroup {
  readonly members: readonly number[];
  readonly names: readonly string[];
  readonly cells: readonly Cell[];
}

export interface Table {
  readonly functions: readonly SentFunction[];
  readonly refs: readonly Ref[];
  readonly groups?: readonly SentGroup[];
  /** How many values each call brings for what the function captured. */
  readonly variables?: number;
  /** Which objects of the program it holds: equal ones that are two stay two. */
  readonly identity?: string;
}

/** What the clone of a packed value with a table holds. */
export interface Graph {
  readonly root: unknown;
  /** Captured values that are no refs. */
  readonly cells: readonly unknown[];
  /** Properties to be set on functions, their prototypes and errors. */
  readonly properties: readonly (readonly [owner: unknown, properties: object])[];
  readonly prototypes: readonly (readonly [owner: unknown, properties: object])[];
  /** Objects that are instances of classes; null: they have no prototype. */
  readonly instances: readonly (readonly [object: unknown, ofClass: unknown])[];
  readonly errors: readonly (readonly [error: unknown, said: ErrorParts])[];
  /** Refs that may be no objects, which V8 does not take from a stub; null for the root itself. */
  readonly patches: readonly (readonly [owner: object | null, key: string, ref: number])[];
  /** Properties that are more than a name and a value; symbols are given by their refs. */
  readonly members?: readonly (readonly [owner: unknown, key: string | number, member: Member])[];
  readonly frozen?: readonly unknown[];
  /** Others that take no new properties. */
  readonly closed?: readonly unknown[];
  /** Instances of classes that the reader has given a name. */
  readonly named?: readonly (readonly [object: unknown, id: string])[];
}

/** A property as `Object.defineProperty` takes it. */
export interface Member {
  readonly value?: unknown;
  readonly get?: unknown;
  readonly set?: unknown;
  /** False where it is said. */
  readonly enumerable?: boolean;
  readonly configurable?: boolean;
  readonly writable?: boolean;
}

/** The own properties of an error, of which some are not enumerable. */
export interface ErrorParts {
  readonly name: string | null;
  readonly message: string;
  readonly stack: string | null;
  readonly hasCause: boolean;
  readonly cause: unknown;
  readonly errors: readonly unknown[] | null;
  readonly own: object;
}

/**
 * Stands for the class that a class extends: its value is known, its expression may be anything.
 */
export const SUPER = '$weftSuper';

/** First byte: what follows. */
export const PLAIN = 0;
export const WITH_TABLE = 1;
/** The same with what workers of 0.1.0 know nothing of, so that they refuse it. */
export const WITH_GROUPS = 5;
/** The same, of a function whose calls bring what it captured. */
export const WITH_VARIABLES = 6;
/** Few primitives as JSON: making a clone of V8 costs more than a small call. */
export const SMALL = 4;
/** The code of a function that is an export of a module. */
export const MODULE = 2;
/** The code of a function that each process of a worker calls once before others. */
export const SETUP = 3;

export function checkSize(bytes: number, what: string): void {
  if (bytes <= CALL_BYTES_MAX) return;
  throw new NotSendable(what, `it has more than ${CALL_BYTES_MAX} bytes; use a file for it`);
}
