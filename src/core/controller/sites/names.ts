// Jobs and elements of arrays, as sites name them.

import type { State } from '../state.ts';

/** Slurm writes `16_2`, Grid Engine `16.2`; null: it is no element. */
export function elementOf(id: string): { array: string; index: number } | null {
  const [, array, index] = /^(\d{1,15})[_.](\d{1,9})$/.exec(id) ?? [];
  return array === undefined || index === undefined ? null : { array, index: Number(index) };
}

/**
 * Id of ours of a job or an element that a site calls so: `hpc/4711`, `hpc/16_2`. Null: no job of ours
 * that is in memory stands for it.
 */
export function ownIdOf({ indexes }: Pick<State, 'indexes'>, name: string): string | null {
  const whole = indexes.foreign.get(name);
  if (whole !== undefined) return String(whole);
  const slash = name.indexOf('/');
  const element = elementOf(name.slice(slash + 1));
  if (element === null) return null;
  const array = indexes.foreign.get(`${name.slice(0, slash)}/${element.array}`);
  return array === undefined ? null : `${array}[${element.index}]`;
}
