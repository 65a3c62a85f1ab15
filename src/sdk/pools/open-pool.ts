// Opens a pool: finds or starts it, and gets the line for its calls.

import { withWeftErrors } from '../errors.ts';
import type { Line } from '../line.ts';
import { Pool } from './pool.ts';
import { PoolCalls } from './pool-calls.ts';
import type { PoolOptions } from './pool-options.ts';
import { findOrStart, stopPool } from './start-pool.ts';

/** Resolves once calls can be submitted; whether there are workers yet is another question. */
export async function openPool(line: Line, options: PoolOptions): Promise<Pool> {
  const { id, isOwn } = await findOrStart(line, options);
  const path = `/v1/pools/${id}/calls/socket`;
  try {
    const calls = await line.patiently(() =>
      PoolCalls.open({
        dial: (frameBytesMax, events) => line.dial({ path, frameBytesMax }, events),
        detach: options.detach === true,
        patienceMs: line.patienceMs,
      }),
    );
    line.closed.addEventListener('abort', () => calls.close(), { once: true });
    return new Pool(line, { id, calls, isOwn });
  } catch (error) {
    if (isOwn) await withWeftErrors(() => stopPool(line, id));
    throw error;
  }
}
