// Elements of arrays, as sites name them.

import { IntervalSet } from '../../../kernel/base/interval-set.ts';

/**
 * Slurm writes `16_2`, Grid Engine `16.2`, a program of an operator `ID.2`, LSF `16[2]`, and PBS
 * `16[2].server` for one of `16[].server`. Null: it is no element.
 */
export function elementOf(id: string): { array: string; index: number } | null {
  // Nearly all jobs of a large site are none.
  if (/^\d+$/.test(id)) return null;
  const [, number, inside, server] = /^(\d{1,15})\[(\d{1,9})\](\..+)?$/.exec(id) ?? [];
  if (number !== undefined) {
    return { array: server === undefined ? number : `${number}[]${server}`, index: Number(inside) };
  }
  const [, array, index] = /^(\d{1,15}(?=_)|.+(?=\.))[_.](\d{1,9})$/.exec(id) ?? [];
  return array === undefined || index === undefined ? null : { array, index: Number(index) };
}

/** Ids of the arrays that these jobs are elements of. */
export function arraysOf(jobs: Iterable<{ readonly id: string }>): Set<string> {
  const arrays = new Set<string>();
  for (const { id } of jobs) {
    const array = elementOf(id)?.array;
    if (array !== undefined) arrays.add(array);
  }
  return arrays;
}

/** A list with more is none that anybody submits. */
const INDICES_MAX = 1_000_000;

/** Indices in a site's list of them, `0-99,105,110-120:2`; null: it cannot be read, or is cut. */
export function indicesIn(list: string): IntervalSet | null {
  const set = new IntervalSet();
  for (const part of list.split(',')) {
    const [, first, last = first, step = '1'] = /^(\d+)(?:-(\d+)(?::(\d+))?)?$/.exec(part) ?? [];
    const [from, to, by] = [Number(first), Number(last), Number(step)];
    if (first === undefined || to < from || by < 1 || to - from >= INDICES_MAX) return null;
    if (by === 1) set.addRange(from, to);
    else for (let index = from; index <= to; index += by) set.add(index);
  }
  return set;
}
