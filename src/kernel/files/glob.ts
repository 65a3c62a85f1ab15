// Patterns on relative paths, as outputs are declared and results are chosen by. A pattern without
// a `/` is one for names, at any depth; what matches a folder matches all that is in it. Matching
// takes time in proportion to pattern and path, whatever they are.

import { err, ok, type Result } from '../base/result.ts';

/** One alternative of a pattern without braces. */
type Segment = readonly Token[] | 'any folders';
type Token =
  | { readonly kind: 'sign'; readonly sign: string }
  | { readonly kind: 'one' }
  | { readonly kind: 'many' }
  | { readonly kind: 'set'; readonly not: boolean; readonly ranges: readonly Range[] };
type Range = readonly [from: number, to: number];

/** A pattern that was read. */
export interface Glob {
  readonly text: string;
  /** Begins with `!`: takes away what it matches. */
  readonly isNot: boolean;
  readonly ways: readonly (readonly Segment[])[];
}

const LENGTH_MAX = 4096;
const WAYS_MAX = 1000;

/** Reads one pattern; the error says what is wrong with it. */
export function parseGlob(text: string): Result<Glob, string> {
  const wrong = (what: string) => err(`the pattern '${text}' ${what}`);
  const isNot = text.startsWith('!');
  const body = isNot ? text.slice(1) : text;
  if (body === '') return err('the pattern is empty; ** matches everything');
  if (/(?:^|[^\\])(?:\\\\)*\\$/.test(body)) {
    return wrong(
      "ends with a '\\', which takes the next character as it is; write '\\\\' for one of its own",
    );
  }
  if (body.length > LENGTH_MAX) return err(`the pattern is longer than ${LENGTH_MAX} characters`);
  const expanded = expandBraces(body);
  if (!expanded.ok) return wrong(expanded.error);
  const ways: Segment[][] = [];
  for (const way of expanded.value) {
    const read = readWay(way);
    if (!read.ok) return wrong(read.error);
    ways.push(read.value);
  }
  return ok({ text, isNot, ways });
}

/** Whether a pattern matches the path or a folder that it is in; `!` is not looked at. */
export function matchesGlob({ ways }: Glob, path: string): boolean {
  const names = path.split('/').map((name) => [...name]);
  return names.some((_, at) => ways.some((way) => matchesWay(way, names.slice(0, at + 1))));
}

/** Whether there is no path that it does not match; `!` is not looked at. */
export function takesEverything({ ways }: Glob): boolean {
  return ways.some((way) => {
    const [name, ...others] = way.filter((segment) => segment !== 'any folders');
    if (others.length > 0) return false;
    return name === undefined || name.every(({ kind }) => kind === 'many');
  });
}

/**
 * Whether a list of patterns takes a path: the last one that matches decides. A list that begins
 * with a `!` begins with everything, and so does an empty one.
 */
export function matchesGlobs(globs: readonly Glob[], path: string): boolean {
  const last = globs.findLast((glob) => matchesGlob(glob, path));
  return last === undefined ? (globs[0]?.isNot ?? true) : !last.isNot;
}

/** `a{b,c}` as `ab` and `ac`; a backslash takes the next sign as it is. */
function expandBraces(text: string): Result<string[], string> {
  const open = findOutside(text, '{', 0);
  if (open === -1) return ok([text]);
  const parts: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = open; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '\\') at += 1;
    else if (sign === '{') depth += 1;
    else if (sign === ',' && depth === 1) {
      parts.push(text.slice(from, at));
      from = at + 1;
    } else if (sign === '}') {
      depth -= 1;
      if (depth > 0) continue;
      parts.push(text.slice(from, at));
      return expandParts(text.slice(0, open), parts, text.slice(at + 1));
    }
  }
  return err('has a { without its }');
}

function expandParts(
  before: string,
  parts: readonly string[],
  after: string,
): Result<string[], string> {
  const found: string[] = [];
  for (const part of parts) {
    const expanded = expandBraces(`${part}${after}`);
    if (!expanded.ok) return expanded;
    found.push(...expanded.value.map((rest) => `${before}${rest}`));
    if (found.length > WAYS_MAX) return err(`has more than ${WAYS_MAX} alternatives`);
  }
  return ok(found);
}

