// Elements of arrays, as sites name them.

/** Slurm writes `16_2`, Grid Engine `16.2`; null: it is no element. */
export function elementOf(id: string): { array: string; index: number } | null {
  const [, array, index] = /^(\d{1,15})[_.](\d{1,9})$/.exec(id) ?? [];
  return array === undefined || index === undefined ? null : { array, index: Number(index) };
}
