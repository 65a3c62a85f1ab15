// Opens a pool: finds or starts it, and gets the line for its calls.

import { withWeftErrors } from '../../../kernel/sdk/errors.ts';
import type { HeadConnection } from '../../../kernel/sdk/line.ts';
import { Pool } from './pool.ts';
import { PoolCalls } from './pool-calls.ts';
import type { PoolOptions } from './pool-options.ts';
import { findOrStart, stopPool } from './start-pool.ts';

/** Resolves once calls can be submitted; whether there are workers yet is another question. */
export async function openPool(line: HeadConnection, options: PoolOptions): Promise<Pool> {
  const { id, isOwn } = await findOrStart(line, options);
  const path = `/v1/pools/${id}/calls/socket`;
  try {
    const calls = await line.patiently(() =>
      PoolCalls.open({
        dial: (headers) => line.dial(path, headers),
        detach: options.detach === true,
        patienceMs: line.patienceMs,
      }),
    );
    const close = (): void => calls.close();
    line.closed.addEventListener('abort', close, { once: true });
    calls.onClose = () => line.closed.removeEventListener('abort', close);
    return new Pool(line, { id, calls, isOwn });
  } catch (error) {
    if (isOwn) await withWeftErrors(() => stopPool(line, id));
    throw error;
  }
}
