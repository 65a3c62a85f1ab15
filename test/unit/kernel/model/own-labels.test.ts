// Labels that the program keeps for itself stand in no words for people.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelsForPeople } from '../../../../src/kernel/model/own-labels.ts';
import { describeRequest } from '../../../../src/kernel/model/request-words.ts';

test('nobody is told by which label a batch shuns nodes where its build failed', () => {
  assert.deepEqual(labelsForPeople(['gpu', 'build-failed=22']), ['gpu']);
  const request = {
    nodeCount: 1,
    processesPerNode: 1,
    nodeNames: [],
    exclusive: false,
    labels: ['gpu', '!build-failed=22'],
    perNode: { cpuCount: 1, memoryBytes: 0, gpuCount: 0, counted: {} },
  };
  assert.equal(describeRequest(request), '1 node labelled gpu with 1 cpu');
});
