// Settings that change while the head runs, and the groups of those who ask.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Accounts } from '../../../../../src/kernel/head/auth/accounts.ts';
import { plainPartition, plainScheduling } from '../../../../../src/kernel/model/scheduling.ts';
import { startAgent, startWorld } from './fixture.ts';

const TRUE = { program: { kind: 'argv' as const, argv: ['true'] } };

test('[P8] what waits is looked at anew when settings change, without any other event', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { engine } = world.head;
  const { settings } = engine;
  const closed = { ...plainPartition('default'), state: 'down' } as const;
  const scheduling = { ...plainScheduling('first_fit'), partitions: { default: closed } };
  world.head.change({ settings: { ...settings, scheduling }, heartbeatMs: 1000 });
  const alice = await world.client('alice');
  const { jobId } = await alice.call('submitJob', { body: TRUE });
  const why = await alice.call('explainJob', { params: { id: String(jobId) } });
  assert.match(why.words, /partition default is down/);
  assert.equal(agent.launches.length, 0);
  world.head.change({ settings, heartbeatMs: 1000 });
  await agent.launch();
  assert.equal(agent.socket.readyState, agent.socket.OPEN, 'nothing that agents are told changed');
});

test('[P8] agents dial again for a welcome when what it says has changed', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const closed = once(agent.socket, 'close');
  const settings = { ...world.head.engine.settings, killGraceMs: 77 };
  world.head.change({ settings, heartbeatMs: 500 });
  await closed;
  const [welcome] = (await startAgent(t, world, 'n2')).messages;
  assert.equal(welcome?.kind, 'welcome');
  assert.deepEqual(
    welcome?.kind === 'welcome' && [welcome.heartbeatMs, welcome.killGraceMs],
    [500, 77],
  );
});

test('a person is shown the groups of the account and those that an admin gave', async (t) => {
  const world = await startWorld(t);
  const { name, groups } = await world.admin.call('whoami');
  assert.deepEqual(groups, await new Accounts().groupsOf(name, 0));
  assert.ok(groups.length > 0);
  const params = { name: 'carol' };
  await world.admin.call('createUser', { params, body: { groups: ['chem'] } });
  const carol = await world.client('carol');
  assert.deepEqual((await carol.call('whoami')).groups, ['chem']);
  await world.admin.call('modifyUser', { params, body: { role: 'operator' } });
  const { users } = await world.admin.call('listUsers');
  const shown = users.find((user) => user.name === 'carol');
  assert.deepEqual([shown?.role, shown?.groups], ['operator', ['chem']]);
  assert.deepEqual(await new Accounts().groupsOf('no-such-account', 0), []);
});

test('an unknown partition and one that was not set are told as such', async (t) => {
  const world = await startWorld(t);
  const unknown = world.admin.call('getPartition', { params: { name: 'defualt' } });
  await assert.rejects(unknown, { code: 'partition.unknown' });
  const reset = world.admin.call('resetPartition', { params: { name: 'default' } });
  await assert.rejects(reset, { code: 'partition.not_changed' });
  const params = { name: 'default' };
  await world.admin.call('changePartition', { params, body: { policy: 'easy' } });
  const shown = await world.admin.call('getPartition', { params });
  assert.deepEqual(shown.override?.configured, { policy: 'first_fit' });
  assert.deepEqual([shown.policy, shown.override?.set], ['easy', { policy: 'easy' }]);
});
