// What a source of goals says, shown in a terminal.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeHead } from '../../../kernel/cli/fake-head.ts';

const ESCAPE = 'gone\u001b[2J';

test('what a source of goals says cannot drive a terminal', async () => {
  const source = { url: 'https://goals.example/x', readAt: null, problem: ESCAPE };
  await using head = await FakeHead.start({
    'GET /v1/goals': () => ({ json: { everyMs: 1, repairs: true, source, nodes: [] } }),
  });
  const { out } = await head.weft('goal', 'show');
  assert.match(out, /Goals of https:\/\/goals\.example\/x, not read yet; now: gone\?\[2J\.\n/);
});
