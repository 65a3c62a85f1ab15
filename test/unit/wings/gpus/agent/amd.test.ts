// What does not change of cards of AMD is asked once: how they are joined, and the version of ROCm.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Amd } from '../../../../../src/wings/gpus/agent/makers/amd.ts';
import type { MachineView, Said } from '../../../../../src/wings/gpus/ports/machine-view.ts';

const CARD = { 'PCI Bus': '0000:01:00.0', 'Card Series': 'AMD Instinct MI210' };
const LIST = [0, 1].map((gpu) => ({ gpu, bdf: `0000:0${gpu}:00.0`, hip_uuid: `GPU-${gpu}` }));
const SAYS: Readonly<Record<string, unknown>> = {
  list: LIST,
  static: LIST.map(({ gpu }) => ({ gpu, driver: { version: '6.14.5' } })),
  topology: [{ gpu: 0, links: [{ gpu: 1, link_type: 'XGMI', link_status: 'ENABLED' }] }],
  version: [{ rocm_version: '7.0.2' }],
  '--showid': { card0: { ...CARD, 'Unique ID': '0xa' }, card1: { ...CARD, 'Unique ID': '0xb' } },
  '--showtopotype': { system: { '(Topology) Link type between DRM devices 0 and 1': 'XGMI' } },
};

/** `mute`: what hangs. `failing`: what says that there is no driver. */
function machine(
  tool: string,
  mute: ReadonlySet<string>,
  asked: string[],
  failing: ReadonlySet<string> = new Set(),
): MachineView {
  const run = async (first = ''): Promise<Said> => {
    asked.push(first);
    if (failing.has(first)) return { kind: 'said', code: 1, text: 'Driver not initialized' };
    if (mute.has(first)) return { kind: 'mute', words: 'it hangs' };
    return { kind: 'said', code: 0, text: JSON.stringify(SAYS[first] ?? []) };
  };
  const files: Record<string, string> = {
    '/opt/rocm/.info/version': '6.1.2-119\n',
    '/sys/module/amdgpu/version': '6.7.0\n',
  };
  return {
    tool: (program) => ({ isThere: program === tool, run }),
    device: () => null,
    read: (path) => files[path] ?? null,
    namesIn: () => [],
    kernelLog: () => [],
    owners: () => new Map(),
    isContained: false,
  };
}

async function look(amd: Amd): Promise<readonly unknown[]> {
  const answer = await amd.look();
  assert.equal(answer?.kind, 'answered');
  if (answer?.kind !== 'answered') return [];
  return [answer.driver, ...answer.cards.map(({ linkedWith }) => linkedWith)];
}

test('[V23] cards of AMD are told with those that they are joined with, and with the version of ROCm', async () => {
  const asked: string[] = [];
  const amd = new Amd(machine('amd-smi', new Set(), asked));
  assert.deepEqual(await look(amd), ['6.14.5 (ROCm 7.0.2)', 'GPU-0', 'GPU-0']);
  await look(amd);
  assert.equal(asked.filter((one) => one === 'topology').length, 1);
  const old = new Amd(machine('rocm-smi', new Set(), []));
  assert.deepEqual(await look(old), ['6.7.0 (ROCm 6.1.2)', 'GPU-a', 'GPU-a']);
});

test('[V5] what hangs when it is asked how cards are joined is asked again later, and cards are there', async () => {
  const asked: string[] = [];
  const mute = new Set(['topology', 'version']);
  const amd = new Amd(machine('amd-smi', mute, asked));
  assert.deepEqual(await look(amd), ['6.14.5 (ROCm 6.1.2)', undefined, undefined]);
  mute.clear();
  assert.deepEqual(await look(amd), ['6.14.5 (ROCm 6.1.2)', undefined, undefined]);
  for (let count = 0; count < 30; count += 1) await look(amd);
  assert.deepEqual(await look(amd), ['6.14.5 (ROCm 7.0.2)', 'GPU-0', 'GPU-0']);
});

for (const [tool, first, wires] of [
  ['amd-smi', 'topology', 'topology'],
  ['amd-smi', 'static', 'topology'],
  ['rocm-smi', '--showtopotype', '--showtopotype'],
] as const) {
  test(`[V23] an error of ${tool} ${first} while the driver comes up is asked again later`, async () => {
    const asked: string[] = [];
    const failing = new Set<string>([first]);
    const amd = new Amd(machine(tool, new Set(), asked, failing));
    await look(amd);
    failing.clear();
    for (let count = 0; count < 60; count += 1) await look(amd);
    assert.equal((await look(amd))[1], tool === 'amd-smi' ? 'GPU-0' : 'GPU-a');
    assert.equal(asked.filter((one) => one === wires).length, 2);
  });
}
