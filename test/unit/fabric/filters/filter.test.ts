// Filters: what a scheduler from outside sees of nodes and jobs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FilterRule } from '../../../../src/core/model/filter-rule.ts';
import { filtered } from '../../../../src/fabric/filters/filter.ts';

function rule(name: string, more: Partial<FilterRule> = {}): FilterRule {
  return { name, over: 'nodes', when: [], hide: false, add: [], queue: null, ...more };
}

test('[D4] a rule is for what meets all that it says, and for one kind of thing', () => {
  const rules = [
    rule('old', { when: ['old & !kept'], hide: true }),
    rule('jobs', { over: 'jobs', hide: true }),
    rule('both', { when: ['gpu', 'big'], add: ['fast'] }),
  ];
  const seen = (...labels: string[]) => filtered(rules, 'nodes', labels);
  assert.equal(seen('old').hiddenBy, 'old');
  assert.equal(seen('old', 'kept').hiddenBy, null);
  assert.deepEqual(seen('gpu').labels, []);
  assert.deepEqual(seen('gpu', 'big').labels, ['fast']);
  assert.deepEqual(seen('gpu', 'big', 'fast').labels, [], 'it has that label');
  assert.equal(filtered(rules, 'jobs', []).hiddenBy, 'jobs');
});

test('[D4] rules apply in their order, and see what those before have added', () => {
  const rules = [
    rule('rack', { when: ['rack=7'], add: ['slow'] }),
    rule('slow', { when: ['slow'], queue: 'night' }),
    rule('last', { when: ['slow'], queue: 'late' }),
  ];
  assert.deepEqual(filtered(rules, 'nodes', ['rack=7']), {
    ...{ hiddenBy: null, labels: ['slow'], queue: 'late', rules: ['rack', 'slow', 'last'] },
    ...{ partition: null, name: null },
  });
  assert.equal(filtered([...rules].reverse(), 'nodes', ['rack=7']).queue, null);
});
