// Usage of groups: added up of their users, by step.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usageOfGroups } from '../../../../../src/kernel/head/answers/usage-groups.ts';

const row = (key: string, step: number, starts: number) => ({
  key,
  step,
  starts,
  tasks: starts,
  usedUs: 1,
  cpuMs: 10 * starts,
  memoryByteMs: 2,
  gpuMs: 5,
});

test('users add up to their groups, in each of several, and under no name in none', () => {
  const groups: Record<string, string[]> = { ann: ['lab'], bob: ['lab', 'gpu'], eve: [] };
  const rows = [row('ann', 0, 1), row('bob', 0, 2), row('eve', 0, 3), row('ann', 1, 4)];
  const asked: string[] = [];
  const found = usageOfGroups(rows, (user) => {
    asked.push(user);
    return groups[user] ?? [];
  });
  assert.deepEqual(asked, ['ann', 'bob', 'eve'], 'once for each user');
  assert.deepEqual(
    found.map(({ key, step, starts, cpuMs, usedUs }) => [key, step, starts, cpuMs, usedUs]),
    [
      ['', 0, 3, 30, 1],
      ['gpu', 0, 2, 20, 1],
      ['lab', 0, 3, 30, 2],
      ['lab', 1, 4, 40, 1],
    ],
  );
});
