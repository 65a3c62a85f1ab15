// What becomes of stored parts, by the last end of their task.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PartName } from '../../../../../src/kernel/head/archive/parts.ts';
import { keyOf } from '../../../../../src/kernel/head/archive/stored-parts.ts';
import { finalEnds, verdictOn } from '../../../../../src/kernel/head/archive/verdict.ts';
import { EngineBench } from '../../../../support/engine.ts';
import { jobRow, taskRow } from '../../store/support/rows.ts';

test('of a commit only ends count after which no task starts anew, each at its task', () => {
  const plain = taskRow(1, { final: true });
  const element = taskRow(2, { taskIndex: 0, epoch: 3, final: true });
  const requeued = taskRow(2, { taskIndex: 7, final: false });
  const rows = [plain, element, requeued].map((one) => ({ kind: 'task', row: one }) as const);
  const ends = finalEnds([{ kind: 'job', row: jobRow(1, {}) }, ...rows]);
  assert.deepEqual(
    [...ends.keys()],
    [keyOf({ jobId: 1, index: 0 }), keyOf({ jobId: 2, index: 0 })],
  );
  assert.equal(ends.get(keyOf({ jobId: 2, index: 0 })), element);
});

test('parts of the last start are finished, those of earlier ones go, later ones stay', async () => {
  const { engine } = await new EngineBench().start();
  const shelf = { jobId: 5, index: 0, isArray: false };
  const part = (epoch: number): PartName => {
    return { epochId: `5#${epoch}`, shelf, epoch, node: 'n1', nodeRank: 0, owner: 'alice' };
  };
  const parts = [1, 2, 3].map(part);
  const last = taskRow(5, { epoch: 2, final: true });
  const { finished, dropped, row: end } = verdictOn(engine.state, parts, { last, isStart: false });
  const epochs = (names: readonly PartName[]): number[] => names.map(({ epoch }) => epoch);
  assert.deepEqual([epochs(finished), epochs(dropped), end], [[2], [1], last]);
  const none = verdictOn(engine.state, parts, { last: undefined, isStart: false });
  assert.deepEqual(none, { finished: [], dropped: [], row: null });
});
