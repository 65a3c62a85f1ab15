// Commands as one line for tables and the history.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCommand } from '../../../../src/kernel/head/program-line.ts';

const program = { kind: 'script' as const, text: '#!/bin/sh\nx', args: ['{name}', '{line}'] };
const BATCH = { namespace: 'lab', name: 'heat', version: 2, numbers: '0-9' };
const EACH = Array.from({ length: 10 }, (_, at) => ({ name: `re${at}`, line: 'x' }));

function commandOf(indices: string): string {
  const array = { indices, runningMax: 10 };
  return formatCommand({ program, batch: BATCH, each: EACH, array });
}

test('a job of a batch is called by its batch and the names of its jobs', () => {
  assert.equal(formatCommand({ program }), "script (#!/bin/sh) '{name}' '{line}'");
  assert.equal(formatCommand({ program, batch: BATCH }), 'batch lab/heat@2');
  assert.equal(commandOf('4'), 'batch lab/heat@2: re4');
  assert.equal(commandOf('1,3'), 'batch lab/heat@2: re1, re3');
  assert.equal(commandOf('1,3,5'), 'batch lab/heat@2: re1, re3, re5');
  assert.equal(commandOf('0-9'), 'batch lab/heat@2: re0, re1 … re9');
});
