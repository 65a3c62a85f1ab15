// The search of captured output over the API: all of it, part by part, for whoever may read it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../../../../src/kernel/api/client.ts';
import { addFound, NOTHING_FOUND } from '../../../../../src/kernel/page/pure/found-lines.ts';
import { plainText } from '../../../../../src/kernel/page/pure/log-text.ts';
import { eventually, startAgent, startWorld, TRUE } from './fixture.ts';

async function findAll(client: Client, id: string, text: string, limit = 200) {
  let so = NOTHING_FOUND;
  let answers = 0;
  do {
    const query = { text, limit, offset: so.looked };
    so = addFound(so, await client.call('searchLogs', { params: { id }, query }));
    answers += 1;
  } while (!so.isEnd);
  return { lines: so.lines.map(plainText), answers, so };
}

test('[D15] a line of long output is found, also one that the page never loads', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const { jobId } = await alice.call('submitJob', { body: TRUE });
  const order = await agent.launch();
  agent.started(order);
  const filler = 'all is well\n'.repeat(40_000);
  const output = `first Needle\n${filler}second needle\n${filler}last nee`;
  const id = String(jobId);
  const piece = 60_000;
  for (let at = 0; at < output.length; at += piece)
    agent.output(order.epochId, output.slice(at, at + piece), { offset: at, end: false });
  const sizeNow = async () =>
    (await alice.call('searchLogs', { params: { id }, query: { text: 'zzz' } })).size;
  await eventually(async () => (await sizeNow()) === output.length);
  const found = await findAll(alice, id, 'NEEDLE');
  assert.deepEqual(found.lines, ['first Needle', 'second needle']);
  const one = await findAll(alice, id, 'needle', 1);
  assert.deepEqual([one.lines, one.answers], [found.lines, 3]);
  agent.output(order.epochId, 'dle\n', { offset: output.length, end: true });
  await eventually(async () => (await sizeNow()) === output.length + 4);
  const query = { text: 'needle', offset: found.so.looked };
  const more = addFound(found.so, await alice.call('searchLogs', { params: { id }, query }));
  assert.deepEqual(more.lines.map(plainText), ['first Needle', 'second needle', 'last needle']);
  const bob = await world.client('bob');
  const asked = bob.call('searchLogs', { params: { id }, query: { text: 'needle' } });
  await assert.rejects(asked, { kind: 'permission_denied' });
  const none = alice.call('searchLogs', { params: { id }, query: { text: '' } });
  await assert.rejects(none, { code: 'argument.invalid' });
});

test('[D15] what is searched is one output: of an array a task has to be named', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const body = { ...TRUE, array: { indices: '0-3' }, held: true };
  const { jobId } = await world.admin.call('submitJob', { body });
  const asked = { params: { id: String(jobId) }, query: { text: 'x' } };
  await assert.rejects(world.admin.call('searchLogs', asked), { code: 'job.is_array' });
  const nothing = { params: { id: `${jobId}[2]` }, query: { text: 'x' } };
  const { lines, isEnd, size } = await world.admin.call('searchLogs', nothing);
  assert.deepEqual({ lines, isEnd, size }, { lines: [], isEnd: true, size: 0 });
});
