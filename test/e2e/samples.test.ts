// What jobs and nodes use, on real processes: looks of a real agent, at its own pace of ten seconds.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { JobDetail } from '../../src/kernel/api/jobs.ts';
import type { ReplyOf } from '../../src/kernel/api/routes.ts';
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
    assert.ok(used.cpuMilli.mean > 100 && used.cpuMilli.mean <= 1100, JSON.stringify(used));
    const mib = used.memoryBytes.peak / 2 ** 20;
    assert.ok(mib > 100 && mib < 200, `${mib} MiB`);
    await cluster.ok('cancel', id);
    await cluster.ok('wait', id, '--timeout', '30s').catch(() => undefined);
    const words = await cluster.ok('job', id);
    assert.match(
      words,
      /Cpus used: +[▁▂▃▄▅▆▇█ ]+ {2}\d[\d.]* of 1 on average \(\d+%\), [\d.]+ at most/,
    );
    assert.match(words, /Memory used: +[▁▂▃▄▅▆▇█ ]+ {2}1\d\dM of 400M on average/);
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
