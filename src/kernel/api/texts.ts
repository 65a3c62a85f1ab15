// Lists and maps of texts that may be long, checked up to the first that is none: the library makes
// an issue of each, which takes seconds where a million are wrong.

import { z } from 'zod';
import { believed } from '../base/believed.ts';
import { ITEM_FIELDS_MAX } from '../model/limits.ts';

interface Flaw {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Texts, as the words of a command. */
export function textList(least: number, most: number): z.ZodType<string[]> {
  const flawOf = (value: unknown): Flaw | null => {
    if (!Array.isArray(value)) return whole(`expected array, received ${kindOf(value)}`);
    const size = sizeFlaw(value.length, least, most, 'items');
    if (size !== null) return size;
    const at = value.findIndex((text) => typeof text !== 'string');
    return at === -1 ? null : { path: [at], message: notText(value[at]) };
  };
  return checkedBy(flawOf, { type: 'array', items: { type: 'string' }, maxItems: most });
}

/** Names with texts, as the variables of a process. */
export function textMap(most: number): z.ZodType<Record<string, string>> {
  return checkedBy((value) => mapFlaw(value, most), {
    type: 'object',
    additionalProperties: { type: 'string' },
    maxProperties: most,
  });
}

/** What the tasks of an array are each for: texts, or texts by the names of fields. */
export function itemList(most: number): z.ZodType<(string | Record<string, string>)[]> {
  const flawOf = (value: unknown): Flaw | null => {
    if (!Array.isArray(value)) return whole(`expected array, received ${kindOf(value)}`);
    const size = sizeFlaw(value.length, 1, most, 'items');
    if (size !== null) return size;
    for (const [at, item] of value.entries()) {
      if (typeof item === 'string') continue;
      const flaw = mapFlaw(item, ITEM_FIELDS_MAX) ?? (Object.hasOwn(item, '') ? NO_NAME : null);
      if (flaw !== null) return { ...flaw, path: [at, ...flaw.path] };
    }
    return null;
  };
  const fields = { type: 'object', additionalProperties: { type: 'string' } } as const;
  const items = { anyOf: [{ type: 'string' as const }, fields] };
  return checkedBy(flawOf, { type: 'array', items, minItems: 1, maxItems: most });
}

const NO_NAME = whole('a field needs a name');

function checkedBy<T>(
  flawOf: (value: unknown) => Flaw | null,
  meta: Parameters<z.ZodAny['meta']>[0],
): z.ZodType<T> {
  // The check below is what makes it a T; `meta` is declared for the output that `any` has.
  const schema = believed<z.ZodType<T>>(z.any().meta(believed(meta)));
  return schema.check((context) => {
    const flaw = flawOf(context.value);
    if (flaw === null) return;
    const { path, message } = flaw;
    context.issues.push({ code: 'custom', input: context.value, path: [...path], message });
  });
}

function mapFlaw(value: unknown, most: number): Flaw | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return whole(`expected record, received ${kindOf(value)}`);
  }
  let size = 0;
  for (const name in value) {
    size += 1;
    if (size > most) return whole(`expected at most ${most} fields`);
    if (name === '__proto__') return whole('a field cannot be named __proto__');
    const text = (value as Record<string, unknown>)[name];
    if (typeof text !== 'string') return { path: [name], message: notText(text) };
  }
  return null;
}

function sizeFlaw(size: number, least: number, most: number, what: string): Flaw | null {
  if (size < least) return whole(`expected at least ${least} ${what}`);
  return size > most ? whole(`expected at most ${most} ${what}`) : null;
}

function whole(message: string): Flaw {
  return { path: [], message };
}

function notText(value: unknown): string {
  return `expected string, received ${kindOf(value)}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
