// The judge of chaos on steps: what is right is counted, and each thing that is wrong is seen.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outage, Rule, StepTrial, StepTrials } from '../../../bench/chaos/evidence.ts';
import { judge } from '../../../bench/chaos/judge.ts';
import { evidence, life, ROW, rules } from './support/evidence.ts';

const TRIAL: StepTrial = {
  key: 's1',
  id: '1.0',
  host: 'n1',
  beats: 5,
  exitCode: 2,
  from: 10_100,
  until: 10_700,
  code: 2,
  why: null,
  lines: 5,
  broken: null,
};
const STEP_LIFE = life({ key: 's1', from: 10_150, until: 10_650 });
const CUT: Outage = { host: 'n1', how: 'cut', parts: ['network'], from: 10_200, until: 10_500 };

function given(trial: Partial<StepTrial>, more: Partial<StepTrials> = {}): StepTrials {
  return { trials: [{ ...TRIAL, ...trial }], lives: [STEP_LIFE], refused: {}, ...more };
}

test('a step that came to its end is counted, and what was refused', () => {
  const steps = given({}, { refused: { 'step.not_running': 2 } });
  const { violations, counted } = judge(evidence({ steps }));
  assert.deepEqual(violations, []);
  assert.equal(counted['steps told whole'], 1);
  assert.equal(counted['steps refused: step.not_running'], 2);
});

test('what is wrong with a step is seen', () => {
  const KILLED = { code: 137, lines: 3 };
  const planted: readonly (readonly [what: string, rule: Rule, steps: StepTrials])[] = [
    ['a line twice', 'a step said otherwise', given({ broken: '3 for 4' })],
    ['nobody was told', 'a step is lost', given({ code: null })],
    ['killed, and nothing was out', 'a step is lost', given(KILLED)],
    ['another exit code', 'a step said otherwise', given({ code: 0 })],
    ['lines are missing', 'a step said otherwise', given({ lines: 4 })],
    [
      'no receipt of its end',
      'end without receipt',
      given({}, { lives: [{ ...STEP_LIFE, ended: false }] }),
    ],
    ['started twice', 'started twice', given({}, { lives: [STEP_LIFE, STEP_LIFE] })],
    [
      'it outlived its task',
      'ran on',
      given({}, { lives: [life({ key: 's1', from: 10_150, until: 14_000 })] }),
    ],
  ];
  for (const [what, rule, steps] of planted) assert.deepEqual(rules({ steps }), [rule], what);
});

test('a step that goes with its task, or with what was out, is counted', () => {
  const gone = given({ code: 137, lines: 3, until: 12_100 });
  const { violations, counted } = judge(evidence({ steps: gone }));
  assert.deepEqual([violations, counted['steps ended with their task, by 137']], [[], 1]);
  const cut = given({ code: 125, lines: 3, why: 'the agent of its node was started anew' });
  assert.deepEqual(rules({ steps: cut, outages: [CUT] }), []);
});

test('a step that was told to end with its task, whose machine then lost its power, is counted', () => {
  const told = given({ code: 143, lines: 3 });
  const off: Outage = { ...CUT, how: 'off', parts: ['agent', 'launcher'], from: 11_000 };
  const lost = { ...off, until: 20_000 };
  const { outcome } = ROW;
  const tasks = [{ ...ROW, endedAt: 14_000, outcome: { ...outcome, kind: 'node_fail' as const } }];
  assert.deepEqual(
    rules({ steps: told, outages: [lost], tasks }).includes('a step is lost'),
    false,
  );
  assert.ok(rules({ steps: told, tasks }).includes('a step is lost'));
});

test('a step that ends at the first word to its task, which takes its grace, is counted', () => {
  const told = given({ code: 143, lines: 3 });
  const endedAt = TRIAL.until + 1_400;
  const cancelled = { ...ROW.outcome, kind: 'cancelled' as const };
  const lost = (tasks: readonly (typeof ROW)[], killGraceMs = 500): boolean =>
    rules({ steps: told, tasks, killGraceMs }).includes('a step is lost');
  assert.equal(lost([{ ...ROW, endedAt, outcome: cancelled }]), false);
  assert.ok(lost([{ ...ROW, endedAt }]), 'nobody told it to end');
  assert.ok(lost([{ ...ROW, endedAt, outcome: cancelled }], 100), 'longer than its grace');
});
