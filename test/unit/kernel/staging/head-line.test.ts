// How long a node goes on asking the head.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuse } from '../../../../src/kernel/model/errors.ts';
import { failure } from '../../../../src/kernel/model/failure.ts';
import { patienceFor } from '../../../../src/kernel/staging/head-line.ts';

const HOUR = 3_600_000;

test('a node waits for hours for room on the head, minutes for a bug, and not for what stays', () => {
  assert.equal(patienceFor(failure(refuse('blob.disk_full', { cause: 'x' }))), 12 * HOUR);
  assert.equal(patienceFor(failure(refuse('internal.error', { incident: 'x' }))), HOUR / 30);
  assert.equal(patienceFor(failure(refuse('blob.not_found', { hash: 'x' }))), 0);
  assert.equal(patienceFor(new Error('x')), 0);
  const never = Number.POSITIVE_INFINITY;
  assert.equal(patienceFor(failure(refuse('head.starting', {}))), never);
  assert.equal(patienceFor(failure(refuse('rate.exceeded', { limit: 'x' }))), never);
});
