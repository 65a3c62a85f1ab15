// What `--watch` says of trouble, on a terminal that is narrow.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeHead, refusal } from './fake-head.ts';
import { FakeScreen } from './fake-screen.ts';

const WHY = 'The head writes nothing: its disk is full, and the reserve is used up.';

test('trouble has lines of its own where the first one has no room for it', async () => {
  let isWell = true;
  const away = { status: 503, json: refusal('store.unavailable', 'unavailable', WHY) };
  await using head = await FakeHead.start({
    'GET /v1/tokens': () => (isWell ? { json: { tokens: [] } } : away),
  });
  const screen = new FakeScreen();
  screen.resize(40, 8);
  const said = head.weftOnScreen(screen, 'token', 'list', '--watch', '0.1s');
  await screen.shows(/^weft token list --watch 0\.1s {2}\d\d:\d\d/);
  isWell = false;
  await screen.shows(/The head/);
  const { picture } = screen;
  assert.ok(picture.length <= 8 && picture.every((line) => line.length <= 40), picture.join('\n'));
  assert.match(picture.join(' ').replace(/ +/g, ' '), new RegExp(WHY.replaceAll('.', '\\.')));
  screen.resize(200, 8);
  assert.match(screen.picture[0] ?? '', /used up\.$/);
  screen.type('q');
  await said;
});
