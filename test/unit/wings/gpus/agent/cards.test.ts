// The gpus of a node as its agent tells them to the head, and as its tasks find them: by tools that
// say what the test says.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { AgentInside, AgentPart } from '../../../../../src/kernel/agent/part.ts';
import { cardLabel, type GpuCard, type NodeGpus } from '../../../../../src/kernel/model/gpu.ts';
import { CardSource } from '../../../../../src/wings/gpus/agent/card-source.ts';
import { Lookout } from '../../../../../src/wings/gpus/agent/lookout.ts';
import { gpusPart } from '../../../../../src/wings/gpus/agent/part.ts';
import { FIELDS } from '../../../../../src/wings/gpus/core/nvidia/csv.ts';
import type { Kept } from '../../../../../src/wings/gpus/model/keep.ts';
import type { MachineView, Said } from '../../../../../src/wings/gpus/ports/machine-view.ts';
import { FakeWorld } from '../../../kernel/agent/fake-world.ts';
import { idOf, launch, share, shell } from '../../../kernel/agent/orders.ts';

const LOOK = { outsideBytesMin: 2 ** 30, freeAfterMs: 60_000, everyMs: 10_000 };
const DEVICES = '/opt/devices';

let world = new FakeWorld();
/** What the tools say by their names; a tool that is missing is not there. */
let tools: Record<string, string | Said> = {};
let log: string[] = [];
let files: Record<string, string> = {};
let kept: Kept | null = null;
let lookout: Lookout | null = null;
/** What the other parts of the agent see of it. */
let inside: AgentInside | null = null;

afterEach(async () => {
  await world.kill();
  tools = {};
  log = [];
  files = {};
  kept = null;
});

const CELLS: Readonly<Record<string, string>> = {
  name: 'NVIDIA L40S',
  'memory.total': '46068',
  'memory.used': '0',
  'utilization.gpu': '0',
  'mig.mode.current': 'Disabled',
  driver_version: '580.1',
};

/** Rows of these cards, each `GPU-a` at its place. */
function cards(...uuids: readonly string[]): string {
  return uuids
    .map((uuid, index) => {
      const own: Record<string, string> = {
        index: String(index),
        uuid,
        'pci.bus_id': `0000:0${index}:00.0`,
      };
      return FIELDS.map((field) => own[field] ?? CELLS[field] ?? '[N/A]').join(', ');
    })
    .join('\n');
}

const VERSION = 'CUDA Version : 13.0\n';

const VIEW: MachineView = {
  tool: (program) => ({
    get isThere() {
      return tools[program] !== undefined;
    },
    run: (first = '') => {
      const said = tools[program] ?? '';
      if (typeof said !== 'string') return Promise.resolve(said);
      if (first === '--version') return Promise.resolve({ kind: 'said', code: 0, text: VERSION });
      const isOther = program === 'nvidia-smi' && !first.startsWith('--query-gpu');
      return Promise.resolve({ kind: 'said', code: 0, text: isOther ? '' : said });
    },
  }),
  device: () => null,
  read: (path) => files[path] ?? null,
  namesIn: (folder) => {
    return Object.keys(files).flatMap((path) => {
      return path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [];
    });
  },
  kernelLog: () => log.splice(0),
  owners: () => new Map(),
  isContained: false,
};

async function start(
  options: { count?: number; devices?: string; isSeen?: boolean; only?: readonly string[] } = {},
): Promise<void> {
  const source = new CardSource(VIEW);
  const first = options.isSeen === false ? null : await source.look();
  const look = { ...LOOK, devices: options.devices ?? null };
  const save = (now: Kept): void => {
    kept = now;
  };
  const wish = { count: options.count ?? null, from: 0, only: options.only ?? null };
  const known = { load: () => kept, save };
  lookout = new Lookout(source, first);
  const gpus = gpusPart(lookout, { wish, look, isAlone: true }, () => known);
  const listener: AgentPart = {
    accompany: (agent) => {
      inside = agent;
      return {};
    },
  };
  world.parts = [gpus, listener];
  await world.start();
  await world.clock.settle();
}

/** A machine with two parts of memory, and a card at each. */
function twoParts(allowed: string): void {
  const parts = '/sys/devices/system/node';
  files = {
    '/proc/self/status': `Name:\tnode\nCpus_allowed_list:\t${allowed}\n`,
    [`${parts}/node0`]: '',
    [`${parts}/node0/cpulist`]: '0-3,8-11\n',
    [`${parts}/node1`]: '',
    [`${parts}/node1/cpulist`]: '4-7,12-15\n',
    [`${parts}/has_cpu`]: '0-1\n',
    '/sys/bus/pci/devices/0000:00:00.0/numa_node': '0\n',
    '/sys/bus/pci/devices/0000:01:00.0/numa_node': '1\n',
  };
}

