// Variables by which libraries know how many threads to start.

/** Read by libraries that fall back to OMP_NUM_THREADS when their own is not set. */
const OPENMP = [
  'OMP_NUM_THREADS',
  'OPENBLAS_NUM_THREADS',
  'MKL_NUM_THREADS',
  'BLIS_NUM_THREADS',
  'NUMEXPR_NUM_THREADS',
] as const;
const OTHERS = ['JULIA_NUM_THREADS', 'RAYON_NUM_THREADS'] as const;

export const THREAD_VARIABLES = [...OPENMP, ...OTHERS] as const;

/**
 * Without them each process starts a thread per cpu of the node, whatever it was given. Who sets
 * OMP_NUM_THREADS means all libraries that follow it.
 */
export function threadCounts(
  count: number,
  isSaid: (name: string) => boolean,
): Record<string, string> {
  const names = isSaid('OMP_NUM_THREADS') ? OTHERS : THREAD_VARIABLES;
  return Object.fromEntries(
    names.filter((name) => !isSaid(name)).map((name) => [name, String(count)]),
  );
}
