// What calls add to the `Cluster` of a program.

import { addMethods } from '../../../kernel/sdk/cluster-methods.ts';
import type { Pool } from './pool.ts';
import type { PoolOptions } from './pool-options.ts';

declare module '../../../kernel/sdk/cluster.ts' {
  interface ClusterMethods {
    /**
     * A pool of workers: a new one, or the one of this name. Throws `pool.not_found` when a pool is
     * only named and does not live.
     */
    pool(options: PoolOptions): Promise<Pool>;
  }
}

addMethods<'pool'>({
  pool: async (line, options) => {
    // Loaded here: a program without pools needs none of it.
    const { openPool } = await import('./open-pool.ts');
    return openPool(line, options);
  },
});
