// Signals that give up together, also in browsers without AbortSignal.any.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eitherOf } from '../../../../src/kernel/page/data/either.ts';

for (const isOld of [false, true]) {
  test(`[D12] the first signal that ends tells its reason, ${isOld ? 'without' : 'with'} any`, (t) => {
    if (isOld) {
      const { any } = AbortSignal;
      t.after(() => Object.assign(AbortSignal, { any }));
      Object.assign(AbortSignal, { any: undefined });
    }
    const [one, two] = [new AbortController(), new AbortController()];
    const either = eitherOf(one.signal, two.signal);
    assert.equal(either.aborted, false);
    two.abort('late');
    assert.deepEqual([either.aborted, either.reason], [true, 'late']);
    assert.equal(eitherOf(one.signal, two.signal).reason, 'late');
  });
}
