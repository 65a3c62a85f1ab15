// A node with gpus, by stand-ins for the tools of their drivers: real agents and real jobs. What the
// tools say is changed meanwhile, as on a workstation where others work, too.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CardView, NodeView } from '../../src/kernel/api/nodes.ts';
import { type FakeCard, type FakeWorld, pidsFile } from '../support/gpu/world.ts';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

const TOOLS = path.join(import.meta.dirname, '..', 'support', 'gpu');
const WORKSTATION = JSON.parse(
  readFileSync(path.join(TOOLS, 'scenarios', 'workstation.json'), 'utf8'),
) as FakeWorld & { readonly nvidia: readonly FakeCard[] };
const [ONE, TWO, THREE] = WORKSTATION.nvidia.map(({ uuid }) => uuid) as [string, string, string];
const ME = userInfo().username;

/** A cluster on a machine with pretended gpus. */
class GpuCluster extends LocalCluster {
  readonly #file = path.join(this.directory, 'gpus.json');

  constructor() {
    super({
      PATH: `${path.join(TOOLS, 'bin')}:${process.env['PATH']}`,
      WEFT_NODE_GPU_LOOK_EVERY: '1s',
      WEFT_NODE_GPU_FREE_AFTER: '2s',
    });
    this.env['FAKE_GPUS'] = this.#file;
  }

  /** At once: no tool sees half of it. */
  write(world: FakeWorld): void {
    writeFileSync(`${this.#file}.new`, JSON.stringify(world));
    renameSync(`${this.#file}.new`, this.#file);
  }

  /** Tools that hang are ended by nobody else before their time. */
  override async close(): Promise<void> {
    const file = pidsFile(this.#file);
    const pids = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    for (const pid of pids.map(Number)) if (isTool(pid)) process.kill(pid, 'SIGKILL');
    await super.close();
  }

  node(name = 'n1'): Promise<NodeView> {
    return this.client.call('GET', `/v1/nodes/${name}`);
  }

  async cards(name = 'n1'): Promise<readonly CardView[]> {
    return (await this.node(name)).gpus?.cards ?? [];
  }

  async states(name = 'n1'): Promise<string> {
    return (await this.cards(name)).map(({ state }) => state).join(' ');
  }

  /** Until the node's cards are in these states. */
  shows(states: string, name = 'n1'): Promise<true> {
    return until(`the cards are ${states}`, async () => {
      return (await this.states(name)) === states || undefined;
    });
  }
}

/** Not another process that has its number by now. */
function isTool(pid: number): boolean {
  try {
    return /sleep|-smi\.ts/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return false; // It has ended.
  }
}

/** Variables of gpus that a task finds, as `NAME=value` lines. */
const SHOW = 'env | grep -E "^(WEFT_GPU|CUDA_|NVIDIA_)" | sort';

describe('gpus of a workstation', () => {
  let cluster: GpuCluster;
  const strangers: ChildProcess[] = [];

  /** A program of somebody who has not asked. */
  const stranger = (): number => {
    const child = spawn('sleep', ['600'], { stdio: 'ignore' });
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
