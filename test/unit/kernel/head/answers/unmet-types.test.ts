// What is said of types of gpus that the configuration names and no node has.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unmetTypes } from '../../../../../src/kernel/head/answers/unmet-types.ts';
import {
  plainQos,
  plainScheduling,
  type Scheduling,
} from '../../../../../src/kernel/model/scheduling.ts';

const PLAIN = plainScheduling('fifo');
const WEIGHTS = { ...PLAIN.fairShare.weights, gpus: { a100: 4, h10: 2 } };
const NAMED: Scheduling = {
  ...PLAIN,
  fairShare: { ...PLAIN.fairShare, weights: WEIGHTS },
  qualities: { big: { ...plainQos('big'), gpusPerUser: { gpus: 8, 'gpus:h200': 2 } } },
  caps: { 'gpus:a100-80g': 2, 'gpus:v100': 1 },
  memberCaps: { ann: { 'gpus:v100': 1, 'gpus:t4': 1 }, ben: { 'gpus:t4': 2 } },
};

function notes(types: readonly (readonly string[])[], scheduling = NAMED): string[] {
  const nodes = types.map((own, at) => {
    const cards = own.map((type) => ({ type }));
    return [`n${at}`, { total: { gpuCount: own.length }, gpus: { cards } }];
  });
  return unmetTypes({ nodes: new Map(nodes as never) } as never, scheduling);
}

test('[V31] a type that no node has is told, wherever the configuration names it', () => {
  assert.deepEqual(notes([['a100-80g'], []]), [
    'fair_share.gpu_weights names h10, which no node has; nodes have a100-80g',
    'running_gpu_types of the QoS big names h200, which no node has; nodes have a100-80g',
    'caps.gpu_types names v100, which no node has; nodes have a100-80g',
    'caps.gpu_types of a group names t4, which no node has; nodes have a100-80g',
  ]);
  assert.match(notes([[]])[0] ?? '', /names a100 and h10, which no node has; nodes have no gpus$/);
});

test('[V31] nothing is told where types are not known, or none is missing', () => {
  assert.deepEqual(notes([]), []);
  assert.deepEqual(notes([['a100-80g'], ['']]), []);
  assert.deepEqual(notes([['t4']], PLAIN), []);
});
