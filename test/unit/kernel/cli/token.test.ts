// Tokens as they are asked for: for whom, and what becomes of one that cannot be written.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { FakeHead, refusal } from './fake-head.ts';

const WEFT = path.join(import.meta.dirname, '../../../../bin/weft.mjs');

test('a token that standard output does not take is named, to revoke it', async () => {
  const token = { id: 'abc', token: 'wt_abc_secret', user: 'alice', expiresAt: null };
  const where = { notice: null, addresses: [], fingerprint: null, certificate: null };
  await using head = await FakeHead.start({
    'POST /v1/tokens': () => ({ json: { ...token, ...where } }),
  });
  const { PATH = '' } = process.env;
  const environment = { PATH, HOME: head.directory, WEFT_SOCKET: head.socket };
  const create = async (out: string) => {
    const argv = ['-c', `exec "$0" "$1" token create > ${out}`, process.execPath, WEFT];
    const child = spawn('sh', argv, { env: environment, stdio: ['ignore', 'inherit', 'pipe'] });
    return text(child.stderr);
  };
  const lost = /^weft: token abc is made, and nobody has it: `weft token revoke abc`$/m;
  assert.match(await create('/dev/full'), lost);
  assert.doesNotMatch(await create('/dev/null'), lost);
});

test('an empty name, as of a variable that is not set, gets no token of whoever types', async () => {
  await using head = await FakeHead.start({
    'POST /v1/tokens': () => ({
      status: 400,
      json: refusal('argument.invalid', 'invalid_argument', 'user'),
    }),
  });
  await head.weft('token', 'create', '--user', '');
  const [asked] = head.work;
  assert.deepEqual((asked?.body as { user?: string } | undefined)?.user, '');
});

test('--watch ends when its token has been revoked, and not by one refusal', async () => {
  const answers = ['good', 'refused', 'good', 'refused', 'refused'];
  await using head = await FakeHead.start({
    'GET /v1/tokens': () =>
      answers.shift() === 'good'
        ? { json: { tokens: [] } }
        : { status: 401, json: refusal('auth.token_invalid', 'unauthenticated', 'No such token.') },
  });
  const { code, error } = await head.weft('token', 'list', '--watch', '0.1s');
  assert.equal(code, 4);
  assert.match(error, /No such token\.\nweft: No such token\./);
  assert.deepEqual(answers, []);
});
