// Whom a cluster notifies of a batch: what its file says, but no program of the submitter's own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targetsOf } from '../../../../../src/wings/batches/core/targets.ts';

test('[T3] a batch file says whom to notify, and no head runs a program of it', () => {
  const targets = targetsOf([
    { kind: 'matrix', user: '@ann:lab' },
    { kind: 'command', command: './tell.sh' },
    { kind: 'webhook', url: 'https://ci.lab/hook' },
    { kind: 'command', command: 'tell' },
    { kind: 'mail', address: 'ann@lab' },
  ]);
  assert.deepEqual(targets, [
    ...['matrix:@ann:lab', 'webhook:https://ci.lab/hook', 'command:tell', 'mail:ann@lab'],
  ]);
});
