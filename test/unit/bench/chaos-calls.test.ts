// The judge of chaos on calls of Python programs: what is right is counted, and what is wrong is
// seen.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallTrial, CallTrials, Outage, Rule } from '../../../bench/chaos/evidence.ts';
import { judge } from '../../../bench/chaos/judge.ts';
import { evidence, life, rules } from './support/evidence.ts';

const TRIAL: CallTrial = {
  key: 'c1',
  beats: 5,
  retries: 0,
  from: 40_000,
  until: 40_700,
  end: 'value',
  words: 'c1 after 5',
};
const RAN = life({ task: '9[0]', key: 'c1', from: 40_100, until: 40_600 });
const LOST: Partial<CallTrial> = { end: 'WorkerLost', words: 'work on n1: its node was lost' };
const CUT: Outage = { host: 'n1', how: 'cut', parts: ['network'], from: 40_200, until: 40_500 };
const ELSEWHERE: Outage = { ...CUT, host: 'n2' };

function given(trial: Partial<CallTrial>, more: Partial<CallTrials> = {}): CallTrials {
  return { trials: [{ ...TRIAL, ...trial }], lives: [RAN], refused: {}, exitCode: 0, ...more };
}

test('a call that was told whole is counted, and what could not be made', () => {
  const calls = given({}, { refused: { ClusterGone: 2 } });
  const { violations, counted } = judge(evidence({ calls }));
  assert.deepEqual(violations, []);
  assert.equal(counted['calls told whole'], 1);
  assert.equal(counted['calls refused: ClusterGone'], 2);
});

test('what is wrong with a call is seen', () => {
  const twice = { trials: [TRIAL, TRIAL] };
  const planted: readonly (readonly [what: string, rule: Rule, calls: CallTrials])[] = [
    ['nobody was told', 'a call is lost', given({ end: null, words: '' })],
    ['lost, and nothing was out', 'a call is lost', given(LOST)],
    ['another value', 'a call said otherwise', given({ words: 'c2 after 5' })],
    ['told twice', 'a call said otherwise', given({}, twice)],
    ['a value of nothing', 'end without receipt', given({}, { lives: [] })],
    [
      'a value before the end',
      'end without receipt',
      given({}, { lives: [{ ...RAN, ended: false }] }),
    ],
    ['their program died', 'a call is lost', given({}, { exitCode: 1 })],
    ['run again', 'started twice', given({}, { lives: [RAN, RAN] })],
    ['tried too often', 'started twice', given({ retries: 1 }, { lives: [RAN, RAN, RAN] })],
  ];
  for (const [what, rule, calls] of planted) assert.deepEqual(rules({ calls }), [rule], what);
});

test('a call that is told as lost is right when its worker could be', () => {
  assert.deepEqual(rules({ calls: given(LOST), outages: [CUT] }), []);
  assert.deepEqual(rules({ calls: given(LOST), outages: [ELSEWHERE] }), ['a call is lost']);
  const unborn = given(LOST, { lives: [] });
  assert.deepEqual(rules({ calls: unborn, outages: [ELSEWHERE] }), []);
  assert.deepEqual(rules({ calls: given({ retries: 2 }, { lives: [RAN, RAN] }) }), []);
});
