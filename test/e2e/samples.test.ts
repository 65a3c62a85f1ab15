// What jobs and nodes use, on real processes: looks of a real agent, at its own pace of ten
// seconds.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { JobDetail } from '../../src/kernel/api/jobs.ts';
import type { ReplyOf } from '../../src/kernel/api/routes.ts';
import { GpuCluster, WORKSTATION } from './support/gpu-cluster.ts';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

type Samples = ReplyOf<'nodeSamples'>;

/** A cpu busy for half of the time, and a hundred MiB of memory. */
const HALF_BUSY = [
  'import time',
  'held = bytearray(100 * 2 ** 20)',
  'for at in range(0, len(held), 4096): held[at] = 1',
  'while True:',
  '    begun = time.process_time()',
  '    while time.process_time() - begun < 0.05: pass',
  '    time.sleep(0.05)',
].join('\n');

describe('samples of a node and its tasks', () => {
  let cluster: LocalCluster;

  before(async () => {
    cluster = new LocalCluster();
    await cluster.up('--listen', 'none');
  });
  after(() => cluster.close());

  it('[V13] weft job shows what a job uses, in numbers and as a line of time, also when it is over', async () => {
    const asked = ['--cpus', '1', '--memory', '400M'];
    const id = await cluster.ok('run', ...asked, '--', `exec python3 -c '${HALF_BUSY}'`);
    const used = await until('three looks', async () => {
      const { used: found } = await cluster.client.call<JobDetail>('GET', `/v1/jobs/${id}`);
      return (found?.cpuMilli.curve.length ?? 0) >= 3 ? found : undefined;
    });
    assert.ok(used !== null);
    assert.ok(used.cpuMilli.mean > 10 && used.cpuMilli.mean <= 1100, JSON.stringify(used));
    const mib = used.memoryBytes.peak / 2 ** 20;
    assert.ok(mib > 100 && mib < 200, `${mib} MiB`);
    await cluster.ok('cancel', id);
    await cluster.ok('wait', id, '--timeout', '30s').catch(() => undefined);
    const words = await cluster.ok('job', id);
    assert.match(
      words,
      /Cpus used: +[▁▂▃▄▅▆▇█ ]+ {2}\d[\d.]* of 1 on average \(\d+%\), [\d.]+ at most/,
    );
    assert.match(words, /Memory used: +[▁▂▃▄▅▆▇█ ]+ {2}\d+M of 400M on average/);
  });

  it('[V12] a node has a curve, figures, and what its users used, which outlive the head', async () => {
    const from = Date.now() - 600_000;
    const seen = async () => {
      const answer = await cluster.client.call<Samples>('GET', `/v1/nodes/n1/samples?from=${from}`);
      const known = (points: readonly (number | null)[]) =>
        points.filter((point) => point !== null).length;
      return {
        stepMs: answer.stepMs,
        cpus: known(answer.cpu.mean),
        memory: known(answer.memory.mean),
      };
    };
    const before = await seen();
    assert.ok(before.stepMs === 10_000 && before.cpus >= 3 && before.memory === before.cpus);
    await cluster.ok('down');
    assert.ok(existsSync(path.join(cluster.state, 'head', 'samples', 'samples.db')));
    await cluster.up('--listen', 'none');
    assert.ok((await seen()).cpus >= before.cpus);
    assert.match(
      await cluster.ok('efficiency'),
      /USER +STARTS +CPU HOURS[\s\S]*\n\S+ +1 +0\.0\d+ +\d+%/,
    );
  });
});

describe('samples of gpus', () => {
  let cluster: GpuCluster;
  /** All cards work for so much of the time. */
  const work = (busy: number): void => {
    const nvidia = WORKSTATION.nvidia.map((card) => ({ ...card, busy, used: 1000 }));
    cluster.write({ ...WORKSTATION, nvidia, processes: [] });
  };

  before(async () => {
    cluster = new GpuCluster();
    work(40);
    mkdirSync(cluster.state, { recursive: true });
    const rules = [
      'gpu_idle: {default: {for: 10s, end_after: 30s}, night: {for: 10s, hold_after: 30s}}',
      'partitions: {night: {}}',
      '',
    ];
    writeFileSync(path.join(cluster.state, 'weft.yaml'), rules.join('\n'));
    await cluster.up('--listen', 'none');
    await cluster.shows('free free free');
  });
  after(() => cluster.close());

  it('[V13] weft job shows how much of its gpus a job uses, and a node has a curve of each', async () => {
    const id = await cluster.ok('run', '--gpus', 'rtx3090:1', '--', 'exec sleep 600');
    const used = await until('a look', async () => {
      const { used: found } = await cluster.client.call<JobDetail>('GET', `/v1/jobs/${id}`);
      return found?.gpuMilli == null ? undefined : found.gpuMilli;
    });
    assert.deepEqual([used.asked, used.mean, used.peak], [1000, 400, 400]);
    assert.match(
      await cluster.ok('job', id),
      /Gpus used: +0\.4 of 1 on average \(40%\), 0\.4 at most/,
    );
    const { gpus } = await cluster.client.call<Samples>('GET', '/v1/nodes/n1/samples');
    assert.deepEqual(
      gpus.map(({ number, busyPercent }) => [number, busyPercent.mean.filter(Boolean).at(-1)]),
      [
        [0, 40],
        [1, 40],
        [2, 40],
      ],
    );
    const { nodes } = await cluster.client.call<ReplyOf<'gpuMap'>>('GET', '/v1/samples/gpus');
    const cards = nodes[0]?.cards ?? [];
    assert.deepEqual(
      cards.map(({ percents }) => percents.filter((point) => point !== null).at(-1)),
      [40, 40, 40],
    );
    const holder = cards.find(({ type }) => type === 'rtx3090');
    assert.deepEqual([holder?.state, holder?.tasks], ['given', [`${id}#1`]]);
    assert.equal(holder?.users.length, 1);
    await cluster.ok('cancel', id);
  });

  it('[V18] a job whose gpu is idle is named, and ended or held where its partition says so', async () => {
    work(0);
    const id = await cluster.ok('run', '--gpus', 'rtx3090:1', '--', 'exec sleep 600');
    const night = ['--partition', 'night', '--gpus', 'a6000:1'];
    const held = await cluster.ok('run', ...night, '--', 'exec sleep 600');
    await until('it is said', async () => {
      const said = await cluster.ok('job', id);
      return /Its gpu has been idle for \d+s.*is ended after 30s/s.test(said) || undefined;
    });
    const { code } = await cluster.weft('wait', id);
    assert.notEqual(code, 0);
    assert.match(
      await cluster.ok('job', id),
      /its gpu was idle for \d[^;]*; gpu_idle of partition default ends such tasks/,
    );
    const words =
      /its gpu was idle for \d\w*, and gpu_idle of partition night holds such tasks; `weft release/;
    await until('the other one is held', async () => {
      return words.test(await cluster.ok('why', held)) || undefined;
    });
    work(40);
    await cluster.ok('release', held);
    await until('it runs again', async () => {
      const { state } = await cluster.client.call<JobDetail>('GET', `/v1/jobs/${held}`);
      return state === 'running' || undefined;
    });
    await cluster.ok('cancel', held);
  });
});
