// What goes over the wire for a call: its arguments, its result, its error, shared values, and
// functions by what they captured.

import { createHash } from 'node:crypto';
import { type CellUse, refuseAssigning } from './cells.ts';
import { NotSendable } from './not-sendable.ts';
import { type Packed, pack } from './pack.ts';
import { SETUP } from './packed-value.ts';
import { unpack, unpackWhole } from './revive.ts';
import { noteUses, Shared } from './shared.ts';
import type { Variables } from './variables.ts';

/** A function that can be sent: code and captured values. Equal ones have one `sha256`. */
export interface Captured {
  readonly name: string;
  readonly code: Uint8Array;
  readonly sha256: string;
  /** Shared values that it captured, by their `sha256`. */
  readonly shared: readonly string[];
  /** The variables of its functions. */
  readonly uses: readonly CellUse[];
  /** What each call brings of what it captured; null: all of it is in the code. */
  readonly variables: Variables | null;
}

/**
 * Takes a function with what it captured. Variables are read now: what the program sets later is
 * not seen by calls, and what a call sets is not seen by the program. Throws NotSendable.
 */
export function capture(fn: unknown): Captured {
  return captured(fn, { withVariables: false });
}

/** The same with code that is one for all functions of one place in the program. */
export function captureForCalls(fn: unknown): Captured {
  return captured(fn, { withVariables: true });
}

function captured(fn: unknown, { withVariables }: { readonly withVariables: boolean }): Captured {
  if (typeof fn !== 'function') {
    const what = fn === null ? 'null' : typeof fn;
    throw new NotSendable('the function', `it is no function but ${what}`);
  }
  const name = fn.name || 'anonymous';
  const options = { root: name, withFunctions: true, isCallee: true, withVariables };
  const { bytes, shared, uses = [], variables = null } = pack(fn, options);
  return { name, code: bytes, sha256: sha256Of(bytes), shared, uses, variables };
}

/** Like `capture`, for a function that each process of a worker is to call once, before others. */
export function captureSetup(fn: unknown): Captured {
  const { code, ...rest } = capture(fn);
  const marked = Buffer.concat([Uint8Array.of(SETUP), code]);
  return { ...rest, code: marked, sha256: sha256Of(marked) };
}

/** A function for the worker. */
export interface Released {
  readonly fn: (...args: unknown[]) => unknown;
  /** Whether it assigns variables: then it is good for one call. */
  readonly isForOneCall: boolean;
  /** The function for what a call brings; null: it needs nothing of its calls. */
  readonly made: ((variables: Variables) => Released['fn']) | null;
}

/** The function of a capture, for the worker. */
export function releaseWhole(
  code: Uint8Array,
  sharedValue?: (sha256: string) => unknown,
): Released {
  const options = { withFunctions: true, ...(sharedValue && { sharedValue }) };
  const { value: fn, assigns, made } = unpackWhole(code, options);
  if (typeof fn !== 'function') throw new TypeError('the code holds no function');
  return { fn: fn as Released['fn'], isForOneCall: assigns, made: made as Released['made'] };
}

/** The same without the rest. */
export function releaseFunction(
  code: Uint8Array,
  sharedValue?: (sha256: string) => unknown,
): Released['fn'] {
  return releaseWhole(code, sharedValue).fn;
}

/**
 * Throws NotSendable that names the path, such as `args[0].db.socket`. `beside`: the
 * variables of the function that is to be called with them.
 */
export function packArguments(args: readonly unknown[], beside?: readonly CellUse[]): Packed {
  return pack(args, { root: 'args', withFunctions: true, ...(beside && { beside }) });
}

export function unpackArguments(
  bytes: Uint8Array,
  sharedValue?: (sha256: string) => unknown,
): unknown[] {
  const args = unpack(bytes, { withFunctions: true, ...(sharedValue && { sharedValue }) });
  if (!Array.isArray(args)) throw new TypeError('arguments are a list');
  return args;
}

/**
 * A value that workers are to hold, with the handle that stands for it in arguments. Throws
 * NotSendable: it goes as a packed value of its own, and stays from call to call.
 */
export function share<T>(value: T): { shared: Shared<T>; bytes: Uint8Array } {
  const root = 'the shared value';
  const { bytes, shared: inner, uses = [] } = pack(value, { root, withFunctions: true });
  if (inner.length > 0) {
    const words = 'it holds another shared value; share what they hold as one, or side by side';
    throw new NotSendable(root, words);
  }
  refuseAssigning(uses);
  const shared = new Shared(value, sha256Of(bytes));
  noteUses(shared, uses);
  return { shared, bytes };
}

export function unpackShared(bytes: Uint8Array): unknown {
  return unpack(bytes, { withFunctions: true });
}

/** Data only. Throws NotSendable. */
export function packResult(value: unknown): Uint8Array {
  return pack(value, { root: 'result', withFunctions: false }).bytes;
}

export function unpackResult(bytes: Uint8Array): unknown {
  return unpack(bytes, { withFunctions: false });
}

/** What a function threw or rejected with; always something, whatever it is. */
export function packThrown(thrown: unknown): Uint8Array {
  try {
    return pack(thrown, { root: 'the error', withFunctions: false }).bytes;
  } catch (refusal) {
    const words = refusal instanceof Error ? refusal.message : 'it cannot be read';
    const error = new Error(`The function threw a value that cannot be sent. ${words}`);
    return pack(error, { root: 'the error', withFunctions: false }).bytes;
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
