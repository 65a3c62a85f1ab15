// What is said of a head's clock that somebody has set.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InfoReply } from '../../../../src/kernel/api/cluster.ts';
import { clockSetWords } from '../../../../src/kernel/cli/output/clock-set.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const HOUR = 3_600_000;

test('[H3] for a day people are told when and how the clock of the head was set', () => {
  const clockSteps = [
    { at: NOW - 25 * HOUR, byMs: HOUR },
    { at: NOW - 60_000, byMs: -24 * HOUR + 12 },
  ];
  const [line = '', ...others] = clockSetWords({ clockSteps, head: { now: NOW } } as InfoReply);
  assert.match(line, /^its clock was set back by 1d at \d\d:59:00$/);
  assert.deepEqual(others, []);
  assert.deepEqual(
    clockSetWords({ head: { now: NOW } } as InfoReply),
    [],
    'an older head says nothing',
  );
});
