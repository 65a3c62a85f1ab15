// What the nodes of one process share of a look at the machine's processes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedMarks } from '../../../../src/kernel/os/marks.ts';

test('nodes that ask in one moment share one look, and later ones see what is new', () => {
  let now = 1000;
  let looks = 0;
  const machine = {
    memory: () => {
      looks += 1;
      return new Map([['mark', looks]]);
    },
    kill: () => ({ lived: 1, unknown: 0 }),
  };
  const marks = sharedMarks(machine, () => now);
  const seen = Array.from({ length: 100 }, () => marks.memory().get('mark'));
  assert.deepEqual([...new Set(seen)], [1]);
  now += 500;
  assert.equal(marks.memory().get('mark'), 2, 'a watch that comes again looks again');
  assert.deepEqual(marks.kill(new Set(['mark'])), { lived: 1, unknown: 0 });
});
