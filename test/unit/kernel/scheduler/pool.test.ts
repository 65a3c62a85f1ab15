// The pool's memories, of what fits and of first ends, against looking at every node anew.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import {
  couldEverHold,
  holdsNow,
  NodePool,
  type NodeView,
  type Running,
} from '../../../../src/kernel/scheduler/room/pool.ts';
import { resources } from '../../../support/nodes.ts';
import { request, view } from '../../../support/snapshots.ts';

const change = fc.record({
  node: fc.integer({ min: 1, max: 6 }),
  cpus: fc.nat(4),
  used: fc.nat(4),
  gone: fc.boolean(),
  until: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
});
const asked = fc.record({ cpus: fc.nat(4), exclusive: fc.boolean() });

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function apply(pool: NodePool, one: Change): void {
  const name = `n${one.node}`;
  if (one.gone) return pool.remove(name as NodeName);
  const used = { cpus: Math.min(one.used, one.cpus) };
  const words = { name, cpus: one.cpus, memory: 1, ...(one.until ? { until: one.until } : {}) };
  pool.set(view(used.cpus === 0 ? words : { ...words, used }, one.node));
}

const names = (views: Iterable<NodeView>): string[] => [...views].map((one) => one.name).sort();

test('[A11] what the pool remembers of requests is what asking every node again would say', () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 40 }),
      fc.array(asked, { minLength: 1 }),
      (all, ask) => {
        const pool = new NodePool();
        for (const one of all) {
          apply(pool, one);
          for (const words of ask) {
            const wanted = request(words);
            const key = JSON.stringify(words);
            const remembered = pool.fitting(wanted, key).flatMap((list) => [...list]);
            assert.deepEqual(
              names(remembered),
              names([...pool].filter((each) => holdsNow(each, wanted))),
            );
            const later = [...pool.later(wanted, key)];
            const able = [...pool].filter((each) => couldEverHold(each, wanted));
            assert.deepEqual(
              names(later.map((each) => each.view)),
              names(able.filter((each) => !holdsNow(each, wanted))),
            );
            const instants = later.map(({ at }) => at);
            assert.deepEqual(
              instants,
              [...instants].sort((a, b) => a - b),
            );
          }
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('[A11] a task that is told to leave is seen to end at once when the pool is told', () => {
  const pool = new NodePool();
  const running: Running[] = [
    {
      jobId: 1 as JobId,
      index: 0,
      reservation: null,
      walltimeMs: 100,
      startedAt: 0,
      resources: resources({ cpus: 4 }),
    },
  ];
  pool.set({ ...view({ name: 'n1', cpus: 4, used: { cpus: 4 } }, 1), running });
  const wanted = request({ cpus: 1 });
  assert.deepEqual(
    [...pool.later(wanted)].map(({ at }) => at),
    [100],
  );
  running[0] = { ...(running[0] as Running), leaving: true };
  pool.stir('n1' as NodeName);
  assert.deepEqual(
    [...pool.later(wanted)].map(({ at }) => at),
    [0],
  );
});