function findOutside(text: string, sign: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === sign) return at;
  }
  return -1;
}

function readWay(text: string): Result<Segment[], string> {
  const isRooted = text.replace(/\/$/, '').includes('/');
  const parts = text.replace(/^\//, '').replace(/\/$/, '').split('/');
  if (parts.some((part) => part === '..' || part === '.')) {
    return err("has '.' or '..' in it; it is about paths inside the folder");
  }
  if (parts.includes('')) return err('has nothing between two slashes');
  const segments: Segment[] = isRooted ? [] : ['any folders'];
  for (const part of parts) {
    if (part === '**') {
      segments.push('any folders');
      continue;
    }
    const read = readSegment([...part]);
    if (!read.ok) return read;
    segments.push(read.value);
  }
  return ok(segments);
}

function readSegment(signs: readonly string[]): Result<Token[], string> {
  const tokens: Token[] = [];
  for (let at = 0; at < signs.length; at += 1) {
    const sign = signs[at] as string;
    if (sign === '\\') {
      at += 1;
      tokens.push({ kind: 'sign', sign: signs[at] ?? '\\' });
    } else if (sign === '*') {
      if (tokens.at(-1)?.kind !== 'many') tokens.push({ kind: 'many' });
    } else if (sign === '?') tokens.push({ kind: 'one' });
    else if (sign === '[') {
      // A bracket that comes first is one of the set.
      const end = signs.indexOf(']', at + (/[!^]/.test(signs[at + 1] ?? '') ? 3 : 2));
      if (end === -1) return err('has a [ without its ]');
      const set = readSet(signs.slice(at + 1, end));
      if (!set.ok) return set;
      tokens.push(set.value);
      at = end;
    } else tokens.push({ kind: 'sign', sign });
  }
  return ok(tokens);
}

function readSet(signs: readonly string[]): Result<Token, string> {
  const not = signs[0] === '!' || signs[0] === '^';
  const inside = not ? signs.slice(1) : signs;
  const ranges: Range[] = [];
  for (let at = 0; at < inside.length; at += 1) {
    const from = code(inside[at]);
    if (inside[at + 1] === '-' && at + 2 < inside.length) {
      const to = code(inside[at + 2]);
      if (to < from) return err(`has the range ${inside.slice(at, at + 3).join('')} backwards`);
      ranges.push([from, to]);
      at += 2;
    } else ranges.push([from, from]);
  }
  return ok({ kind: 'set', not, ranges });
}

function matchesWay(way: readonly Segment[], names: readonly (readonly string[])[]): boolean {
  return matchesWild(way, names, {
    isMany: (segment) => segment === 'any folders',
    isOne: (segment, name) =>
      matchesWild(segment as readonly Token[], name, {
        isMany: (token) => token.kind === 'many',
        isOne: matchesToken,
      }),
  });
}

/** Wild cards over a list: only the last one passed has to be tried again, so no blow-up. */
function matchesWild<Want, Got>(
  wants: readonly Want[],
  got: readonly Got[],
  by: { isMany(want: Want): boolean; isOne(want: Want, got: Got): boolean },
): boolean {
  let want = 0;
  let at = 0;
  let many = -1;
  let manyAt = 0;
  while (at < got.length) {
    const wanted = wants[want];
    if (wanted !== undefined && by.isMany(wanted)) {
      many = want;
      manyAt = at;
      want += 1;
    } else if (wanted !== undefined && by.isOne(wanted, got[at] as Got)) {
      want += 1;
      at += 1;
    } else if (many === -1) return false;
    else {
      manyAt += 1;
      at = manyAt;
      want = many + 1;
    }
  }
  return wants.slice(want).every((rest) => by.isMany(rest));
}

function matchesToken(token: Token, sign: string): boolean {
  if (token.kind === 'sign') return token.sign === sign;
  if (token.kind !== 'set') return true;
  const at = code(sign);
  return token.ranges.some(([from, to]) => from <= at && at <= to) !== token.not;
}

function code(sign: string | undefined): number {
  return sign?.codePointAt(0) ?? 0;
}
