// Pools as a noun. They are saved with their jobs.

import { assert } from '../../../kernel/base/assert.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { Noun } from '../../../kernel/machine/noun.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { targetOf } from '../model/pool.ts';
import { decideAbandoned } from './abandoned.ts';
import { isLivePool, isStopping, notePool } from './live.ts';
import { applyPoolScaled, decideScale } from './scale.ts';
import { decideStartPool } from './start.ts';

export const pools: Noun<'pools'> = {
  commands: { start_pool: decideStartPool, scale_pool: decideScale, abandon_pool: decideAbandoned },
  events: { pool_scaled: applyPoolScaled },
  facts: () => ({}),
  save: () => ({}),
  load: () => undefined,
  index(state) {
    for (const job of state.jobs.values()) notePool(state, job);
  },
  check(state) {
    const live = [...state.jobs.values()].filter(isLivePool);
    assert(live.length === state.indexes.pools.size, `there are ${live.length} pools`);
    const names = new Set<string>();
    for (const job of live) checkPool(state, job, names);
  },
};

function checkPool({ indexes }: State, job: Job, names: Set<string>): void {
  const { id, owner, spec, taskCount } = job;
  const { pool } = spec;
  if (pool === undefined) return;
  assert(indexes.pools.has(job), `pool ${id} is among the pools`);
  const target = targetOf(spec);
  const { min, max, name } = pool;
  assert(min <= target && target <= max, `pool ${id} asks for ${target} of ${min}-${max} workers`);
  assert(max <= taskCount, `pool ${id} has a task for each worker`);
  if (name === null || isStopping(job)) return;
  const key = `${owner} ${name}`;
  assert(!names.has(key), `pool name ${key} is there once`);
  names.add(key);
}
