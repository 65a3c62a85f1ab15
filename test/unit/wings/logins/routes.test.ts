// A login over real sockets: asked for by nobody, answered by users, taken by who asked.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../../../src/kernel/api/client.ts';
import { formatToken, hashSecret } from '../../../../src/kernel/head/auth/secrets.ts';
import type { NodeName, UserName } from '../../../../src/kernel/model/ids.ts';
import { startWorld, type World } from '../../kernel/head/http/fixture.ts';

/** A client over TLS without credentials, as `weft login` has. */
function stranger({ url, http }: World) {
  return createClient({
    address: { url, fingerprint: http.fingerprint ?? undefined },
  });
}

test('[Y5] whoever asks gets a token of who says yes, and has seen who asks', async (t) => {
  const world = await startWorld(t);
  const nobody = stranger(world);
  t.after(() => nobody.close());
  const asked = await nobody.call('beginLogin', { body: { label: 'ann@lab3' } });
  const params = { code: asked.code };
  const body = { ticket: asked.ticket };
  assert.equal((await nobody.call('takeLogin', { body })).state, 'waiting');
  await assert.rejects(nobody.call('showLogin', { params }), { code: 'auth.required' });
  const answer = { params, body: { approve: true } };
  await assert.rejects(nobody.call('answerLogin', answer), { code: 'auth.required' });

  const alice = await world.client('alice');
  const shown = await alice.call('showLogin', { params });
  assert.deepEqual([shown.label, shown.address.endsWith('127.0.0.1')], ['ann@lab3', true]);
  const others = { params, body: { approve: true, user: 'bob' } };
  await assert.rejects(alice.call('answerLogin', others), { code: 'auth.role_needed' });
  assert.equal((await alice.call('answerLogin', answer)).user, 'alice');
  await assert.rejects(alice.call('answerLogin', answer), { code: 'login.not_found' });

  const { state, token, user } = await nobody.call('takeLogin', { body });
  assert.deepEqual([state, user], ['approved', 'alice']);
  const back = await world.client('alice', token ?? '');
  assert.equal((await back.call('whoami')).name, 'alice');
  assert.equal((await nobody.call('takeLogin', { body })).token, token, 'the answer was lost');
  const kept = { body: { ...body, kept: true } };
  const ends = () => [...world.head.engine.state.tokens.values()].map(({ expiresAt }) => expiresAt);
  const soon = Date.now() + 660_000;
  assert.ok(
    ends().some((at) => at !== null && at < soon),
    '[Y16] until it is kept it ends by itself',
  );
  assert.equal((await nobody.call('takeLogin', kept)).state, 'kept');
  assert.ok(ends().every((at) => at === null || at > soon));
  assert.equal((await back.call('whoami')).name, 'alice');
  assert.equal((await nobody.call('takeLogin', { body })).state, 'gone');
  const { tokens } = await back.call('listTokens', { query: {} });
  assert.ok(tokens.some(({ label }) => label === 'login ann@lab3'));
  const lines = JSON.stringify([...world.log.lines, ...world.audit.lines]);
  for (const secret of [token ?? '', asked.ticket]) assert.ok(!lines.includes(secret));
  assert.match(lines, /answerLogin|logins/);
});

test('[Y5] an admin gives a token of somebody else, or refuses', async (t) => {
  const world = await startWorld(t);
  const nobody = stranger(world);
  t.after(() => nobody.close());
  const first = await nobody.call('beginLogin', { body: { label: 'bob@lab1' } });
  const second = await nobody.call('beginLogin', { body: { label: 'eve@lab1' } });
  const yes = { approve: true, user: 'bob' };
  await world.admin.call('answerLogin', { params: { code: first.code }, body: yes });
  const no = { approve: false };
  await world.admin.call('answerLogin', { params: { code: second.code }, body: no });
  const take = ({ ticket }: { ticket: string }) => nobody.call('takeLogin', { body: { ticket } });
  assert.equal((await take(first)).user, 'bob');
  assert.deepEqual(await take(second), {
    state: 'refused',
    token: null,
    user: null,
    expiresAt: null,
  });
});

