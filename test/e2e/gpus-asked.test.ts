// Jobs that say which gpus they want, on real agents with pretended cards: by flags, in scripts, in
// batches, and as shares.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { GpuCluster, ONE, SHOW, THREE, TWO, WORKSTATION } from './support/gpu-cluster.ts';
import { until } from './support/hosts.ts';

interface Listed {
  readonly name: string;
  readonly request: { readonly perNode: { readonly gpuKind?: { readonly types: unknown } } };
}

describe('gpus of a type, of a size, and shares', () => {
  let cluster: GpuCluster;

  /** The uuids that a job finds which was asked for so. */
  const given = async (...options: readonly string[]): Promise<string> => {
    const out = await cluster.ok('run', '--follow', ...options, '--', SHOW);
    return /^WEFT_GPU_UUIDS=(.*)$/m.exec(out)?.[1] ?? out;
  };

  before(async () => {
    cluster = new GpuCluster();
    cluster.write(WORKSTATION);
    await cluster.up('--listen', 'none');
    await cluster.shows('free free free');
  });
  after(() => cluster.close());

  it('[V8] a job finds cards of the type and with the memory that it asks for', async () => {
    assert.equal(await given('--gpus', 'rtx3090:1'), TWO);
    assert.equal(await given('--gpus', '1', '--gpu-type', 'h100|a6000'), THREE);
    assert.equal(await given('--gpu-memory', '40G'), THREE);
    assert.equal(await given('--gpus', '2'), `${ONE},${TWO}`, 'the large one is left');
  });

  it('[V8] what the node does not have is refused, with what it has', async () => {
    const said = async (...options: readonly string[]) => {
      const { code, error } = await cluster.weft('run', ...options, '--', 'true');
      assert.equal(code, 2, error);
      return error;
    };
    assert.match(
      await said('--gpus', 'rtx4080:1'),
      /n1 has no rtx4080 \(its gpus: rtx4090 24G, rtx3090 24G, a6000 48G\)[\s\S]*Did you mean 'rtx4090'/,
    );
    assert.match(await said('--gpus', 'rtx3090:2'), /n1 has only 1 rtx3090/);
    assert.match(await said('--gpu-share', '64G'), /n1 has no gpu with 64G to share/);
    assert.match(await said('--gpus', '-1'), /not a number of gpus/);
    assert.match(
      await said('--gpus', '0', '--gpu-type', 'a6000'),
      /asks for 0 gpus and says which/,
    );
  });

  it('[V10] scripts and batches ask in the same words', async () => {
    const script = (name: string, line: string) => {
      writeFileSync(path.join(cluster.work, name), `#!/bin/sh\n${line}\n${SHOW}\n`, {
        mode: 0o755,
      });
      return name;
    };
    const out = async (name: string) => {
      const id = (await cluster.ok('submit', name)).trim();
      await cluster.ok('wait', id);
      return /^WEFT_GPU_UUIDS=(.*)$/m.exec(await cluster.ok('logs', id))?.[1];
    };
    assert.equal(await out(script('ours.sh', '#WEFT --gpus a6000:1')), THREE);
    writeFileSync(
      path.join(cluster.work, 'batch.yaml'),
      'namespace: ann\nname: one\njobs:\n  - {name: a, run: one.sh, cpus: 1, gpus: "rtx3090:1"}\n',
    );
    script('one.sh', '');
    await cluster.ok('batch', 'submit', 'batch.yaml');
    const { jobs } = (await cluster.client.call('GET', '/v1/jobs?state=all')) as {
      jobs: readonly Listed[];
    };
    const batch = jobs.find(({ name }) => name === 'one');
    assert.deepEqual(batch?.request.perNode.gpuKind?.types, ['rtx3090']);
  });

  it('[V9] two tasks share a card, know their share, and why says what a third one misses', async () => {
    const small = ['--cpus', '0', '--memory', '64M', '--gpus', 'a6000:1'];
    const share = [...small, '--gpu-share', '20G'];
    const wait = 'echo $$ > "pid-$WEFT_JOB_ID"; env > "env-$WEFT_JOB_ID"; exec sleep 600';
    const first = await cluster.ok('run', ...share, '--', wait);
    const second = await cluster.ok('run', ...share, '--', wait);
    for (const id of [first, second]) {
      const lines = await until('it runs', () => {
        const found = cluster.lines(`env-${id}`);
        return found.length > 0 ? found : undefined;
      });
      assert.ok(lines.includes(`WEFT_GPU_UUIDS=${THREE}`));
      assert.ok(lines.includes(`WEFT_GPU_SHARE_BYTES=${20 * 2 ** 30}`));
      assert.ok(lines.includes('CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=20480M'));
    }
    const third = await cluster.ok('run', ...share, '--', 'true');
    const whole = await cluster.ok('run', ...small, '--', 'true');
    assert.match(await cluster.ok('why', third), /n1 has only 0 shares of 20G of a6000 free/);
    const why = await cluster.ok('why', whole);
    assert.match(why, /n1 has only 0 a6000 free/);
    assert.match(why, /It would start now with gpus of any type/);
    const { tasks } = (await cluster.cards())[2] ?? {};
    assert.deepEqual(tasks, [`${first}#1`, `${second}#1`]);
    const pid = Number(cluster.lines(`pid-${second}`)[0]);
    const greedy = { card: THREE, pid, program: 'python', memory: 24_576 };
    cluster.write({ ...WORKSTATION, processes: [greedy] });
    const said = await until('[V28] it is told', async () => {
      const shown = await cluster.ok('node', 'show', 'n1');
      return /^Gpu 2: .*uses.*$/m.exec(shown)?.[0];
    });
    assert.match(said, new RegExp(`; ${second}#1 uses 24G of it, more than its share$`));
    assert.match(
      await cluster.ok('job', second),
      /uses 24G of gpu 2 of n1, more than its share of 20G/,
    );
    assert.doesNotMatch(await cluster.ok('job', first), /more than its share/);
    cluster.write(WORKSTATION);
    await until(
      'it is over',
      async () => (await cluster.cards())[2]?.over === undefined || undefined,
    );
    await cluster.ok('cancel', first);
    await cluster.ok('wait', third);
    await cluster.ok('cancel', second);
    await cluster.ok('wait', whole);
    assert.match(await cluster.ok('job', third), /20G of 1 a6000/);
  });

  it('[V17] gpu hours are told by type', async () => {
    const said = await cluster.ok('usage', '--by', 'gpu');
    assert.match(said, /^GPU .* GPU HOURS$/m);
    assert.match(said, /^a6000 /m);
    assert.match(said, /^rtx3090 /m);
  });
});

