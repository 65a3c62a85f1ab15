// Few primitives, as most arguments and results are, as JSON: it is several times as fast for them
// as structured clone, and exact.

const LENGTH_MAX = 16;
/** Most values of a function that go with one call. */
export const VARIABLES_MAX = LENGTH_MAX;
const CHARACTERS_MAX = 1000;

/** The text of a value; null when it is not of this kind. `undefined` is the empty text. */
export function smallText(value: unknown): string | null {
  if (value === undefined) return '';
  if (isSmall(value)) return JSON.stringify(value);
  if (!Array.isArray(value) || value.length > LENGTH_MAX) return null;
  if (Object.getPrototypeOf(value) !== Array.prototype) return null;
  // Not more than elements: properties with names would be lost.
  if (!value.every(isSmall) || Object.keys(value).length !== value.length) return null;
  return JSON.stringify(value);
}

/** JSON has neither -0 nor NaN nor infinities. */
export function isSmall(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value === 'string') return value.length <= CHARACTERS_MAX;
  return typeof value === 'boolean' || value === null;
}

export function readSmall(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text);
}
