// Output that is not there is refused with the reason; an empty answer would look like silence.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { bucketOf } from '../../../../../src/kernel/head/logs/log-path.ts';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
import { startAgent, startWorld, TRUE } from './fixture.ts';

test('output that went to a file of the user is not here, and the file is named', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const directory = { kind: 'shared' as const, path: '/' };
  const files = { stdout: '/tmp/out-%j.txt' };
  const { jobId } = await world.admin.call('submitJob', { body: { ...TRUE, directory, files } });
  const reading = world.admin.stream('readLogs', { params: { id: String(jobId) } });
  await assert.rejects(reading, { code: 'log.elsewhere', message: /\/tmp\/out-/ });
});

test('of an array one task has to be named', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const array = { indices: '0-3' };
  const { jobId } = await world.admin.call('submitJob', { body: { ...TRUE, array, held: true } });
  const reading = world.admin.stream('readLogs', { params: { id: String(jobId) } });
  await assert.rejects(reading, { code: 'job.is_array', message: /as \d+\[0\]/ });
});

test('a run that there has not been is refused, whether none or fewer have', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body: { ...TRUE, held: true } });
  const params = { id: String(jobId) };
  const refused = async (query: { epoch: number; follow?: true }, message: RegExp) => {
    const reading = world.admin.stream('readLogs', { params, query });
    await assert.rejects(reading, { code: 'log.no_run', message });
  };
  await refused({ epoch: 1 }, /Task \d+ has no run 1: it has not been started/);
  await refused({ epoch: 2, follow: true }, /it has not been started/);
  await world.admin.call('releaseJob', { params });
  const order = await agent.launch();
  agent.started(order);
  agent.ended(order, 0);
  await world.admin.call('waitForJob', { params });
  await world.admin.stream('readLogs', { params, query: { epoch: 1 } });
  await refused({ epoch: 5 }, /Task \d+ has no run 5: the last one is 1/);
  await refused({ epoch: 5, follow: true }, /the last one is 1/);
});

test('[W9] output that was removed to make room is not shown as empty', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body: TRUE });
  const order = await agent.launch();
  agent.started(order);
  agent.ended(order, 0);
  const params = { id: String(jobId) };
  await world.admin.call('waitForJob', { params });
  const bucket = path.join(world.directory, 'logs', bucketOf(jobId as JobId));
  await mkdir(bucket, { recursive: true });
  await writeFile(path.join(bucket, 'removed'), String(jobId));
  for (const follow of [true, false]) {
    const reading = world.admin.stream('readLogs', { params, query: { follow } });
    await assert.rejects(reading, { code: 'log.removed' });
  }
});
