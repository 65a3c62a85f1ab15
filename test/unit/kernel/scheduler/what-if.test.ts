// The smaller request that would start now: the most that does, found within the looks there are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { LOOKS_PER_LANE, LOOKS_PER_SEARCH } from '../../../../src/kernel/model/limits.ts';
import { plainPartition } from '../../../../src/kernel/model/scheduling.ts';
import { smallerRequests } from '../../../../src/kernel/scheduler/answers/what-if.ts';
import { type Ask, askOf } from '../../../../src/kernel/scheduler/room/ask.ts';
import { Board } from '../../../../src/kernel/scheduler/room/board.ts';
import type { Window } from '../../../../src/kernel/scheduler/room/lane.ts';
import { entries, type JobWords, type NodeWords, snapshot } from '../../../support/snapshots.ts';

function askFor(words: JobWords): Ask {
  const [entry] = entries([words]);
  assert.ok(entry !== undefined);
  return askOf(entry.shape, plainPartition('default'));
}

function window(id: string, from: number, to: number, nodes: readonly string[]): Window {
  const shares = new Map(nodes.map((name) => [name as NodeName, 'whole' as const]));
  return { id, name: id, purpose: 'users', recurs: false, from, to, shares };
}

const node = fc
  .record({ cpus: fc.integer({ min: 1, max: 4 }), used: fc.nat(4), until: fc.nat(9) })
  .map(({ cpus, used, until }) => ({
    cpus,
    memory: 4,
    ...(used === 0 ? {} : { used: { cpus: Math.min(cpus, used) }, until: 1 + until }),
  }));
const nodes = fc
  .array(node, { minLength: 1, maxLength: 5 })
  .map((list): NodeWords[] => list.map((one, at) => ({ ...one, name: `n${at + 1}` })));
const windows = fc
  .array(fc.record({ at: fc.nat(4), from: fc.integer({ min: -2, max: 9 }) }), { maxLength: 4 })
  .map((list) =>
    list.map(({ at, from }, number) => window(`w${number}`, from, from + 3, [`n${at + 1}`])),
  );
const job = fc.record({
  cpus: fc.nat(4),
  nodes: fc.integer({ min: 1, max: 3 }),
  exclusive: fc.boolean(),
  reservation: fc.constantFrom(undefined, undefined, 'w0'),
  names: fc.constantFrom([], [], ['n1', 'n2', 'n3']),
});

test('[J23] a task would start now with any time limit up to the one that is told, and no longer one', () => {
  fc.assert(
    fc.property(nodes, windows, job, fc.nat(3), (have, set, { reservation, ...words }, taken) => {
      const { pool } = snapshot(have, []);
      const board = new Board({ pool, windows: set, now: 0 });
      // Something starts before: the board knows more than the pool.
      const before = askFor({ cpus: taken, time: 5 });
      const [first] = taken === 0 ? [] : board.fitting(before, 1);
      if (first !== undefined) board.start(before, [first], { jobId: 1 as never, index: 0 });
      const ask = askFor(reservation === undefined ? words : { ...words, reservation });
      const starts = (walltimeMs: number): boolean =>
        board.fitting({ ...ask, walltimeMs }, words.nodes).length >= words.nodes;
      const until = board.fitsUntil(ask);
      assert.equal(starts(1), until !== null);
      if (until === null) return;
      assert.ok(starts(until));
      assert.ok(until >= 100 || !starts(until + 1));
    }),
    { numRuns: 3000 },
  );
});

test('[J23] a smaller request is looked for as far as the looks go', () => {
  const have = Array.from({ length: 100 }, (_, at) => {
    return { name: `n${at}`, cpus: 8, memory: 64, used: { cpus: 6 }, until: 1e9 + at };
  });
  const names = have.map(({ name }) => name);
  const hour = 3_600_000;
  const looked = (looksMax?: number) => {
    const { pool } = snapshot(have, []);
    const board = new Board({ pool, windows: [window('w', hour, 2 * hour, names)], now: 0 });
    const changes = smallerRequests(board, askFor({ cpus: 4, time: 2 * hour }), looksMax);
    return { changes, work: board.work };
  };
  const whole = looked();
  const fewer = { what: 'cpus', to: 2, from: 4 };
  const shorter = { what: 'walltime', to: hour, from: 2 * hour };
  assert.deepEqual(whole.changes, [[fewer, shorter]]);
  const cut = looked(200);
  assert.deepEqual(cut.changes, []);
  // It stops after the next time through all nodes.
  assert.ok(cut.work <= 200 + 100 * (LOOKS_PER_LANE + LOOKS_PER_SEARCH + 1), `${cut.work}`);
  assert.ok(cut.work < whole.work);
});
