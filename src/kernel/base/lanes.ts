// Lanes for what lasts: things that overlap lie side by side, each in the first lane that is free.

export interface Lasting {
  readonly from: number;
  readonly until: number;
}

/**
 * The lane of each, from 0, in the order of the list, which is by begin; and how many there are.
 */
export function lanesOf(list: readonly Lasting[]): { lanes: number[]; count: number } {
  const ends: number[] = [];
  const lanes = list.map(({ from, until }) => {
    const free = ends.findIndex((end) => end <= from);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = until;
    return lane;
  });
  return { lanes, count: ends.length };
}
