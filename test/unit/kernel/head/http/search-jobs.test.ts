// The search of jobs: of those in memory and in the history, a bounded number for one answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../../../../src/kernel/api/client.ts';
import { eventually, startAgent, startWorld, TRUE } from './fixture.ts';

async function found(client: Client, query: Record<string, string | number>) {
  const { jobs, next } = await client.call('listJobs', { query: { state: 'all', ...query } });
  return { ids: jobs.map(({ id }) => id), next };
}

async function submit(client: Client, count: number, name: string): Promise<number> {
  let first = 0;
  for (let left = count; left > 0; left -= 1000) {
    const jobs = Array.from({ length: Math.min(left, 1000) }, () => ({
      submission: { ...TRUE, held: true, name },
    }));
    const { results } = await client.call('submitJobs', { body: { jobs } });
    first ||= results[0]?.ok ? results[0].value.jobId : 0;
  }
  return first;
}

test('[D15] all words are looked for, in whatever case, in what everybody may see', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const program = { kind: 'argv' as const, argv: ['./Solve', '--Fall', 'Öl'] };
  const environment = { SECRET: 'hush-hush' };
  const { jobId } = await alice.call('submitJob', { body: { program, environment, name: 'mesh' } });
  const script = { kind: 'script' as const, text: '#!/bin/sh\n# hush-hush\n', args: [] };
  await alice.call('submitJob', { body: { program: script, held: true, name: 'other' } });
  agent.started(await agent.launch());
  const bob = await world.client('bob');
  await eventually(async () => (await found(bob, { search: 'running n1' })).ids.length === 1);
  for (const search of ['MESH', 'öl solve', 'alice mesh', String(jobId), '  fall  ']) {
    const { ids } = await found(bob, { search, state: 'active', name: 'mesh' });
    assert.deepEqual([search, ids], [search, [jobId]]);
  }
  assert.deepEqual((await found(bob, { search: 'hush-hush' })).ids, []);
  assert.deepEqual((await found(bob, { search: 'mesh nobody' })).ids, []);
  assert.deepEqual((await found(bob, { search: 'held other' })).ids.length, 1);
});

test('[D15] one answer looks at ten thousand jobs, and says where to go on', async (t) => {
  const world = await startWorld(t, { requestRateMax: 100_000 });
  await startAgent(t, world, 'n1');
  const wanted = await submit(world.admin, 1, 'needle');
  await submit(world.admin, 10_500, 'hay');
  const first = await found(world.admin, { search: 'needle' });
  assert.deepEqual(first.ids, []);
  assert.ok(first.next !== null && first.next < 600, `next ${first.next}`);
  const second = await found(world.admin, { search: 'needle', before: first.next });
  assert.deepEqual(second, { ids: [wanted], next: null });
  const hay = await found(world.admin, { search: 'hay', limit: 2 });
  assert.equal(hay.next, hay.ids.at(-1));
});

test('[D15] jobs that have left memory are found, once, beside those in memory', async (t) => {
  const world = await startWorld(t, { settings: { retainedJobsMax: 1 } });
  await startAgent(t, world, 'n1');
  const names = ['old-mesh', 'x', 'new-mesh', 'y'];
  for (const name of names) {
    const { jobId } = await world.admin.call('submitJob', { body: { ...TRUE, name, held: true } });
    await world.admin.call('cancelJob', { params: { id: String(jobId) } });
  }
  const { state } = world.head.engine;
  await eventually(() => !state.jobs.has(1 as never));
  const { jobId } = await world.admin.call('submitJob', {
    body: { ...TRUE, name: 'live-mesh', held: true },
  });
  assert.deepEqual(await found(world.admin, { search: 'mesh' }), {
    ids: [jobId, jobId - 2, 1],
    next: null,
  });
  assert.deepEqual(await found(world.admin, { search: 'mesh', limit: 2 }), {
    ids: [jobId, jobId - 2],
    next: jobId - 2,
  });
  assert.deepEqual((await found(world.admin, { search: 'mesh cancelled', before: 3 })).ids, [1]);
});

test('pages of what is meant have each job once, the newest first', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  for (const name of ['a', 'b', 'a', 'a', 'b', 'a']) await submit(world.admin, 1, name);
  const pages: number[][] = [];
  for (let before: number | null = null; ; ) {
    const query = { name: 'a', limit: 3 };
    const page = await found(world.admin, before === null ? query : { ...query, before });
    pages.push(page.ids);
    before = page.next;
    if (before === null) break;
  }
  assert.deepEqual(pages, [[6, 4, 3], [1]]);
});
