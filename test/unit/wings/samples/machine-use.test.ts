// Whose sessions are whose.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marked, systemUse } from '../../../../src/wings/samples/os/machine-use.ts';

test('[V11] sessions that inherited one mark are all told, each by its own name', () => {
  const session = (startTicks: string) => ({ startTicks, cpuMs: 5, memoryBytes: 7 });
  const sessions = new Map([
    ['10', session('1')],
    ['11', session('2')],
    ['12', session('3')],
    ['13', session('')],
    ['14', session('4')],
  ]);
  const known: Readonly<Record<string, string | null | undefined>> = {
    10: 'one',
    11: 'one',
    12: null,
    13: 'one',
    14: undefined,
  };
  const marks = new Map<string, string | null>([['9@1', 'one']]);
  const found = marked(sessions, marks, (name) => known[name]);
  const use = { cpuMs: 5, memoryBytes: 7 };
  assert.deepEqual(
    [...found],
    [
      [
        'one',
        [
          { name: '10@1', ...use },
          { name: '11@2', ...use },
        ],
      ],
    ],
  );
  assert.deepEqual([...marks.keys()], ['10@1', '11@2', '12@3'], 'what has ended is forgotten');
});

test('[V11] a machine says how many cpus it has', () => {
  const { cpuCount, whole } = systemUse().look();
  assert.ok(cpuCount !== null && cpuCount >= 1);
  assert.ok(whole !== null && whole.memoryBytes > 0);
});
