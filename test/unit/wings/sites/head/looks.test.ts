// Looks of one gateway on an engine whose commits wait: part by part, and one look after the other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeName } from '../../../../../src/kernel/model/ids.ts';
import type { ListedJob } from '../../../../../src/kernel/model/site.ts';
import { Looks } from '../../../../../src/wings/sites/head/looks.ts';
import { EngineBench } from '../../../../support/engine.ts';
import { PLAIN_SITE_JOB } from '../../../../support/plain.ts';

const HPC = 'hpc' as NodeName;

function siteJob(id: string): [string, ListedJob] {
  const plain = { ...PLAIN_SITE_JOB, id, name: 'theirs', owner: 'eve', word: 'PENDING' };
  return [id, { ...plain, submittedAt: 1, walltimeMs: 60_000, isOurs: false }];
}

async function started() {
  const bench = await new EngineBench().start();
  await bench.connect('hpc', { cpus: 0 });
  bench.take();
  const said: string[] = [];
  const looks = new Looks({
    partMax: 2,
    soon: (then) => bench.clock.soon(then),
    onPart: ({ jobs }) => said.push(`part ${jobs.map(({ id }) => id).join(' ')}`),
    onWhole: ({ jobs }) => said.push(`whole ${[...jobs.keys()].join(' ')}`),
  });
  const hear = (...ids: string[]): void => {
    const session = bench.engine.state.nodes.get(HPC)?.session ?? 0;
    const jobs = new Map(ids.map(siteJob));
    looks.hear(bench.engine, { node: HPC, session, mode: 'steer', nodes: [], jobs });
  };
  const known = () => [...bench.engine.state.jobs.values()].map(({ spec }) => spec.foreign?.job);
  return { bench, said, hear, known };
}

test('[G26] each part is a turn of its own, and what others ask comes in between', async () => {
  const { bench, said, hear, known } = await started();
  hear('1', '2', '3', '4', '5');
  assert.deepEqual(known(), [], 'reading it was a turn already');
  bench.clock.endTurn();
  assert.deepEqual(known(), ['1', '2']);
  bench.command('drain', { kind: 'drain_node', node: HPC, reason: 'x' });
  bench.clock.endTurn();
  assert.deepEqual([known(), said], [['1', '2'], []]);
  await bench.letGo();
  assert.deepEqual(bench.take(), ['drain: done'], 'answered before the look is decided');
  assert.deepEqual(known(), ['1', '2', '3', '4']);
  await bench.settle();
  assert.deepEqual(said, ['part 1 2', 'part 3 4', 'part 5', 'whole 1 2 3 4 5']);
});

test('[G26] of looks that come while one is decided only the newest follows', async () => {
  const { bench, said, hear } = await started();
  hear('1', '2', '3');
  bench.clock.endTurn();
  hear('1', '9');
  hear('1');
  await bench.settle();
  assert.deepEqual(said, ['part 1 2', 'part 3', 'whole 1 2 3', 'part 1', 'whole 1']);
});

test('[G26] after a look that could not be written down the next one is decided', async () => {
  const { bench, said, hear, known } = await started();
  hear('1', '2', '3');
  bench.breakDisk();
  await bench.settle();
  assert.deepEqual([known(), said], [[], []]);
  bench.disk.failure = null;
  await bench.crash();
  hear('1', '2', '3');
  await bench.settle();
  assert.deepEqual(said, ['part 1 2', 'part 3', 'whole 1 2 3']);
  assert.deepEqual(known(), ['1', '2', '3']);
});

test('[G26] parts that say nothing new do not wait for a commit each', async () => {
  const { bench, said, hear } = await started();
  hear('1', '2', '3', '4', '5');
  await bench.settle();
  said.length = 0;
  const { seq } = bench.engine;
  bench.command('drain', { kind: 'drain_node', node: HPC, reason: 'x' });
  bench.clock.endTurn();
  hear('1', '2', '3', '4', '5');
  for (let turn = 0; turn < 4; turn += 1) bench.clock.endTurn();
  assert.deepEqual(said, [], 'nobody is told of what may not be durable');
  await bench.letGo();
  bench.clock.endTurn();
  assert.deepEqual(said, ['part 1 2', 'part 3 4', 'part 5', 'whole 1 2 3 4 5']);
  assert.deepEqual([bench.engine.seq - seq, bench.writes], [1, 0], 'only what was asked for');
});

test('[G26] a look whose parts are on their way when the disk fails ends once', async () => {
  const { bench, said, hear } = await started();
  hear('1', '2', '3', '4', '5');
  await bench.settle();
  said.length = 0;
  bench.breakDisk();
  bench.command('drain', { kind: 'drain_node', node: HPC, reason: 'x' });
  bench.clock.endTurn();
  hear('1', '2', '3', '4', '5');
  for (let turn = 0; turn < 2; turn += 1) bench.clock.endTurn();
  await bench.settle();
  assert.deepEqual(said, []);
  bench.disk.failure = null;
  await bench.crash();
  hear('1');
  await bench.settle();
  assert.deepEqual(said, ['part 1', 'whole 1']);
});
