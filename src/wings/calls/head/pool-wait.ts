// What a pool waits for whose workers are all in calls that wait for calls of other pools.

import type { JobId } from '../../../kernel/model/ids.ts';
import type { PoolWait } from '../core/router/between.ts';

/** `nameOf`: of another pool, for people. */
export function sayPoolWait(
  { workers, pools, isCircle }: PoolWait,
  nameOf: (pool: JobId) => string,
): string {
  const all = workers === 1 ? 'its worker is in a call' : `its ${workers} workers are all in calls`;
  const waits = workers === 1 ? 'waits' : 'wait';
  const others = `${pools.length === 1 ? 'pool' : 'pools'} ${pools.map(nameOf).join(', ')}`;
  const wait = `${all} that ${waits} for calls of ${others}`;
  if (!isCircle) return wait;
  const first = pools[0] === undefined ? '' : nameOf(pools[0]);
  return `${wait}, and those wait in turn for these: none goes on. More workers help (\`weft pool scale ${first} --max COUNT\`), or the end of one of the programs`;
}
