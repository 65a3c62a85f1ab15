// What the listeners of sites, pilots and external schedulers refuse, by its code.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainPartition, plainScheduling } from '../../../../../../src/kernel/model/scheduling.ts';
import { startFleet } from '../../../../../../src/wings/pilots/head/part.ts';
import { eventually, startAgent, startWorld, TRUE } from '../../../../kernel/head/http/fixture.ts';

const code = (wanted: string) => (error: { code?: string }) => error.code === wanted;

test('a site that no gateway speaks for is not found', async (t) => {
  const world = await startWorld(t);
  const asked = world.admin.call('getSite', { params: { name: 'n1' } });
  await assert.rejects(asked, code('site.not_found'));
});

test('a start that must wait is refused with the reason', async (t) => {
  const plain = plainScheduling('first_fit');
  const theirs = plainPartition('theirs', 'external');
  const scheduling = { ...plain, partitions: { ...plain.partitions, theirs } };
  const world = await startWorld(t, { settings: { scheduling } });
  await startAgent(t, world, 'n1');
  const body = { ...TRUE, partition: 'theirs', held: true };
  const { jobId } = await world.admin.call('submitJob', { body });
  const start = { params: { id: String(jobId) }, body: { nodes: ['n1'] } };
  await assert.rejects(world.admin.call('startJob', start), code('start.refused'));
});

const FLEET = { system: 'slurm', name: 'f', max: 1, isOnce: true, directory: '/w' } as const;

test('what the batch system refuses at the first submission leaves no fleet', async (t) => {
  const world = await startWorld(t);
  const { engine } = world.head;
  const started = world.admin.call('startFleet', { body: FLEET });
  const refused = assert.rejects(started, (error: { code?: string; message?: string }) => {
    assert.match(error.message ?? '', /invalid partition/);
    return error.code === 'pilot.refused';
  });
  await eventually(() => engine.state.fleets.has('f'));
  const [launch = 0] = engine.state.fleets.get('f')?.launches.keys() ?? [];
  const said = { kind: 'refused', why: 'invalid partition' } as const;
  await engine.execute({ kind: 'note_launch', fleet: 'f', launch, said }, { kind: 'system' });
  await refused;
  await eventually(() => !engine.state.fleets.has('f'));
});

test('pilots cannot come to a head that no other machine reaches', async () => {
  const unreachable = { facts: { fingerprint: null, addresses: [] } };
  const reply = await startFleet(unreachable as never, { body: FLEET } as never);
  assert.deepEqual([reply.ok, reply.ok ? '' : reply.error.code], [false, 'pilot.no_address']);
});

test('a pilot whose node has come and cannot be heard is away, not starting', async (t) => {
  const world = await startWorld(t);
  const { engine } = world.head;
  const started = world.admin.call('startFleet', { body: FLEET });
  await eventually(() => engine.state.fleets.has('f'));
  const [launch = 0] = engine.state.fleets.get('f')?.launches.keys() ?? [];
  const by = { kind: 'system' } as const;
  const said = { kind: 'submitted', site: '7' } as const;
  await engine.execute({ kind: 'note_launch', fleet: 'f', launch, said }, by);
  const [{ node = '' } = {}] = (await started).pilots;
  const seen = [{ index: 1, state: 'running', endsAt: null }] as const;
  await engine.execute({ kind: 'observe_pilots', fleet: 'f', launch, seen }, by);
  const state = async () => (await world.admin.call('listFleets')).fleets[0]?.pilots[0]?.state;
  assert.equal(await state(), 'starting');
  const agent = await startAgent(t, world, node);
  await eventually(async () => (await state()) === 'up');
  agent.socket.terminate();
  await eventually(async () => (await state()) === 'away');
});
