// `weft node list`: labels are those that somebody gave or the node has, not what the head derives
// for itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeHead } from './fake-head.ts';
import { nodeView } from './views.ts';

test('programs read numbers of nodes as csv: amounts, used amounts and instants', async () => {
  const total = { cpuCount: 8, memoryBytes: 4096, gpuCount: 0, counted: {} };
  const free = { ...total, cpuCount: 5, memoryBytes: 1024 };
  const load = { load1: 1.256, load5: 1, load15: 1 };
  const away = { state: 'unreachable', lastSeenAt: 1000 } as const;
  const nodes = [
    nodeView({ name: 'n1', total, free, load } as object),
    nodeView({ name: 'n2', total, free: total, ...away }),
  ];
  await using head = await FakeHead.start({ 'GET /v1/nodes': () => ({ json: { nodes } }) });
  const { out } = await head.weft('node', 'list', '-o', 'csv');
  const [titles = [], first = [], second = []] = out.split('\r\n').map((line) => line.split(','));
  const of = (row: readonly string[], title: string) => row[titles.indexOf(title)];
  const amounts = ['cpus', 'cpus_used', 'memory', 'memory_used', 'gpus', 'gpus_used', 'load'];
  assert.deepEqual(
    amounts.map((title) => of(first, title)),
    ['8', '3', '4096', '3072', '0', '0', '1.256'],
  );
  assert.ok(Math.abs(Date.parse(of(first, 'seen') ?? '') - Date.now()) < 60_000);
  assert.equal(of(second, 'seen'), '1970-01-01T00:00:01.000Z');
  assert.equal(of(second, 'load'), '');
  const table = (await head.weft('node', 'list', '-o', 'wide')).out;
  assert.match(table, /^n1 .* 3\/8 +3K\/4K +- +1\.26 +now /m);
});

test('gpus that nobody may be given are not shown as in use', async () => {
  const total = { cpuCount: 8, memoryBytes: 4096, gpuCount: 4, counted: {} };
  const free = { ...total, gpuCount: 1 };
  const nodes = [nodeView({ name: 'n1', total, free, gpusUnusable: 1 })];
  await using head = await FakeHead.start({ 'GET /v1/nodes': () => ({ json: { nodes } }) });
  const { out } = await head.weft('node', 'list', '-o', 'csv');
  const [titles = [], row = []] = out.split('\r\n').map((line) => line.split(','));
  assert.equal(row[titles.indexOf('gpus_used')], '2');
});

test('labels of shared directories and of builds that failed are not listed', async () => {
  const labels = ['build-failed=7', 'gpu', 'shared=/home'];
  await using head = await FakeHead.start({
    'GET /v1/nodes': () => ({ json: { nodes: [nodeView({ name: 'n1', labels })] } }),
  });
  const { out } = await head.weft('node', 'list');
  assert.match(out, / gpu *$/m);
  assert.doesNotMatch(out, /build-failed|shared=/);
});
