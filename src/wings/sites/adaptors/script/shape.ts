// Strict reading of JSON from outside: everything is as expected, or one line says where it is not.
// Unknown keys are refused too, so that a misspelt one is not taken for one that was left out.

import { isPlainLine } from '../../../../kernel/base/plain-line.ts';
import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import { isRecord } from '../read.ts';

/** @param at path of the value, like `$.jobs[3].state` */
export type Shape<T> = (value: unknown, at: string) => Result<T, string>;

export interface Field<T> {
  readonly shape: Shape<T>;
  /** What it is when it is left out or null; absent: it must be there. */
  readonly otherwise?: T;
}

const SHOWN_MAX = 60;

export function unexpected(value: unknown, at: string, expected: string): Result<never, string> {
  if (value === undefined) return err(`${at} is missing; expected ${expected}`);
  const text = JSON.stringify(value);
  const shown = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
  return err(`${at} is ${shown}; expected ${expected}`);
}

/** @param form what it must match; absent: any line */
export function line(lengthMax: number, expected: string, form?: RegExp): Shape<string> {
  return (value, at) => {
    const isLine = typeof value === 'string' && value.length <= lengthMax && isPlainLine(value);
    if (isLine && (form?.test(value) ?? true)) return ok(value);
    return unexpected(value, at, expected);
  };
}

export function whole(min: number, max: number, expected: string): Shape<number> {
  return (value, at) => {
    const isWhole = typeof value === 'number' && Number.isSafeInteger(value);
    return isWhole && value >= min && value <= max ? ok(value) : unexpected(value, at, expected);
  };
}

export const flag: Shape<boolean> = (value, at) =>
  typeof value === 'boolean' ? ok(value) : unexpected(value, at, 'true or false');

export function oneOf<T extends string>(...words: readonly T[]): Shape<T> {
  return (value, at) => {
    const found = words.find((word) => word === value);
    return found === undefined ? unexpected(value, at, `one of ${words.join(', ')}`) : ok(found);
  };
}

export function list<T>(shape: Shape<T>, lengthMax: number): Shape<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) return unexpected(value, at, 'a list');
    if (value.length > lengthMax) {
      return err(`${at} has ${value.length} entries; expected at most ${lengthMax}`);
    }
    const all: T[] = [];
    for (const [index, one] of value.entries()) {
      const read = shape(one, `${at}[${index}]`);
      if (!read.ok) return read;
      all.push(read.value);
    }
    return ok(all);
  };
}

export function orNull<T>(shape: Shape<T>): Field<T | null> {
  return { shape, otherwise: null };
}

export function record<T extends object>(
  fields: {
    readonly [K in keyof T]-?: Field<T[K]>;
  },
): Shape<T> {
  const known = Object.entries(fields) as [string, Field<unknown>][];
  const names = new Set(known.map(([name]) => name));
  return (value, at) => {
    if (!isRecord(value)) return unexpected(value, at, 'an object');
    const stranger = Object.keys(value).find((name) => !names.has(name));
    if (stranger !== undefined) {
      return err(`${at} has the key '${stranger}'; expected only ${[...names].join(', ')}`);
    }
    const found: Record<string, unknown> = {};
    for (const [name, { shape, otherwise }] of known) {
      const given = value[name];
      const isLeftOut = (given === undefined || given === null) && otherwise !== undefined;
      const read = isLeftOut ? ok(otherwise) : shape(given, `${at}.${name}`);
      if (!read.ok) return read;
      found[name] = read.value;
    }
    return ok(found as T);
  };
}