test('[Y5] a yes ends with the role of who gave it, and with its user', async (t) => {
  const world = await startWorld(t);
  const nobody = stranger(world);
  t.after(() => nobody.close());
  const set = (name: string, role: 'user' | 'admin') =>
    world.admin.call('createUser', { params: { name }, body: { role } });
  await set('carol', 'admin');
  await set('bob', 'user');
  const carol = await world.client('carol');
  const approved = async (user: string) => {
    const { code, ticket } = await nobody.call('beginLogin', { body: { label: 'x' } });
    await carol.call('answerLogin', { params: { code }, body: { approve: true, user } });
    return { body: { ticket } };
  };
  const [removed, unranked] = [await approved('bob'), await approved('dave')];
  await world.admin.call('removeUser', { params: { name: 'bob' } });
  await set('bob', 'user');
  assert.equal((await nobody.call('takeLogin', removed)).state, 'refused');
  const body = { role: 'user' } as const;
  await world.admin.call('modifyUser', { params: { name: 'carol' }, body });
  assert.equal((await nobody.call('takeLogin', unranked)).state, 'refused');
  assert.equal((await nobody.call('takeLogin', unranked)).state, 'gone');
  const { tokens } = await world.admin.call('listTokens', { query: { all: true } });
  assert.ok(!tokens.some(({ label }) => label === 'login x'));
});

test('[Y16] a token whose user is removed before it is kept is not brought back by that', async (t) => {
  const world = await startWorld(t);
  const nobody = stranger(world);
  t.after(() => nobody.close());
  await world.admin.call('createUser', { params: { name: 'bob' }, body: {} });
  const { code, ticket } = await nobody.call('beginLogin', { body: { label: 'x' } });
  const yes = { approve: true, user: 'bob' };
  await world.admin.call('answerLogin', { params: { code }, body: yes });
  const { token } = await nobody.call('takeLogin', { body: { ticket } });
  await world.admin.call('removeUser', { params: { name: 'bob' } });
  const kept = await nobody.call('takeLogin', { body: { ticket, kept: true } });
  assert.equal(kept.state, 'gone');
  const back = await world.client('bob', token ?? '');
  await assert.rejects(back.call('whoami'), { code: 'auth.token_invalid' });
});

test('[Y19] a token that stands on a node’s word is never more than a user’s, nor is what it makes', async (t) => {
  const world = await startWorld(t);
  const [name, id, secret] = ['bob' as UserName, 'abcdefgh', 'x'.repeat(43)];
  const through = 'n1' as NodeName;
  const by = { kind: 'user', name, uid: null, role: 'user', through } as const;
  const made = { purpose: 'user', user: name, label: '', expiresAt: null } as const;
  const wish = { kind: 'create_token', tokenId: id, hash: hashSecret(secret), ...made } as const;
  assert.ok((await world.head.engine.execute(wish, by)).ok);
  await world.admin.call('createUser', { params: { name }, body: { role: 'admin' } });
  const bob = await world.client('bob', formatToken('wt', id, secret));
  assert.equal((await bob.call('whoami')).role, 'user');
  const { token } = await bob.call('createToken', { body: {} });
  assert.equal((await (await world.client('bob', token)).call('whoami')).role, 'user');
  const own = await world.admin.call('createToken', { body: { user: 'bob' } });
  assert.equal((await (await world.client('bob', own.token)).call('whoami')).role, 'admin');
});

test('[Y18] in a cluster of one user no node can be trusted', async (t) => {
  const world = await startWorld(t, { multiUser: false });
  const trusting = world.admin.call('trustNode', { params: { name: 'n1' } });
  await assert.rejects(trusting, { code: 'auth.single_user' });
});
