// What is told of files that are not kept fits the schema of the head, whatever their names are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputRoutes } from '../../../../src/kernel/api/outputs.ts';
import { reported } from '../../../../src/kernel/staging/reported.ts';

test('an odd name costs nothing but its own end', () => {
  const leftOut = [
    { path: 'a'.repeat(5000), why: 'it is too long' },
    { path: 'l', why: `it leads to /${'a'.repeat(1100)}` },
    { path: 'ok', why: 'a pipe' },
  ];
  const { body } = outputRoutes.storeOutputs;
  assert.equal(body.safeParse({ entries: [], leftOut }).success, false);
  assert.equal(body.safeParse({ entries: [], leftOut: leftOut.map(reported) }).success, true);
  assert.deepEqual(reported(leftOut[2] as { path: string; why: string }), leftOut[2]);
});
