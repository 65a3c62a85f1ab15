// What the options of `weft maint node-off` ask for, and what is refused before anything is sent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePlan, type PlanOptions } from '../../../../src/kernel/cli/maintenance/plan.ts';

const NOW = new Date(2026, 0, 31, 18, 0).getTime();
const HOUR = 3_600_000;
const HERE = { now: NOW, cwd: import.meta.dirname };

const made = (options: PlanOptions) =>
  makePlan(['n1,n2', 'n3'], { duration: '1h', ...options }, HERE);
const time = (options: PlanOptions) => made(options).time;

test('the time is fixed, now, or as early as there is room', () => {
  assert.deepEqual(made({ now: true }).nodes, ['n1', 'n2', 'n3']);
  assert.deepEqual(time({ now: true }), { kind: 'now' });
  assert.deepEqual(time({ at: '+2h' }), { kind: 'fixed', from: NOW + 2 * HOUR });
  const within = { kind: 'flexible', notBefore: NOW, until: NOW + 12 * HOUR };
  assert.deepEqual(time({ within: '12h' }), within);
  const night = { kind: 'flexible', notBefore: NOW + 4 * HOUR, until: NOW + 12 * HOUR };
  assert.deepEqual(time({ within: '22:00..06:00' }), night);
});

test('a warning and a program are as the options say', () => {
  assert.equal(made({ now: true }).warning, null);
  assert.deepEqual(made({ at: '+1h', warn: '5m' }).warning, { leadMs: 300_000, signal: 15 });
  const usr1 = made({ at: '+1h', warn: '5m', signal: 'USR1' }).warning;
  assert.deepEqual(usr1, { leadMs: 300_000, signal: 10 });
  const line = made({ now: true, program: 'apt upgrade', as: 'ann', restarts: true }).program;
  const program = { kind: 'shell', line: 'apt upgrade' };
  assert.deepEqual(line, { program, restarts: true, account: 'ann' });
  const script = made({ now: true, script: 'maintenance.test.ts' }).program?.program;
  assert.match(script?.kind === 'script' ? script.text : '', /^\/\/ What the options/);
});

test('what makes no sense is refused by its option', () => {
  const cases: [PlanOptions, RegExp][] = [
    [{}, /one of --at, --within and --now/],
    [{ now: true, at: '+1h' }, /one of --at/],
    [{ at: 'soon' }, /^--at: 'soon' is not a time/],
    [{ within: 'a..b..c' }, /^--within/],
    [{ now: true, reason: ' ' }, /^--reason: give a reason/],
    [{ now: true, program: '' }, /^--program: the command is empty/],
    [{ now: true, needs: ['gpu |'] }, /^--needs: 'gpu \|', column 6: expected a label/],
    [{ now: true, duration: '0s' }, /^--duration: the duration must be at least 1s/],
    [{ now: true, running: 'requeu' }, /^--running: 'requeu'.*requeue/],
    [{ now: true, signal: 'TERM' }, /--signal needs --warn/],
    [{ at: '+1h', warn: '1m', signal: 'NOPE' }, /NOPE/],
    [{ now: true, program: 'a', script: 'b' }, /exclude each other/],
    [{ now: true, restarts: true }, /need --program/],
    [{ now: true, script: 'no-such-file' }, /^--script: cannot read no-such-file: no such file/],
  ];
  for (const [options, words] of cases) assert.throws(() => made(options), { message: words });
});