describe('gpus that are joined by NVLink', () => {
  let cluster: GpuCluster;

  before(async () => {
    cluster = new GpuCluster();
    const nvidia = [0, 1, 2, 3].map((index) => ({
      index,
      uuid: `GPU-aaaaaaaa-000${index}`,
      bus: `${index}1:00.0`,
      name: 'NVIDIA RTX A6000',
      memory: 49_140,
    }));
    const links = [
      [0, 3],
      [1, 2],
    ];
    cluster.write({ nvidia, links, processes: [] });
    await cluster.up('--listen', 'none');
    await cluster.shows('free free free free');
  });
  after(() => cluster.close());

  it('[V23] a job gets a pair, and the node says which are', async () => {
    assert.match(await cluster.ok('node', 'show', 'n1'), /^Gpu links: +0, 3; 1, 2$/m);
    const pair = async (): Promise<string> => {
      const out = await cluster.ok('run', '--follow', '--gpus', '2', '--', SHOW);
      return /^WEFT_GPUS=(.*)$/m.exec(out)?.[1] ?? out;
    };
    assert.equal(await pair(), '0,3');
    const one = await cluster.ok('run', '--gpus', '1', '--', 'exec sleep 600');
    await until('it runs', async () => (await cluster.states()).includes('given') || undefined);
    assert.equal(await pair(), '1,2', 'the pair that is whole');
    await cluster.ok('cancel', one);
  });

  it('[V24] a job that asks for joined ones waits for them, and is refused where there are none', async () => {
    const joined = ['--gpu-links', 'nvlink', '--', SHOW];
    const { code, error } = await cluster.weft('run', '--gpus', '3', ...joined);
    assert.equal(code, 2, error);
    assert.match(error, /n1 has only 2 gpus joined by NVLink/);
    const small = ['--cpus', '0', '--memory', '64M'];
    const hold = (gpus: string) =>
      cluster.ok('run', '--gpus', gpus, ...small, '--', 'exec sleep 600');
    const pair = await hold('2');
    const one = await hold('1');
    for (const id of [pair, one]) await cluster.reaches(id, 'running');
    const waiting = await cluster.ok('run', '--gpus', '2', ...small, ...joined);
    await until('why says it', async () => {
      const said = await cluster.ok('why', waiting);
      return /n1 has only 1 gpu joined by NVLink free/.test(said) || undefined;
    });
    await cluster.ok('cancel', one);
    await cluster.ok('wait', waiting);
    assert.match(await cluster.ok('logs', waiting), /^WEFT_GPUS=(0,3|1,2)$/m);
    assert.match(await cluster.ok('job', waiting), /2 gpus joined by NVLink/);
    await cluster.ok('cancel', pair);
  });
});