function told(): NodeGpus[] {
  return world.head.received.flatMap((message) =>
    message.kind === 'heartbeat' && message.gpus !== undefined ? [message.gpus] : [],
  );
}

function states(gpus: NodeGpus | undefined): string {
  return (gpus?.cards ?? []).map(({ uuid, state }) => `${uuid} ${state}`).join(', ');
}

test('[V1] a hello has the cards, and a heartbeat has them only when they have changed', async () => {
  world = new FakeWorld();
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b') };
  await start();
  const [hello] = world.head.hellos;
  assert.equal(hello?.resources.gpuCount, 2);
  assert.equal(states(hello?.gpus), 'GPU-a free, GPU-b free');
  await world.clock.advance(60_000);
  assert.deepEqual(told(), []);
  log = ['NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.'];
  await world.clock.advance(60_000);
  assert.deepEqual(told().map(states), ['GPU-a free, GPU-b ill']);
  assert.equal(told()[0]?.cards[1]?.why, 'ill: XID 79: GPU has fallen off the bus.');
  assert.equal(world.head.hellos.length, 1);
});

test('[V1] a card that comes while the agent runs is offered in a new session', async () => {
  world = new FakeWorld();
  tools = { 'nvidia-smi': cards('GPU-a') };
  await start();
  tools = { 'nvidia-smi': cards('GPU-b', 'GPU-a') };
  await world.clock.advance(20_000);
  const hello = world.head.hellos.at(-1);
  assert.equal(world.head.hellos.length, 2);
  assert.equal(hello?.resources.gpuCount, 2);
  assert.equal(states(hello?.gpus), 'GPU-a free, GPU-b free');
});

test('[V32] a task is kept to the cpus near its cards, of those that the node may use', async () => {
  world = new FakeWorld();
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b') };
  twoParts('0-9,12');
  await start();
  let job = 0;
  const starts = async (gpus: readonly number[], cpuCount: number): Promise<string> => {
    job += 1;
    world.head.order(launch(job, shell('x'), { share: { ...share(cpuCount, 0), gpus } }));
    await world.clock.settle();
    const { environment = [] } = world.launcher.started[job - 1] ?? {};
    return cpusetIn(environment);
  };
  assert.equal(await starts([1], 3), 'WEFT_CPUSET=4-7,12');
  assert.equal(await starts([0], 6), 'WEFT_CPUSET=0-3,8-9');
  assert.equal(await starts([1], 3), 'any', 'the first leaves too few');
  assert.equal(await starts([0, 1], 1), 'any', 'cards of both');
  assert.equal(await starts([], 1), 'any');
});

test('[V32] steps of a task that runs on any cpu do so too when others have gone', async () => {
  world = new FakeWorld();
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b') };
  twoParts('0-15');
  await start();
  for (const job of [1, 2]) {
    world.head.order(launch(job, shell('x'), { share: { ...share(5, 0), gpus: [1] } }));
  }
  await world.clock.settle();
  world.launcher.exit(world.launcher.started[0]?.launchId ?? 0, { code: 0 });
  await world.clock.settle();
  const epoch = inside?.state.epochs.get(idOf(2));
  assert.ok(inside !== null && epoch !== undefined && !inside.state.epochs.has(idOf(1)));
  const joining = await inside.beside.joining(epoch);
  const { environment = [] } = joining.ok ? joining.value.request : {};
  const all = [environment, world.launcher.started[1]?.environment ?? []];
  assert.deepEqual(all.map(cpusetIn), ['any', 'any']);
});

test('[V32] tasks of the other nodes of a program count near a card', async () => {
  world = new FakeWorld();
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b') };
  twoParts('0-15');
  await start();
  const nearby = () => [{ parts: [1], cpuCount: 5 }];
  const none = { uuids: [], held: () => [], marked: () => [], onLook: () => undefined };
  lookout?.join({ node: 'other', instance: 'o', ...none, nearby });
  for (const [job, gpu] of [
    [1, 1],
    [2, 0],
  ] as const) {
    world.head.order(launch(job, shell('x'), { share: { ...share(5, 0), gpus: [gpu] } }));
  }
  await world.clock.settle();
  const all = world.launcher.started.map(({ environment }) => cpusetIn(environment));
  assert.deepEqual(all, ['any', 'WEFT_CPUSET=0-3,8-11']);
});

function cpusetIn(environment: readonly string[]): string {
  return environment.find((entry) => entry.startsWith('WEFT_CPUSET=')) ?? 'any';
}

