// What is to be done to a machine that is to have the head.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planHead } from '../../../../src/wings/lab/core/head-plan.ts';

const BARE = {
  isRoot: true,
  hasSystemd: true,
  hasUser: false,
  hasFolder: false,
  hasConfig: false,
  hasUnit: false,
  isRunning: false,
};

test('[Y11] what is there is not done again, and the rest in its order', () => {
  const plan = (more: Partial<typeof BARE>) => planHead({ ...BARE, ...more });
  assert.deepEqual(plan({}), { ok: true, value: ['user', 'folder', 'config', 'unit', 'start'] });
  const half = plan({ hasUser: true, hasUnit: true, hasFolder: true });
  assert.deepEqual(half, { ok: true, value: ['config', 'start'] });
  const all = { hasUser: true, hasFolder: true, hasConfig: true, hasUnit: true, isRunning: true };
  assert.deepEqual(plan(all), { ok: true, value: [] });
});

test('[Y11] where it cannot be, it says what can', () => {
  const refused = (more: Partial<typeof BARE>) => {
    const plan = planHead({ ...BARE, ...more });
    return plan.ok ? '' : `${plan.error.what}: ${plan.error.remedy}`;
  };
  assert.match(refused({ isRoot: false }), /root: Type it with sudo/);
  assert.match(refused({ hasSystemd: false }), /no systemd.*docs\/install\.md/);
});
