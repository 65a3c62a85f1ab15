// Tasks that use more of a card than their share, as the driver tells of processes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryByMark, oversOf } from '../../../../../src/wings/gpus/core/shares.ts';
import type { ProcessOwner } from '../../../../../src/wings/gpus/model/answer.ts';
import { GIB } from '../../../../support/nodes.ts';

const ours = (mark: string) => ({ user: 'ann', isOurs: true, mark });
const process = (pid: number, memoryBytes: number | null, card: string | null = 'GPU-a') => {
  return { card, pid, program: 'python', memoryBytes };
};

test('[V28] memory of a card counts for whose processes have it, by their marks', () => {
  const owners = new Map<number, ProcessOwner>([
    [1, ours('x:1')],
    [2, ours('x:1')],
    [3, ours('x:2')],
    [4, { user: 'ben', isOurs: false }],
    [5, { user: 'ann', isOurs: true }],
  ]);
  const all = [
    ...[process(1, 3), process(2, 4), process(3, null), process(4, 9), process(5, 9)],
    ...[process(1, 100, 'GPU-b'), process(1, 100, null), process(99, 5)],
  ];
  assert.deepEqual([...memoryByMark('GPU-a', all, owners)], [['x:1', 7]]);
});

test('[V28] whoever has more than the share is told of, and small changes are not', () => {
  const memory = new Map([
    ['x:1', 6 * GIB],
    ['x:2', 4 * GIB],
    ['x:3', 8 * GIB],
  ]);
  const large = { task: '1#1', shareBytes: 8 * GIB, marks: ['x:1', 'x:2'] };
  const exact = { task: '2#1', shareBytes: 8 * GIB, marks: ['x:3', 'x:9'] };
  const told = oversOf(memory, [large, exact], undefined);
  assert.deepEqual(told, [{ task: '1#1', memoryBytes: 10 * GIB }]);
  assert.equal(oversOf(new Map(memory).set('x:2', 5 * GIB), [large, exact], told), told);
  const grown = oversOf(new Map(memory).set('x:2', 9 * GIB), [large, exact], told);
  assert.deepEqual(grown, [{ task: '1#1', memoryBytes: 15 * GIB }]);
  assert.equal(oversOf(memory, [exact], told), undefined);
  assert.equal(oversOf(new Map(), [large], told), undefined);
  const many = Array.from({ length: 50 }, (_, at) => ({ ...large, task: `${at}#1` }));
  assert.equal(oversOf(memory, many, undefined)?.length, 8);
});
