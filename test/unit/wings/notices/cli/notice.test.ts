// `weft notice`: what is sent, and where other commands show the notice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NoticeView } from '../../../../../src/wings/notices/api/notices.ts';
import { type Answers, FakeHead, refusal } from '../../../kernel/cli/fake-head.ts';

const NOTICE: NoticeView = {
  text: 'disk is full',
  from: null,
  until: null,
  by: 'olga',
  at: 0,
  shown: true,
};
const has = (notice: NoticeView | null): Answers => ({
  'GET /v1/notice': () => ({ json: { notice } }),
});

test('notice set sends one line, and a window as reserve and maint write it', async () => {
  await using head = await FakeHead.start({ 'PUT /v1/notice': () => ({ json: { count: 1 } }) });
  const plain = await head.weft('notice', 'set', 'disk', 'is full');
  assert.equal(plain.out, 'Users see the notice until it is cleared.\n');
  const range = '2099-01-02T08:00..2099-01-02T10:00';
  const later = await head.weft('notice', 'set', '--within', range, 'no power');
  assert.equal(later.out, 'Users see the notice from 2099-01-02 08:00 until 2099-01-02 10:00.\n');
  const [from, until] = [8, 10].map((hour) => new Date(2099, 0, 2, hour).getTime());
  const bodies = head.work.map(({ body }) => body);
  assert.deepEqual(bodies, [{ text: 'disk is full' }, { text: 'no power', from, until }]);
  const wrong = await head.weft('notice', 'set', '--within', 'a..b..c', 'x');
  assert.deepEqual([wrong.code, head.work.length], [2, 2]);
  assert.match(wrong.error, /^weft: --within: 'a\.\.b\.\.c' is not a window; write FROM\.\.UNTIL/);
});

test('notice show says who set it, and that there is none', async () => {
  await using head = await FakeHead.start(has(NOTICE));
  const { out } = await head.weft('notice', 'show');
  assert.match(out, /^Notice: +disk is full\nSet by: +olga, .*\nShown: +until it is cleared\n$/);
  const { out: json } = await head.weft('notice', 'show', '-o', 'json');
  assert.deepEqual(JSON.parse(json), { notice: NOTICE });
  await using quiet = await FakeHead.start(has(null));
  assert.equal((await quiet.weft('notice', 'show')).out, 'No notice is set.\n');
});

const SUBMITTED = { jobId: 42, taskCount: 1, directory: '/work', again: false };
const ACCEPTS: Answers = { 'POST /v1/jobs': () => ({ json: SUBMITTED }) };

test('run shows the notice to somebody at a terminal, once the job is accepted', async () => {
  await using head = await FakeHead.start({ ...ACCEPTS, ...has(NOTICE) });
  const said = await head.weftOnTerminal('run', 'true');
  const line = 'weft: Notice from olga: disk is full\n';
  assert.deepEqual(said, { code: 0, out: '42\n', error: line });
  assert.equal((await head.weft('run', 'true')).error, '', 'programs are not told');
  await using early = await FakeHead.start({ ...ACCEPTS, ...has({ ...NOTICE, shown: false }) });
  assert.equal((await early.weftOnTerminal('run', 'true')).error, '');
});

test('a head that cannot say its notice changes nothing about an accepted job', async () => {
  const unknown = refusal('route.unknown', 'not_found', 'No such path.');
  const answers = { ...ACCEPTS, 'GET /v1/notice': () => ({ status: 404, json: unknown }) };
  await using head = await FakeHead.start(answers);
  const said = await head.weftOnTerminal('run', 'true');
  assert.deepEqual(said, { code: 0, out: '42\n', error: '' });
});