test('[V4] a task finds its card by uuid, also when its number has another card by now', async () => {
  world = new FakeWorld();
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b') };
  await start();
  tools = { 'nvidia-smi': cards('GPU-b', 'GPU-a') };
  await world.clock.advance(10_000);
  const given = { ...share(1, 0), gpus: [0] };
  world.head.order(launch(1, shell('x'), { share: given }));
  await world.clock.settle();
  const { environment = [] } = world.launcher.started[0] ?? {};
  assert.ok(environment.includes('CUDA_VISIBLE_DEVICES=GPU-a'), environment.join('\n'));
  assert.ok(environment.includes('WEFT_GPUS=1'));
});

test('[V5] a driver that hangs at the start of an agent takes no card away', async () => {
  world = new FakeWorld();
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b') };
  await start();
  await world.kill();
  tools = { 'nvidia-smi': { kind: 'mute', words: 'nvidia-smi hangs' } };
  await start({ isSeen: false });
  const hello = world.head.hellos.at(-1);
  assert.equal(hello?.resources.gpuCount, 2);
  assert.equal(states(hello?.gpus), 'GPU-a unknown, GPU-b unknown');
  await world.clock.advance(10_000);
  assert.equal(told().at(-1)?.remark, 'nvidia: nvidia-smi hangs');
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b') };
  await world.clock.advance(10_000);
  assert.equal(states(told().at(-1)), 'GPU-a free, GPU-b free');
});

test('[V5] declared gpus that no tool has seen yet are not given', async () => {
  world = new FakeWorld();
  tools = { 'nvidia-smi': { kind: 'mute', words: 'nvidia-smi hangs' } };
  await start({ count: 2, isSeen: false });
  const hello = world.head.hellos.at(-1);
  assert.equal(hello?.resources.gpuCount, 2);
  assert.equal(states(hello?.gpus), 'unseen-0 unknown, unseen-1 unknown');
  assert.match(
    hello?.gpus?.cards[0]?.why ?? '',
    /^not known: tools: the drivers have not answered/,
  );
  await world.clock.advance(10_000);
  assert.equal(told().at(-1)?.cards[0]?.why, 'not known: nvidia: nvidia-smi hangs');
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b') };
  await world.clock.advance(10_000);
  assert.equal(states(told().at(-1)), 'GPU-a free, GPU-b free');
  assert.equal((kept as Kept | null)?.cards.length, 2);
});

test('[V1] gpus that are declared where there is no tool are numbers, and given', async () => {
  world = new FakeWorld();
  await start({ count: 2 });
  await world.clock.advance(20_000);
  assert.deepEqual([world.head.hellos[0]?.gpus, told()], [undefined, []]);
});

test('[V1] what was taken out while the machine was off is forgotten, and the rest keeps its order', async () => {
  world = new FakeWorld();
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b', 'GPU-c') };
  await start();
  await world.kill();
  kept = { bootId: 'another', cards: (kept as Kept | null)?.cards ?? [] };
  tools = { 'nvidia-smi': cards('GPU-c', 'GPU-b') };
  await start();
  const { gpus } = world.head.hellos.at(-1) ?? {};
  const numbers = (gpus?.cards ?? []).map((card: GpuCard) => [card.number, card.index, card.uuid]);
  assert.deepEqual(numbers, [
    [0, 1, 'GPU-b'],
    [1, 0, 'GPU-c'],
  ]);
});

test('[V7] a program of the operator adds devices, and a problem of it is told', async () => {
  world = new FakeWorld();
  tools = {
    [DEVICES]: '[{"kind": "fpga", "id": "1"}, {"kind": "gpu", "id": "TT-1", "name": "n150"}]',
  };
  await start({ devices: DEVICES });
  await world.clock.advance(1000);
  const hello = world.head.hellos.at(-1);
  assert.deepEqual(hello?.resources.counted, { fpga: 1 });
  assert.equal(hello?.resources.gpuCount, 1);
  assert.equal(states(hello?.gpus), 'TT-1 free');
  tools = { [DEVICES]: 'Traceback' };
  await world.clock.advance(20_000);
  assert.match(
    told().at(-1)?.remark ?? '',
    /\/opt\/devices of node\.devices \(exit code 0\) says: Traceback; expected a JSON list/,
  );
  assert.equal(states(told().at(-1)), 'TT-1 free');
});

test('[V7] cards of a program that is named no more are forgotten, and so is what it lists no more', async () => {
  world = new FakeWorld();
  const listed = (...ids: readonly string[]): string => {
    return JSON.stringify(ids.map((id) => ({ kind: 'gpu', id, memory: 2 ** 30 })));
  };
  tools = { 'nvidia-smi': cards('GPU-a'), [DEVICES]: listed('TT-1', 'TT-2') };
  await start({ devices: DEVICES });
  await world.clock.advance(1000);
  const last = (): string => states(world.head.hellos.at(-1)?.gpus);
  assert.equal(last(), 'GPU-a free, TT-1 free, TT-2 free');
  await world.kill();
  tools = { 'nvidia-smi': cards('GPU-a'), [DEVICES]: listed('TT-2') };
  await start({ devices: DEVICES });
  await world.clock.advance(1000);
  assert.equal(last(), 'GPU-a free, TT-2 free');
  await world.kill();
  await start();
  await world.clock.advance(1000);
  assert.equal(last(), 'GPU-a free');
  assert.equal(world.head.hellos.at(-1)?.resources.gpuCount, 1);
});

