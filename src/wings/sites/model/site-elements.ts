// Elements of arrays, as sites name them.

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
