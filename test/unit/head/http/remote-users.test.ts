// What a user elsewhere needs: everything that `weft token create` tells is enough to get in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../../../src/api/client.ts';
import { runWeft } from '../../../../src/cli/main.ts';
import { fingerprintOf } from '../../../../src/head/auth/certificate.ts';
import { capture } from '../../cli/fake-head.ts';
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

test('token create prints what to paste elsewhere, and the token alone for scripts', async (t) => {
  const world = await startWorld(t);
  const weft = (...argv: string[]) =>
    capture(world.directory, { program: 'weft', argv }, (invocation) =>
      runWeft({ ...invocation, environment: { WEFT_SOCKET: world.socketPath } }),
    );
  const made = await weft('token', 'create');
  assert.equal(made.code, 0, made.error);
  const token = made.out.trim();
  assert.match(token, /^wt_[^\s]+$/);
  const lines = made.error.split('\n').filter((line) => line.startsWith('export '));
  assert.deepEqual(lines, [
    `export WEFT_HEAD=https://127.0.0.1:${world.http.port}`,
    `export WEFT_FINGERPRINT=${world.http.fingerprint}`,
    `export WEFT_TOKEN=${token}`,
  ]);
  assert.match(made.error, /-----END CERTIFICATE-----/);
  assert.match((await weft('info')).out, new RegExp(`Fingerprint: ${world.http.fingerprint}`));
});
