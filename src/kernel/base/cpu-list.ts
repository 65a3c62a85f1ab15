// Numbers of cpus the way Linux writes them: `0-3,8`.

/** Highest cpu that the launcher can bind to; those beyond it are left out. */
const CPU_LAST = 1023;

/** Cpus of a list; parts of it that are no range have none. */
export function parseCpuList(text: string): number[] {
  return text.split(',').flatMap((range) => {
    const [, first = '', end = first] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(range.trim()) ?? [];
    if (first === '') return [];
    const count = Math.min(Number(end), CPU_LAST) - Number(first) + 1;
    return Array.from({ length: Math.max(0, count) }, (_, at) => Number(first) + at);
  });
}

export function formatCpuList(cpus: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const id of cpus.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range !== undefined && range.last === id - 1) range.last = id;
    else ranges.push({ first: id, last: id });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join();
}
