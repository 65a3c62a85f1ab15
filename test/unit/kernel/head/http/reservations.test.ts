// Reservations over the API: made of few words, shown in full, changed in part.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAgent, startWorld, TRUE } from './fixture.ts';

const HOUR = 3_600_000;

test('[R5, R9] a reservation is made, shown, changed in part and cancelled', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const at = world.head.engine.now() + HOUR;
  const body = { name: 'lab', users: ['alice'], at, durationMs: HOUR, share: 'whole' as const };
  const { unknownUsers: _, ...made } = await world.admin.call('createReservation', { body });
  assert.equal(made.state, 'coming');
  assert.deepEqual(made.slots, [{ from: at, until: at + HOUR, nodes: ['n1'], share: 'whole' }]);
  const alice = await world.client('alice');
  const inside = { ...TRUE, reservation: 'lab', walltimeMs: HOUR };
  const { jobId } = await alice.call('submitJob', { body: inside });
  const { words } = (await alice.call('explainJob', { params: { id: String(jobId) } })) as {
    words: string;
  };
  assert.match(words, /reservation lab starts in /);
  const params = { name: 'lab' };
  await assert.rejects(alice.call('changeReservation', { params, body: { name: 'mine' } }), {
    code: 'auth.role_needed',
  });
  const users = { users: ['alice', 'bob'] };
  const reply = await world.admin.call('changeReservation', { params, body: users });
  const { unknownUsers: __, ...changed } = reply;
  assert.deepEqual(changed, { ...made, ...users, waitingTasks: 1 });
  const later = await world.admin.call('changeReservation', {
    params,
    body: { at: at + HOUR, durationMs: 2 * HOUR },
  });
  assert.deepEqual([later.slots[0]?.from, later.durationMs], [at + HOUR, 2 * HOUR]);
  assert.equal((await alice.call('listReservations')).reservations.length, 1);
  await world.admin.call('cancelReservation', { params });
  await assert.rejects(alice.call('getReservation', { params }), { code: 'reservation.not_found' });
});

test('[R8] occurrences are placed ahead, and again when one is over', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const recurrence = { cron: '0 3 * * *', zone: 'Europe/Berlin' };
  const body = { name: 'daily', durationMs: HOUR, recurrence };
  const { slots } = await world.admin.call('createReservation', { body });
  assert.equal(slots.length, 7);
  const bad = { ...body, recurrence: { ...recurrence, zone: 'Mars/Base' } };
  await assert.rejects(world.admin.call('createReservation', { body: bad }), {
    code: 'argument.invalid',
  });
});

test('[R9] where the site lets them, users reserve for themselves', async (t) => {
  const body = { durationMs: HOUR };
  const strict = await startWorld(t);
  await startAgent(t, strict, 'n1');
  const refused = (await strict.client('alice')).call('createReservation', { body });
  await assert.rejects(refused, { code: 'auth.role_needed' });
  const open = await startWorld(t, { settings: { usersMayReserve: true } });
  await startAgent(t, open, 'n1');
  const made = await (await open.client('alice')).call('createReservation', { body });
  assert.deepEqual([made.users, made.state], [['alice'], 'active']);
});

test('[R9] users whom nobody knows are named, once a reservation is made or changed for them', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  await world.client('weft-test-tokened');
  await world.admin.call('createUser', {
    params: { name: 'weft-test-noted' },
    body: { role: 'user' },
  });
  const known = ['weft-test-tokened', 'weft-test-noted', 'root'];
  const body = { name: 'lab', users: [...known, 'weft-test-none'], durationMs: HOUR };
  const made = await world.admin.call('createReservation', { body });
  assert.deepEqual(made.unknownUsers, ['weft-test-none']);
  const change = (users: string[]) =>
    world.admin.call('changeReservation', { params: { name: 'lab' }, body: { users } });
  assert.deepEqual((await change(['weft-test-nil'])).unknownUsers, ['weft-test-nil']);
  assert.equal('unknownUsers' in (await change(known)), false);
});

test('[R9] groups that nobody is in and the machine does not have are named, too', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  await world.admin.call('createUser', {
    params: { name: 'weft-test-noted' },
    body: { role: 'user', groups: ['weft-test-lab'] },
  });
  const groups = ['root', 'weft-test-lab', 'weft-test-none'];
  const body = { name: 'lab', groups, durationMs: HOUR };
  const made = await world.admin.call('createReservation', { body });
  assert.deepEqual([made.unknownGroups, 'unknownUsers' in made], [['weft-test-none'], false]);
  const changed = await world.admin.call('changeReservation', {
    params: { name: 'lab' },
    body: { groups: groups.slice(0, 2) },
  });
  assert.equal('unknownGroups' in changed, false);
});
