// What of a changed configuration acts at once, and what only after a restart.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareWritten } from '../../../../src/kernel/config/compare.ts';

test('changes are sorted by when they act; other programs’ keys are nobody’s business', () => {
  const before = {
    'head.policy': 'fifo',
    'head.listen': 'none',
    'up.nodes': '4',
    'qos.a.tier': '1',
  };
  const after = { 'head.policy': 'easy', 'head.listen': 'x:1', 'up.nodes': '5', 'qos.b.tier': '2' };
  assert.deepEqual(compareWritten({ before, after }, []), {
    changed: [
      { key: 'head.policy', before: 'fifo', after: 'easy' },
      { key: 'qos.a.tier', before: '1', after: null },
      { key: 'qos.b.tier', before: null, after: '2' },
    ],
    afterRestart: [{ key: 'head.listen', before: 'none', after: 'x:1' }],
  });
});