test('[V1] no two cards of a node have one number, also when the list of devices changes', async () => {
  world = new FakeWorld();
  const listed = (...ids: readonly string[]): string => {
    return JSON.stringify(ids.map((id) => ({ kind: 'gpu', id })));
  };
  tools = { [DEVICES]: listed('TT-long-1', 'TT-long-2') };
  await start({ devices: DEVICES });
  await world.clock.advance(1000);
  world.head.order(launch(1, shell('x'), { share: { ...share(1, 0), gpus: [0, 1] } }));
  tools = { [DEVICES]: listed('TT-long-3', 'TT-long-2') };
  await world.clock.advance(30_000);
  const shown = [...told(), ...world.head.hellos.flatMap(({ gpus }) => gpus ?? [])].at(-1);
  const labels = (shown?.cards ?? []).map(cardLabel);
  assert.deepEqual(labels, ['TT-long-', '1', '0']);
});

test('[V6] a list of cards may name the maker, and names that are of no card are told', async () => {
  world = new FakeWorld();
  const text = JSON.stringify([{ kind: 'gpu', id: 'TT-1' }]);
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b'), [DEVICES]: text };
  await start({ devices: DEVICES, only: ['nvidia:0', '1', 'GPU-zzz'] });
  await world.clock.advance(1000);
  const { gpus } = world.head.hellos.at(-1) ?? {};
  assert.equal(states(gpus), 'GPU-a free, GPU-b free');
  const note = "node.gpu_cards names 'GPU-zzz', which is no gpu of this machine";
  assert.ok(gpus?.notes?.includes(note), gpus?.notes?.join());
});

test('[V1] a machine without any tool tells nothing of cards', async () => {
  world = new FakeWorld();
  await start();
  await world.clock.advance(60_000);
  assert.deepEqual([world.head.hellos[0]?.gpus, told()], [undefined, []]);
});

/** How busy each card is said to be. */
function busy(): string {
  const all = inside?.cardUse() ?? [];
  return all.map(({ number, busyPercent }) => `${number}: ${busyPercent}%`).join(', ');
}

test('[V18] while a tool hangs nothing is told of how much its cards work', async () => {
  world = new FakeWorld();
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b') };
  await start();
  assert.equal(busy(), '0: 0%, 1: 0%');
  tools = { 'nvidia-smi': { kind: 'mute', words: 'nvidia-smi hangs' } };
  await world.clock.advance(30_000);
  assert.equal(busy(), '0: 0%, 1: 0%', 'one look may take long');
  await world.clock.advance(10_000);
  assert.equal(busy(), '');
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b') };
  await world.clock.advance(10_000);
  assert.equal(busy(), '0: 0%, 1: 0%');
});

test('[V18] nothing is told of a card that is missing, gone or ill', async () => {
  world = new FakeWorld();
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b') };
  await start();
  world.head.order(launch(1, shell('x'), { share: { ...share(1, 0), gpus: [0, 1] } }));
  tools = { 'nvidia-smi': cards('GPU-a') };
  await world.clock.advance(10_000);
  assert.equal(busy(), '0: 0%', 'one look did not list it');
  await world.clock.advance(10_000);
  assert.equal(busy(), '0: 0%');
  tools = { 'nvidia-smi': cards('GPU-a', 'GPU-b') };
  log = ['NVRM: Xid (PCI:0000:00:00): 79, pid=1, GPU has fallen off the bus.'];
  await world.clock.advance(10_000);
  assert.doesNotMatch(busy(), /0: /);
});

test('[V30] a node tells how its machine is set up for its cards, once it has changed', async () => {
  world = new FakeWorld();
  tools = { 'nvidia-smi': cards('GPU-a'), podman: '' };
  await start();
  const [hello] = world.head.hellos;
  assert.equal(hello?.gpus?.driver, 'nvidia 580.1 (CUDA 13.0)');
  assert.match(hello?.gpus?.notes?.join() ?? '', /^podman gives containers no gpus/);
  files = {
    '/etc/cdi/nvidia.yaml': 'kind: nvidia.com/gpu',
    '/tmp/nvidia-mps/nvidia-cuda-mps-control.pid': '77\n',
    '/proc/77/comm': 'nvidia-cuda-mps\n',
  };
  await world.clock.advance(10_000);
  assert.deepEqual(told()[0]?.notes, undefined);
  assert.equal(told()[0]?.driver, 'nvidia 580.1 (CUDA 13.0, MPS runs)');
});
