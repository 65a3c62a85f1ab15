// Values that V8's structured clone carries faithfully as they are: most arguments and results.

/**
 * Bytes of buffers and strings are summed here, so that a value that is too large is not cloned.
 */
export interface Weight {
  bytes: number;
}

/** Whether a clone of it is like it; false as well when a getter throws. */
export function isPlain(value: unknown, weight: Weight): boolean {
  try {
    return scan(value, weight, undefined, 0) !== undefined;
  } catch {
    return false; // The walk that names paths comes upon the same and tells where it is.
  }
}

/**
 * A longer array is mostly of holes, which `every` would visit one by one: thousands of millions.
 */
const HOLES_MIN = 2 ** 25;

type Seen = Set<object>;
/** Deeper values are left to the walk that says what is wrong when the stack does not suffice. */
const DEPTH_MAX = 200;

/** The objects seen so far; undefined when something is not plain. */
function scan(
  value: unknown,
  weight: Weight,
  seen: Seen | undefined,
  depth: number,
): Seen | null | undefined {
  if (typeof value === 'string') weight.bytes += value.length;
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'function' || typeof value === 'symbol' ? undefined : (seen ?? null);
  }
  if (depth > DEPTH_MAX) return undefined;
  if (seen?.has(value)) return seen;
  const known = seen ?? new Set<object>();
  known.add(value);
  return scanParts(value, weight, known, depth + 1) ? known : undefined;
}

function scanParts(value: object, weight: Weight, seen: Seen, depth: number): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isGood = (part: unknown) => scan(part, weight, seen, depth) !== undefined;
  if (prototype === Object.prototype) return isRecord(value) && everyValue(value, isGood);
  if (prototype === Array.prototype) {
    // The properties of an array that are no elements are rare, and clone as well.
    if ((value as unknown[]).length > HOLES_MIN) return everyValue(value, isGood);
    return (value as unknown[]).every(isGood);
  }
  if (ArrayBuffer.isView(value)) {
    weight.bytes += value.byteLength;
    return PLAIN_VIEWS.has(prototype) && !(value.buffer instanceof SharedArrayBuffer);
  }
  if (prototype === Map.prototype) {
    return [...(value as Map<unknown, unknown>)].every(([key, one]) => isGood(key) && isGood(one));
  }
  if (prototype === Set.prototype) return [...(value as Set<unknown>)].every(isGood);
  if (prototype === ArrayBuffer.prototype) weight.bytes += (value as ArrayBuffer).byteLength;
  return PLAIN_PROTOTYPES.has(prototype);
}

function everyValue(value: object, isGood: (part: unknown) => boolean): boolean {
  for (const key in value) {
    if (!isGood((value as Record<string, unknown>)[key])) return false;
  }
  return true;
}

/** Not one of those that only pretend: `arguments`, module namespaces, `process.env`. */
function isRecord(value: object): boolean {
  return value !== process.env && value !== globalThis;
}

const PLAIN_VIEWS: ReadonlySet<unknown> = new Set(
  [
    ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array],
    ...[Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array, DataView, Buffer],
  ].map(({ prototype }) => prototype),
);

const PLAIN_PROTOTYPES: ReadonlySet<unknown> = new Set(
  [Date, RegExp, ArrayBuffer, Boolean, Number, String].map(({ prototype }) => prototype),
);
