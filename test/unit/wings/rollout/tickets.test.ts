// Join tokens of machines that are being added: revoked when the joining is over.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuse } from '../../../../src/kernel/model/errors.ts';
import { failure } from '../../../../src/kernel/model/failure.ts';
import { Tickets } from '../../../../src/wings/rollout/cli/tickets.ts';

type Calls = ConstructorParameters<typeof Tickets>[0]['call'];

/** A head that makes tokens `1`, `2`, … and says which were revoked. */
function head(addresses: string[], isAway = false) {
  const revoked: string[] = [];
  let made = 0;
  const call = async (name: string, request: { params: { id: string } }) => {
    if (name === 'createJoinToken') {
      made += 1;
      return { id: String(made), token: `t${made}`, expiresAt: 1, fingerprint: 'f', addresses };
    }
    assert.equal(name, 'revokeToken');
    if (isAway) throw failure(refuse('head.unreachable', { address: 'head', cause: 'gone' }));
    revoked.push(request.params.id);
    return { changed: true };
  };
  return { tickets: new Tickets({ call: call as unknown as Calls }), revoked };
}

test('[I6] a token is good only while its machine joins, whatever comes of that', async () => {
  const { tickets, revoked } = head(['head:5001']);
  await tickets.during(async ({ token }) => {
    assert.equal(token, 't1');
    assert.deepEqual(revoked, []);
  });
  const broken = tickets.during(() => Promise.reject(new Error('it could not join')));
  await assert.rejects(broken, /it could not join/);
  assert.deepEqual(revoked, ['1', '2']);
});

test('a head that is gone by then leaves the token to its end, and the machine is up', async () => {
  const { tickets } = head(['head:5001'], true);
  assert.equal(await tickets.during(async ({ token }) => token), 't1');
});

test('a head that listens on no port adds no machine, and keeps no token', async () => {
  const { tickets, revoked } = head([]);
  await assert.rejects(
    tickets.during(async () => 'up'),
    /no machine can join/,
  );
  assert.deepEqual(revoked, ['1']);
});
