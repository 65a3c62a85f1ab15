// Numbers that may only fall: what is to go everywhere, but not in one day. Whoever lowers a count
// lowers its number here.

import type { Finding } from './finding.ts';
import { lineAt, type Source } from './source.ts';

/** Doc comments that begin with a pronoun: a newcomer cannot tell whom they speak of. */
const OPENINGS_MAX = 0;
/** Parameters of exported functions that are booleans: a call with `true` says nothing. */
const BOOLEANS_MAX = 12;

const OPENING = /\/\*\*\s+(?:\*\s+)?(?:It|Its|Who|Whoever|So|They|Them)\b/g;
const FUNCTION = /\bexport\s+(?:async\s+)?function\*?\s+\w+[^(]*\(/g;
const BOOLEAN = /^\s*\w+\??\s*(?::\s*boolean\b\s*(?:=.*)?|=\s*(?:true|false)\s*)$/s;

interface Falling {
  readonly what: string;
  readonly max: number;
  readonly remedy: string;
  readonly find: (source: Source) => number[];
}

export const FALLING: readonly Falling[] = [
  {
    what: 'doc comments begin with It, Its, Who, Whoever, So or They',
    max: OPENINGS_MAX,
    remedy: 'begin with the noun that the comment is about',
    find: ({ comments }) => [...comments.matchAll(OPENING)].map(({ index }) => index),
  },
  {
    what: 'parameters of exported functions are booleans',
    max: BOOLEANS_MAX,
    remedy: 'take a named option, or a union of words',
    find: booleansIn,
  },
];

/**
 * One finding for each number that has grown, at the last place found; a warning where it may be
 * lowered.
 */
export function checkFalling(sources: readonly Source[], rules = FALLING): Finding[] {
  return rules.flatMap(({ what, max, remedy, find }): Finding[] => {
    const found = sources.flatMap((source) => find(source).map((at) => ({ source, at })));
    if (found.length === max) return [];
    const message = `${found.length} ${what}, and ${max} may`;
    const last = found.at(-1);
    if (found.length < max || last === undefined) {
      const path = 'tools/tidy/falling.ts';
      return [{ path, line: 1, level: 'warning', message: `${message}; lower the number` }];
    }
    const line = lineAt(last.source.text, last.at);
    return [{ path: last.source.path, line, level: 'error', message: `${message}; ${remedy}` }];
  });
}

function booleansIn({ code }: Source): number[] {
  return [...code.matchAll(FUNCTION)].flatMap((match) => {
    const from = match.index + match[0].length;
    return parametersFrom(code, from)
      .filter((text) => BOOLEAN.test(text))
      .map(() => from);
  });
}

/** Parameters from behind the opening parenthesis to the one that closes it. */
function parametersFrom(code: string, from: number): string[] {
  const parameters = [''];
  let depth = 0;
  for (let at = from; at < code.length; at += 1) {
    const char = code[at] ?? '';
    if ('([{<'.includes(char)) depth += 1;
    if (')]}'.includes(char) || (char === '>' && code[at - 1] !== '=')) depth -= 1;
    if (depth < 0) break;
    if (char === ',' && depth === 0) parameters.push('');
    else parameters[parameters.length - 1] += char;
  }
  return parameters;
}
