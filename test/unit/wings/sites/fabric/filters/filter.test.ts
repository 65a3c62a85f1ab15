// Filters: what a scheduler from outside sees of nodes and jobs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FilterRule } from '../../../../../../src/kernel/model/filter-rule.ts';
import { filtered } from '../../../../../../src/wings/sites/fabric/filters/filter.ts';

function rule(name: string, more: Partial<FilterRule> = {}): FilterRule {
  return { name, over: 'nodes', when: [], hide: false, add: [], queue: null, ...more };
}

test('[D4] a rule is for what meets all that it says, and for one kind of thing', () => {
  const rules = [
    rule('old', { when: ['old & !kept'], hide: true }),
    rule('jobs', { over: 'jobs', hide: true }),
    rule('both', { when: ['gpu', 'big'], add: ['fast'] }),
  ];
  const seen = (...labels: string[]) => filtered(rules, { over: 'nodes', name: 'n1', labels });
  assert.equal(seen('old').hiddenBy, 'old');
  assert.equal(seen('old', 'kept').hiddenBy, null);
  assert.deepEqual(seen('gpu').labels, []);
  assert.deepEqual(seen('gpu', 'big').labels, ['fast']);
  assert.deepEqual(seen('gpu', 'big', 'fast').labels, [], 'it has that label');
  assert.equal(filtered(rules, { over: 'jobs', name: '7', labels: [] }).hiddenBy, 'jobs');
});

test('[D4] rules apply in their order, and see what those before have added', () => {
  const rules = [
    rule('rack', { when: ['rack=7'], add: ['slow'] }),
    rule('slow', { when: ['slow'], queue: 'night' }),
    rule('last', { when: ['slow'], queue: 'late' }),
  ];
  const node = { over: 'nodes', name: 'n1', labels: ['rack=7'] } as const;
  assert.deepEqual(filtered(rules, node), {
    hiddenBy: null,
    labels: ['slow'],
    queue: 'late',
    rules: ['rack', 'slow', 'last'],
    partition: null,
    name: null,
  });
  assert.equal(filtered([...rules].reverse(), node).queue, null);
});

test('[G8] names of a form get another one, each rule after those before it', () => {
  const rules = [
    rule('short', { rename: { from: '*.example.org', to: '*' } }),
    rule('big', { when: ['big'], rename: { from: 'n*', to: 'big-*' } }),
    rule('one', { rename: { from: 'head', to: 'login' } }),
  ];
  const called = (name: string, ...labels: string[]) =>
    filtered(rules, { over: 'nodes', name, labels }).name;
  assert.equal(called('n1.example.org'), 'n1');
  assert.equal(called('n1.example.org', 'big'), 'big-1');
  assert.equal(called('n12', 'big'), 'big-12');
  assert.equal(called('head.example.org'), 'login');
  assert.equal(called('n1.example.com'), null);
  // What begins and ends as it must is not of the form where both are the same part.
  const both = [rule('both', { rename: { from: 'ab*ba', to: 'x*' } })];
  const seen = (name: string) => filtered(both, { over: 'nodes', name, labels: [] }).name;
  assert.deepEqual([seen('aba'), seen('abba')], [null, 'x']);
});
