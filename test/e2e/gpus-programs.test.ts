// Programs on the gpus of several nodes: the example examples/torch on two nodes with two pretended
// cards each, and again from its checkpoint.

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { GpuCluster, WORKSTATION } from './support/gpu-cluster.ts';
import { until } from './support/hosts.ts';

const EXAMPLE = path.join(import.meta.dirname, '..', '..', 'examples', 'torch');
const CARDS = [0, 1, 2, 3].map((index) => ({
  index,
  uuid: `GPU-0000000${index}-1111-2222-3333-444444444444`,
  bus: `0${index + 1}:00.0`,
  name: 'NVIDIA A100-SXM4-80GB',
  memory: 81_920,
}));

describe('a training run over the gpus of two nodes', () => {
  let cluster: GpuCluster;

  before(async () => {
    cluster = new GpuCluster();
    cluster.write({ ...WORKSTATION, nvidia: CARDS, processes: [] });
    await cluster.up('--listen', 'none', '--nodes', '2');
    for (const name of ['n1', 'n2']) await cluster.shows('free free', name);
    cpSync(EXAMPLE, cluster.work, { recursive: true });
  });
  after(() => cluster.close());

  it('[V19] each process finds its rank and a card of its own, and all of them agree', async () => {
    const id = await cluster.ok('submit', 'job.sh', '60');
    await cluster.ok('wait', id);
    const said = await cluster.ok('logs', id);
    const ranks = [...said.matchAll(/rank (\d) of 4 on (GPU-\S+) begins at step 0/g)];
    assert.deepEqual(ranks.map(([, rank]) => rank).sort(), ['0', '1', '2', '3']);
    const cards = ranks.map(([, , uuid]) => uuid).sort();
    assert.deepEqual(
      cards,
      CARDS.map(({ uuid }) => uuid),
    );
    assert.match(said, /slope 2\.9\d+ offset 1\.0\d+ after 60 steps/);
  });

  it('[V9] points of a sweep share the cards of both nodes, never more of them than fit', async () => {
    const line = 'echo "+ $WEFT_GPU_UUIDS" >> uses; sleep 0.2; echo "- $WEFT_GPU_UUIDS" >> uses';
    const small = ['--cpus', '0', '--memory', '32M', '--gpu-share', '40G'];
    const axes = ['--sweep', 'lr=0.1,0.2,0.3', 'seed=0:3'];
    const id = await cluster.ok('run', ...small, ...axes, `: {lr} {seed}; ${line}`);
    await cluster.ok('wait', id);
    const uses = cluster.lines('uses').map((said) => said.split(' '));
    const used = new Map<string, number>();
    for (const [sign, uuid = ''] of uses) {
      used.set(uuid, (used.get(uuid) ?? 0) + (sign === '+' ? 1 : -1));
      assert.ok((used.get(uuid) ?? 0) <= 2, `three tasks of 40G on one card of 80G: ${uuid}`);
    }
    assert.ok(uses.length >= 18 && [...used.values()].every((count) => count === 0), `${uses}`);
  });

  it('[V19] torchrun is told on each node what it needs, with one word', async () => {
    const tool = path.join(cluster.directory, 'bin', 'torchrun');
    mkdirSync(path.dirname(tool));
    writeFileSync(tool, '#!/bin/sh\necho "torchrun of $WEFT_GPUS: $*"\n', { mode: 0o755 });
    const PATH = `${path.dirname(tool)}:${process.env['PATH']}`;
    const options = ['--follow', '--nodes', '2', '--gpus', '2', '--env', `PATH=${PATH}`];
    const said = await cluster.ok('run', ...options, '--torchrun', '--', 'train.py', '--lr', 'a b');
    const lines = [...said.matchAll(/^(?:\S+ )?torchrun of (\S+): (.*)$/gm)];
    assert.equal(lines.length, 2, said);
    const shown =
      /^--nnodes 2 --node-rank ([01]) --nproc-per-node 2 --master-addr 127\.0\.0\.1 --master-port (2\d{4}|3[01]\d{3}) train\.py --lr a b$/;
    const found = lines.map(([, , words = '']) => shown.exec(words) ?? [words]);
    assert.deepEqual(found.map(([, rank]) => rank).sort(), ['0', '1'], said);
    assert.equal(new Set(found.map(([, , port]) => port)).size, 1, 'one port');
    const { jobs } = (await cluster.client.call('GET', '/v1/jobs?state=all')) as {
      jobs: readonly { readonly name: string }[];
    };
    assert.ok(jobs.some(({ name }) => name === 'train.py'));
    const more = await cluster.weft('run', '--torchrun', '--procs', '2', 'train.py');
    assert.equal(more.code, 2, more.error);
    assert.equal((await cluster.weft('run', '--torchrun', '--', '--help')).code, 2);
  });

  it('[V19] ranks of their own find each other without a launcher', async () => {
    const line = 'echo "rank $RANK of $WORLD_SIZE, here $LOCAL_RANK: $MASTER_ADDR $MASTER_PORT"';
    const options = ['--follow', '--nodes', '2', '--gpus', '2', '--procs', '2', '--cpus', '0'];
    const said = await cluster.ok('run', ...options, line);
    const shown = /rank (\d) of 4, here (\d): 127\.0\.0\.1 (\d{5})$/gm;
    const found = [...said.matchAll(shown)].map(([, ...words]) => words);
    const ranks = found.map(([rank, local]) => `${rank} ${local}`).sort();
    assert.deepEqual(ranks, ['0 0', '1 1', '2 0', '3 1'], said);
    assert.equal(new Set(found.map(([, , port]) => port)).size, 1, said);
  });

  it('[V19] one that is requeued goes on from its checkpoint', async () => {
    const checkpoint = path.join(cluster.work, 'checkpoint.json');
    const stepNow = (): number =>
      existsSync(checkpoint) ? (JSON.parse(readFileSync(checkpoint, 'utf8')).step as number) : 0;
    const options = ['--env', 'TRAIN_PAUSE_S=0.05'];
    const id = await cluster.ok('submit', ...options, 'job.sh', '160');
    await until('some steps are done', async () => stepNow() >= 80 || undefined);
    // Not by the program: by the time that one has started, all steps may be done.
    await cluster.client.call('POST', `/v1/jobs/${id}/requeue`);
    await cluster.ok('wait', id);
    const said = await cluster.ok('logs', id);
    const [, begun = '0'] =
      /rank 0 of 4 on \S+ begins at step (\d+)\n(?![\s\S]*rank 0)/.exec(said) ?? [];
    assert.ok(Number(begun) >= 80, said);
    assert.match(said, /slope \d\.\d+ offset \d\.\d+ after 160 steps/);
  });
});
