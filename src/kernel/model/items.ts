// The items of a job with one task for each line of a list, and the places in its command where
// they go: `{}` the item, `{n}` its number from 0, `{field}` a field of an item that has fields.

import { err, ok, type Result } from '../base/result.ts';
import { quoteWord } from '../base/shell-word.ts';
import type { Item, JobSpec, Program } from './job.ts';

/** `${HOME}` is the shell's, and `{a,b}` no placeholder. */
const PLACEHOLDER = /(?<!\$)\{([A-Za-z_][\w-]*)?\}/g;

/** The program of the task with this number. In a shell's line a value is always one word. */
export function programFor(program: Program, item: Item, index: number): Program {
  const fill = (text: string) => fillIn(text, item, index, (value) => value);
  if (program.kind === 'argv') return { kind: 'argv', argv: program.argv.map(fill) };
  if (program.kind === 'script') return { ...program, args: program.args.map(fill) };
  return { kind: 'shell', line: fillIn(program.line, item, index, quoteWord) };
}

/**
 * The first placeholder of a shell line where a value could not stay one word, with what is before
 * it: inside quotes, backticks or arithmetic, or after a here-document begins. Null: there is none.
 */
export function unsafePlace(line: string, item: Item): string | null {
  for (const { 0: found, 1: name, index } of line.matchAll(PLACEHOLDER)) {
    const isOurs = name === undefined || name === 'n' || fieldOf(item, name) !== undefined;
    if (isOurs && isOpen(line.slice(0, index))) return found;
  }
  return null;
}

/** Whether the shell is, after this text, inside of something that changes how it reads quotes. */
function isOpen(text: string): boolean {
  if (text.includes('<<') || text.includes('((') || text.includes('`')) return true;
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] as string;
    if (sign === '\\' && quote !== "'") at += 1;
    else if (quote === '' && (sign === "'" || sign === '"')) quote = sign;
    else if (sign === quote) quote = '';
  }
  return quote !== '' || /(?:^|[^\\])(?:\\\\)*\\$/.test(text);
}

/** What the job of a batch is called that this task is; undefined for every other task. */
export function nameInBatch(
  { batch, each }: Pick<JobSpec, 'batch' | 'each'>,
  index: number,
): string | undefined {
  const item = each?.[index];
  if (batch === undefined || item === undefined || typeof item === 'string') return undefined;
  return item['name'];
}

/** An item for people: `a=1 b=2`, or the line itself. */
export function formatItem(item: Item): string {
  if (typeof item === 'string') return item;
  return Object.entries(item)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** A field that the program names and no item has; null: none, or the items have no fields. */
export function unknownField(program: Program, items: readonly Item[]): string | null {
  if (items.some((item) => typeof item === 'string')) return null;
  const names = textsOf(program).flatMap((text) => [...text.matchAll(PLACEHOLDER)]);
  for (const [, name] of names) {
    if (name === undefined || name === 'n') continue;
    if (items.every((item) => fieldOf(item, name) === undefined)) return name;
  }
  return null;
}

/** Whether anything of the item, its number not counted, goes into the program. */
export function usesItem(program: Program, item: Item): boolean {
  const names = textsOf(program).flatMap((text) => [...text.matchAll(PLACEHOLDER)]);
  return names.some(([, name]) => name === undefined || fieldOf(item, name) !== undefined);
}

/** A command that names no place for a line gets it as its last argument, as xargs does it. */
export function withPlaceFor(program: Program, first: Item): Result<Program, string> {
  if (usesItem(program, first)) return ok(program);
  if (typeof first !== 'string') {
    const fields = Object.keys(first);
    const names = fields.map((name) => `{${name}}`).join(', ');
    return err(`the command says nowhere where a value goes: write ${names} where it belongs`);
  }
  if (program.kind === 'argv') return ok({ ...program, argv: [...program.argv, '{}'] });
  if (program.kind === 'shell') return ok({ ...program, line: `${program.line} {}` });
  return ok({ ...program, args: [...program.args, '{}'] });
}

/** The first item that lacks a field which the program names and another has; null: none. */
export function missingField(
  program: Program,
  items: readonly Item[],
): { readonly index: number; readonly field: string } | null {
  const named = new Set<string>();
  for (const text of textsOf(program)) {
    for (const [, name] of text.matchAll(PLACEHOLDER)) if (name !== undefined) named.add(name);
  }
  for (const field of named) {
    const index = items.findIndex((item) => fieldOf(item, field) === undefined);
    if (index === -1) continue;
    if (items.some((item) => fieldOf(item, field) !== undefined)) return { index, field };
  }
  return null;
}

function fillIn(text: string, item: Item, index: number, write: (value: string) => string): string {
  return text.replaceAll(PLACEHOLDER, (found, name: string | undefined) => {
    if (name === undefined) return write(typeof item === 'string' ? item : JSON.stringify(item));
    const value = fieldOf(item, name) ?? (name === 'n' ? String(index) : undefined);
    return value === undefined ? found : write(value);
  });
}

function fieldOf(item: Item, name: string): string | undefined {
  return typeof item !== 'string' && Object.hasOwn(item, name) ? item[name] : undefined;
}

function textsOf(program: Program): readonly string[] {
  if (program.kind === 'argv') return program.argv;
  return program.kind === 'shell' ? [program.line] : program.args;
}
