// JSON as tools print it: with warnings before it, and each value there or not.

export type Json = null | boolean | number | string | readonly Json[] | JsonMap;
export interface JsonMap {
  readonly [name: string]: Json | undefined;
}

/** Lines that begin like JSON: a long answer that is cut off has one for each of its rows. */
const TRIES_MAX = 50;

/** Undefined: there is none, or it is cut off. */
export function parseAfterWarnings(text: string): Json | undefined {
  let left = TRIES_MAX;
  for (const line of text.matchAll(/^[ \t]*[[{]/gm)) {
    if (left === 0) return undefined;
    left -= 1;
    try {
      return JSON.parse(text.slice(line.index)) as Json;
    } catch {
      // A warning that begins like JSON, or an answer that is cut off: the next line tells.
    }
  }
  return undefined;
}

export function mapOf(value: Json | undefined): JsonMap {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMap ? (value as JsonMap) : {};
}

/** Rows of a list; of a map with the list in this field, as newer releases wrap it. */
export function rowsOf(value: Json | undefined, wrapped: string): JsonMap[] {
  const list = Array.isArray(value) ? value : mapOf(value)[wrapped];
  return Array.isArray(list) ? list.map((one: Json) => mapOf(one)) : [];
}

/** What stands at the end of these names; undefined: one of them is missing. */
export function at(value: Json | undefined, ...names: readonly string[]): Json | undefined {
  return names.reduce<Json | undefined>((inner, name) => mapOf(inner)[name], value);
}

/** Text that says something. */
export function textOf(value: Json | undefined): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return null;
  return /^\s*(n\/a|none|unknown|)\s*$/i.test(value) ? null : value.trim();
}
