// What `weft show` says that a job used.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usedLines } from '../../../../src/wings/samples/cli/used-lines.ts';

const figure = { asked: 4000, mean: 1000, peak: 2000, curve: [] };
const USED = {
  parts: 3,
  from: 0,
  stepMs: 1000,
  cpuMilli: figure,
  memoryBytes: figure,
  gpuMilli: null,
  readBytes: 0,
  writtenBytes: 0,
};
const REQUEST = {
  processesPerNode: 1,
  perNode: { cpuCount: 4, memoryBytes: 4000, gpuCount: 0, counted: {} },
  exclusive: false,
  labels: [],
  nodeNames: [],
};

test('several parts are starts only where each is on one node', () => {
  const cpus = (nodeCount: number, parts: number) =>
    usedLines({ used: { ...USED, parts }, request: { ...REQUEST, nodeCount } })[0]?.[1];
  const amounts = '1 of 4 on average (25%), 2 at most';
  assert.equal(cpus(1, 3), `${amounts} (per node, over 3 starts)`);
  assert.equal(cpus(3, 3), `${amounts} (per node, over 3 parts of tasks on their nodes)`);
  assert.equal(cpus(1, 1), amounts);
});
