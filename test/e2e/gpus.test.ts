// A node with gpus, by stand-ins for the tools of their drivers: real agents and real jobs. What
// the tools say is changed meanwhile, as on a workstation where others work, too.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { userInfo } from 'node:os';
import { after, before, describe, it } from 'node:test';
import type { CardView } from '../../src/kernel/api/nodes.ts';
import type { FakeCard, FakeWorld } from '../support/gpu/world.ts';
import { GpuCluster, ONE, SHOW, THREE, TWO, WORKSTATION } from './support/gpu-cluster.ts';
import { until } from './support/hosts.ts';

const ME = userInfo().username;

describe('gpus of a workstation', () => {
  let cluster: GpuCluster;
  const strangers: ChildProcess[] = [];

  /** A program of somebody who has not asked, and says that it is of a task. */
  const stranger = (): number => {
    const child = spawn('sleep', ['600'], {
      stdio: 'ignore',
      env: { ...process.env, WEFT_LAUNCH: 'x:1' },
    });
    strangers.push(child);
    return child.pid ?? 0;
  };
  const used = (card: string, pid: number, memory = 21_000): FakeWorld => ({
    ...WORKSTATION,
    processes: [{ card, pid, program: '/usr/bin/python3 train.py --token x', memory }],
  });

  before(async () => {
    cluster = new GpuCluster();
    cluster.write(WORKSTATION);
    await cluster.up('--listen', 'none');
    await cluster.shows('free free free');
  });
  after(async () => {
    for (const child of strangers) child.kill('SIGKILL');
    await cluster.close();
  });

  it('[V1] a node tells of its cards, and people see type, memory and uuid', async () => {
    const { total, gpus } = await cluster.node();
    assert.equal(total.gpuCount, 3);
    assert.deepEqual(
      gpus?.cards.map(({ label, type, uuid }) => [label, type, uuid]),
      [
        ['0', 'rtx4090', ONE],
        ['1', 'rtx3090', TWO],
        ['2', 'a6000', THREE],
      ],
    );
    assert.match(await cluster.ok('node', 'show', 'n1'), /Gpu 1: +rtx3090 24G GPU-bbbbbbbb: free/);
    const later = await cluster.weft('gpus', '--at', '2999-01-01');
    assert.match(later.error, /--at: '2999-01-01' is in the future/);
  });

  it('[V4] a task finds its own cards by uuid, and one without any finds none', async () => {
    assert.deepEqual((await cluster.ok('run', '--follow', '--gpus', '2', '--', SHOW)).split('\n'), [
      'CUDA_DEVICE_ORDER=PCI_BUS_ID',
      `CUDA_VISIBLE_DEVICES=${ONE},${TWO}`,
      `NVIDIA_VISIBLE_DEVICES=${ONE},${TWO}`,
      'WEFT_GPUS=0,1',
      `WEFT_GPU_UUIDS=${ONE},${TWO}`,
    ]);
    const none = await cluster.ok('run', '--follow', '--', SHOW);
    assert.match(none, /^CUDA_VISIBLE_DEVICES=$/m);
    assert.match(none, /^NVIDIA_VISIBLE_DEVICES=void$/m);
  });

  it('[V2] a card that somebody uses is given to nobody, why says to whom it is, until it is free', async () => {
    const pid = stranger();
    cluster.write(used(TWO, pid));
    await cluster.shows('free used_outside free');
    const { users } = (await cluster.cards())[1] as CardView;
    assert.deepEqual(
      users.map((one) => [one.pid, one.user, one.program, one.memoryBytes]),
      [[pid, ME, 'python3 train.py', 21_000 * 2 ** 20]],
    );
    const job = await cluster.ok('run', '--gpus', '3', '--', SHOW);
    const words = `gpu 1 is used outside Weft by ${ME} \\(python3 train.py, \\d+G, since `;
    await until('why tells it', async () => {
      return new RegExp(words).test(await cluster.ok('why', job)) || undefined;
    });
    assert.match(await cluster.ok('node', 'list'), /gpu 1 used outside Weft by/);
    const others = await cluster.ok('run', '--follow', '--gpus', '2', '--', SHOW);
    assert.match(others, new RegExp(`^CUDA_VISIBLE_DEVICES=${ONE},${THREE}$`, 'm'));
    cluster.write(WORKSTATION);
    await until(
      'the job has it',
      async () => (await cluster.job(job)).state === 'done' || undefined,
    );
  });

  it('[V29] whoever owns the machine keeps a card of it for a while, and gives it back', async () => {
    const said = await cluster.ok('pause', '--gpu', '1', '1h');
    assert.match(said, /^Gpu 1 of n1 is kept until .*; no task has it\.$/m);
    await cluster.shows('free kept free');
    assert.match(
      await cluster.ok('node', 'show', 'n1'),
      new RegExp(`Gpu 1: .*kept for ${ME} until`),
    );
    const others = await cluster.ok('run', '--follow', '--gpus', '2', '--', SHOW);
    assert.match(others, new RegExp(`^CUDA_VISIBLE_DEVICES=${ONE},${THREE}$`, 'm'));
    const job = await cluster.ok('run', '--gpus', '3', '--', SHOW);
    await until('why tells it', async () => {
      return /gpu 1 is kept for /.test(await cluster.ok('why', job)) || undefined;
    });
    await cluster.ok('down');
    await cluster.up('--listen', 'none');
    await cluster.shows('free kept free');
    const none = await cluster.weft('pause', '--gpu', '7');
    assert.equal(none.code, 2, none.error);
    assert.match(none.error, /node n1 has no gpu '7' \(its gpus: 0, 1, 2\)/);
    assert.equal((await cluster.weft('pause', '--gpu', '1', '99d')).code, 2);
    assert.match(
      await cluster.ok('unpause', '--gpu', '0'),
      /^Gpu 0 of n1 was not kept: it is given/m,
    );
    assert.match(
      await cluster.ok('unpause', '--gpu', TWO),
      /^Gpu 1 of n1 is given to tasks again/m,
    );
    await until(
      'the job has it',
      async () => (await cluster.job(job)).state === 'done' || undefined,
    );
  });

  it('[V2] what a task itself does on its card is no use of others', async () => {
    const job = await cluster.ok('run', '--gpus', '1', '--', 'echo $$ > pid; exec sleep 600');
    const pid = await until('it runs', () => cluster.lines('pid')[0]);
    cluster.write(used(ONE, Number(pid)));
    const marker = stranger();
    await cluster.shows('given free free');
    // Another card tells that the tools have been asked since.
    const { processes = [] } = used(ONE, Number(pid));
    cluster.write({
      ...WORKSTATION,
      processes: [...processes, ...(used(THREE, marker).processes ?? [])],
    });
    await cluster.shows('given free used_outside');
    assert.deepEqual((await cluster.cards())[0]?.tasks.length, 1);
    await cluster.ok('cancel', job);
    cluster.write(WORKSTATION);
    await cluster.shows('free free free');
  });

  it('[V2] a task that uses a card without having it is told so, and nobody is given the card', async () => {
    const job = await cluster.ok('run', '--', 'echo $$ > stray; exec sleep 600');
    const pid = await until('it runs', () => cluster.lines('stray')[0]);
    cluster.write(used(TWO, Number(pid)));
    await cluster.shows('free used_outside free');
    assert.match(await cluster.ok('job', job), /It uses gpu 1 of n1, which it has not been given/);
    const words = new RegExp(`Gpu 1: .*used by ${job}#1 of ${ME} without asking`);
    assert.match(await cluster.ok('node', 'show', 'n1'), words);
    await cluster.ok('cancel', job);
    cluster.write(WORKSTATION);
    await cluster.shows('free free free');
  });

  it('[V3] a card that falls off the bus takes only itself out, and comes back', async () => {
    const [first, second, third] = WORKSTATION.nvidia as [FakeCard, FakeCard, FakeCard];
    cluster.write({ ...WORKSTATION, nvidia: [first, { ...second, lost: 'GPU is lost' }, third] });
    await cluster.shows('free ill free');
    assert.match(await cluster.ok('node', 'show', 'n1'), /Gpu 1: .*ill: GPU is lost/);
    const job = await cluster.ok('run', '--follow', '--gpus', '2', '--', SHOW);
    assert.match(job, new RegExp(`^CUDA_VISIBLE_DEVICES=${ONE},${THREE}$`, 'm'));
    cluster.write(WORKSTATION);
    await cluster.shows('free free free');
  });

  it('[V5] nonsense changes nothing, and is told', async () => {
    cluster.write({ says: { text: 'what?\n', exit: 1 } });
    await until('it is told', async () => {
      const remark = (await cluster.node()).gpus?.remark ?? '';
      return /says: what\?; its cards are shown as of /.test(remark) || undefined;
    });
    assert.equal(await cluster.states(), 'free free free');
    cluster.write(WORKSTATION);
    await until(
      'it is over',
      async () => (await cluster.node()).gpus?.remark === null || undefined,
    );
  });

  it('[V3] a driver that does not work makes all cards ill, in its words', async () => {
    const text = 'Failed to initialize NVML: Driver/library version mismatch\n';
    cluster.write({ says: { text, exit: 18 } });
    await cluster.shows('ill ill ill');
    const job = await cluster.ok('run', '--gpus', '1', '--', SHOW);
    await until('why tells it', async () => {
      return /version mismatch/.test(await cluster.ok('why', job)) || undefined;
    });
    assert.match(await cluster.ok('run', '--follow', '--', 'echo works'), /works/);
    cluster.write(WORKSTATION);
    await until(
      'the job has one',
      async () => (await cluster.job(job)).state === 'done' || undefined,
    );
  });

  it('[V1, V5] cards that moved are the same, and a driver that hangs holds up no node', async () => {
    const [first, second, third] = WORKSTATION.nvidia as [FakeCard, FakeCard, FakeCard];
    await cluster.ok('down');
    const moved = [
      { ...third, index: 0 },
      { ...first, index: 1, bus: '31:00.0' },
      { ...second, index: 2 },
    ];
    cluster.write({ nvidia: moved });
    await cluster.up('--listen', 'none');
    await cluster.shows('free free free');
    assert.deepEqual(
      (await cluster.cards()).map(({ uuid, label, busId }) => [uuid, label, busId]),
      [
        [ONE, '1', '0000:31:00.0'],
        [TWO, '2', '0000:21:00.0'],
        [THREE, '0', '0000:41:00.0'],
      ],
    );
    const job = await cluster.ok('run', '--follow', '--gpus', '1', '--', SHOW);
    assert.match(job, new RegExp(`^WEFT_GPUS=1\\nWEFT_GPU_UUIDS=${ONE}$`, 'm'));
    await cluster.ok('down');
    cluster.write({ hangs: true });
    await cluster.up('--listen', 'none');
    await cluster.shows('unknown unknown unknown');
    assert.match(await cluster.ok('run', '--follow', '--', 'echo works'), /works/);
  });
});

describe('gpus of a machine with several nodes', () => {
  let cluster: GpuCluster;

  before(async () => {
    cluster = new GpuCluster();
    cluster.write({ ...WORKSTATION, nvidia: WORKSTATION.nvidia.slice(0, 2) });
    await cluster.up('--nodes', '2', '--listen', 'none');
    await cluster.shows('free', 'n1');
    await cluster.shows('free', 'n2');
  });
  after(() => cluster.close());

  it('[V6] each node gives its own share of the cards', async () => {
    const uuids = async (name: string) => (await cluster.cards(name)).map(({ uuid }) => uuid);
    assert.deepEqual([await uuids('n1'), await uuids('n2')], [[ONE], [TWO]]);
    const out = await cluster.ok('run', '--follow', '--nodes', '2', '--gpus', '1', '--', SHOW);
    const given = [...out.matchAll(/CUDA_VISIBLE_DEVICES=(\S*)/g)].map(([, uuid]) => uuid);
    assert.deepEqual(given.sort(), [ONE, TWO]);
  });
});
