// Pools: what can be asked about them and what happens to them. All that is known of one stands in
// its job's specification; what becomes of its workers is told of tasks.

import type { JobId } from '../../../kernel/model/ids.ts';
import type { PoolSpec } from '../../../kernel/model/job.ts';
import type { WorkerRequest } from '../model/pool.ts';

export type PoolCommand = StartPool | ScalePool | AbandonPool;

export interface StartPool {
  readonly kind: 'start_pool';
  readonly pool: PoolSpec;
  readonly worker: WorkerRequest;
  /** Same owner + same key = same pool, however often it is sent. */
  readonly key: string | null;
  /** A fresh one: whoever has it may speak as a worker of the pool. */
  readonly secret: string;
}

/** What is absent stays as it is. */
export interface ScalePool {
  readonly kind: 'scale_pool';
  readonly jobId: JobId;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly idleMs?: number | undefined;
  /** How many workers it asks for from now on; kept between `min` and `max`. */
  readonly target?: number | undefined;
}

/** The program that it was for is gone. */
export interface AbandonPool {
  readonly kind: 'abandon_pool';
  readonly jobId: JobId;
}

export type PoolEvent = {
  readonly kind: 'pool_scaled';
  readonly jobId: JobId;
  readonly min: number;
  readonly max: number;
  readonly idleMs: number;
  readonly target: number;
  /** `system`: its calls asked for it. */
  readonly by: string;
};
