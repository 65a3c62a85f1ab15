// The cross product of a sweep: which values each of its jobs has, and what it is called.

import type { Problem, ProblemPath } from './problem.ts';

const SWEEP_KEYS_MAX = 20;
const KEY = /^[A-Za-z_][\w-]{0,62}$/;
const AT: ProblemPath = ['sweep'];

/** The values of each name. */
export interface Sweep {
  readonly [key: string]: readonly (string | number | boolean)[];
}

export type Values = ReadonlyMap<string, string>;

/** What is wrong with a sweep; its size is judged with all jobs. */
export function checkSweep(sweep: Sweep): Problem[] {
  const problems: Problem[] = [];
  const keys = Object.keys(sweep);
  if (keys.length > SWEEP_KEYS_MAX) {
    problems.push({ at: AT, what: `has ${keys.length} keys; at most ${SWEEP_KEYS_MAX}` });
  }
  for (const key of keys) problems.push(...checkKey(key, sweep[key] ?? []));
  return problems;
}

function* checkKey(
  key: string,
  values: readonly (string | number | boolean)[],
): Generator<Problem> {
  const at = [...AT, key];
  if (key === 'cpus') {
    yield { at, isKey: true, what: "'cpus' stands for the number of cpus; take another word" };
  } else if (!KEY.test(key)) {
    const form = 'a letter, then letters, digits, _ and -, 63 at most';
    yield { at, isKey: true, what: `'${key}' cannot stand in {{…}}; use ${form}` };
  }
  if (values.length === 0) yield { at, what: 'has no values' };
  const seen = new Set<string>();
  for (const [index, value] of values.entries()) {
    const text = String(value);
    if (seen.has(text)) yield { at: [...at, index], what: `'${text}' is there twice` };
    seen.add(text);
  }
}

/** How many combinations there are. */
export function sweepSize(sweep: Sweep): number {
  return usable(sweep).reduce((size, [, values]) => size * values.length, 1);
}

/** All combinations; the last key changes fastest, as digits do. */
export function combinations(sweep: Sweep): Values[] {
  let found: Values[] = [new Map()];
  for (const [key, values] of usable(sweep)) {
    found = found.flatMap((before) => values.map((value) => new Map([...before, [key, value]])));
  }
  return found;
}

/**
 * What is wrong and told already makes no further problems: no values, and values that are there
 * twice.
 */
function usable(sweep: Sweep): [key: string, values: string[]][] {
  const keys = Object.entries(sweep).filter(([, values]) => values.length > 0);
  return keys.map(([key, values]) => [key, [...new Set(values.map(String))]]);
}

/** `re100-a`: a number says of what it is, a word says it by itself. */
export function sweepName(values: Values): string {
  const words = [...values].map(([key, text]) => (isNumber(text) ? `${key}${text}` : text));
  return words.join('-');
}

function isNumber(text: string): boolean {
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text);
}
