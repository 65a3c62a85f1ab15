// What a user elsewhere needs: everything that `weft token create` tells is enough to get in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../../../../src/kernel/api/client.ts';
import { runWeft } from '../../../../../src/kernel/cli/main.ts';
import { fingerprintOf } from '../../../../../src/kernel/head/auth/certificate.ts';
import { capture, FakeHead } from '../../cli/fake-head.ts';
import { startWorld } from './fixture.ts';

test('a token comes with address, fingerprint and certificate of the head, and info shows them', async (t) => {
  const world = await startWorld(t);
  const made = await world.admin.call('createToken', { body: { user: 'anna' } });
  assert.equal(made.fingerprint, world.http.fingerprint);
  assert.equal(fingerprintOf(made.certificate ?? ''), made.fingerprint);
  const address = { url: `https://${made.addresses[0]}`, fingerprint: made.fingerprint ?? '' };
  const anna = createClient({ address, token: made.token });
  t.after(() => anna.close());
  assert.equal((await anna.call('whoami')).name, 'anna');
  const { head } = await anna.call('info');
  assert.deepEqual([head.fingerprint, head.addresses], [made.fingerprint, made.addresses]);
});

const MADE = {
  id: '1',
  user: 'anna',
  token: 'wt_1_secret',
  expiresAt: null,
  notice: null,
  fingerprint: 'f'.repeat(64),
  certificate: '-----BEGIN CERTIFICATE-----\n',
};
const PASTED = `export WEFT_HEAD=https://head:5001\nexport WEFT_FINGERPRINT=${MADE.fingerprint}\n`;

test('token create prints what to paste elsewhere, and the secret on standard output only', async () => {
  const answer = () => ({ json: { ...MADE, addresses: ['head:5001'] } });
  await using head = await FakeHead.start({ 'POST /v1/tokens': answer });
  const piped = await head.weft('token', 'create');
  assert.equal(piped.out, 'wt_1_secret\n');
  assert.ok(
    piped.error.includes(`on another machine, paste there:\n${PASTED}export WEFT_TOKEN=…\n`),
  );
  assert.match(piped.error, /-----BEGIN CERTIFICATE-----/);
  assert.ok(!piped.error.includes('secret'));
  const argv = ['token', 'create'];
  const seen = await capture(head.directory, { program: 'weft', argv }, (invocation) =>
    runWeft({ ...invocation, terminal: { ...invocation.terminal, outIsTerminal: true } }),
  );
  assert.equal(seen.out, `wt_1_secret\n${PASTED}export WEFT_TOKEN=wt_1_secret\n`);
});

test('tokens of a head that other machines cannot reach say what to change', async (t) => {
  const world = await startWorld(t);
  const weft = (...argv: string[]) =>
    capture(world.directory, { program: 'weft', argv }, (invocation) =>
      runWeft({ ...invocation, environment: { WEFT_SOCKET: world.socketPath } }),
    );
  const made = await weft('token', 'create');
  assert.equal(made.code, 0, made.error);
  assert.match(made.out, /^wt_[^\s]+\n$/);
  assert.match(made.error, /To use it on this machine, type:\nexport WEFT_HEAD=https:\/\/127\.0/);
  const unreachable = /listens on 127\.0\.0\.1:\d+, which no other.*`weft up --listen HOST:5001`/;
  assert.match(made.error, unreachable);
  assert.match((await weft('token', 'join')).error, unreachable);
  assert.match((await weft('info')).out, new RegExp(`Fingerprint: ${world.http.fingerprint}`));
  const none = () => ({ json: { ...MADE, addresses: [], fingerprint: null, certificate: null } });
  await using head = await FakeHead.start({ 'POST /v1/tokens': none });
  assert.match(
    (await head.weft('token', 'create')).error,
    /listens on no port\. .*--listen HOST:5001/,
  );
});
