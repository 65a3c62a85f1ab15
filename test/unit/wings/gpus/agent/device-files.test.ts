// By which devices cards are opened, on machines as their drivers show them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Device } from '../../../../../src/kernel/model/device.ts';
import { DeviceFiles } from '../../../../../src/wings/gpus/agent/device-files.ts';
import { fenceOf, shutBut } from '../../../../../src/wings/gpus/core/fenced.ts';
import type { Machine } from '../../../../../src/wings/gpus/core/state.ts';
import { remembered } from '../../../../../src/wings/gpus/core/watch.ts';
import type { SeenCard } from '../../../../../src/wings/gpus/model/answer.ts';
import type { MachineView } from '../../../../../src/wings/gpus/ports/machine-view.ts';

const PLAIN = {
  index: 0,
  name: 'a card',
  type: 'a100',
  memoryBytes: null,
  memoryUsedBytes: null,
  busyPercent: null,
  ills: [],
} as const;

function card(vendor: string, uuid: string, more: Partial<SeenCard> = {}): SeenCard {
  return { ...PLAIN, vendor, uuid, busId: '0000:21:00.0', ...more };
}

function filesOf(
  devices: Readonly<Record<string, Device>>,
  texts: Readonly<Record<string, string>>,
): DeviceFiles {
  const view: MachineView = {
    tool: () => ({ isThere: false, run: () => Promise.reject(new Error('no tool')) }),
    device: (path) => devices[path] ?? null,
    read: (path) => texts[path] ?? null,
    namesIn: (folder) => {
      const below = Object.keys(texts).filter((path) => path.startsWith(`${folder}/`));
      return [...new Set(below.map((path) => path.slice(folder.length + 1).split('/')[0] ?? ''))];
    },
    kernelLog: () => [],
    owners: () => new Map(),
    isContained: false,
  };
  return new DeviceFiles(view);
}

const INFORMATION = '/proc/driver/nvidia/gpus/0000:21:00.0/information';

function machineOf(...seen: readonly SeenCard[]): Machine {
  const cards = seen.map((one) => [one.uuid, remembered(one, 0, { isOld: false })] as const);
  return { cards: new Map(cards), makers: new Map() };
}

test('[V25] a card of NVIDIA is opened by the file with its minor number, whatever its index is', () => {
  const files = filesOf({ '/dev/nvidia3': 'c195:3' }, { [INFORMATION]: 'Device Minor: \t 3\n' });
  assert.deepEqual(files.with(card('nvidia', 'GPU-a')).devices, ['c195:3']);
  assert.equal(filesOf({}, {}).with(card('nvidia', 'GPU-a')).devices, undefined);
  const bare = filesOf({}, { [INFORMATION]: 'Device Minor: 3\n' });
  assert.equal(bare.with(card('nvidia', 'GPU-a')).devices, undefined, 'there is no such file');
});

test('[V25] a slice is opened by its card and by a file of its own, which another has not', () => {
  const access = (instance: number) =>
    `/proc/driver/nvidia/capabilities/gpu3/mig/gi${instance}/access`;
  const files = filesOf(
    {
      '/dev/nvidia3': 'c195:3',
      '/dev/nvidia-caps/nvidia-cap21': 'c235:21',
      '/dev/nvidia-caps/nvidia-cap30': 'c235:30',
    },
    {
      [INFORMATION]: 'Device Minor: 3\n',
      [access(1)]: 'DeviceFileMinor: 21\nDeviceFileMode: 292\n',
      [access(2)]: 'DeviceFileMinor: 30\n',
    },
  );
  const slice = (uuid: string, instance: number) =>
    files.with(card('nvidia', uuid, { partOf: 'GPU-a', instance }));
  const machine = machineOf(slice('MIG-1', 1), slice('MIG-2', 2));
  assert.deepEqual(shutBut(['MIG-1'], machine), ['c235:30']);
  assert.deepEqual(shutBut([], machine), ['c195:3', 'c235:21', 'c235:30']);
  assert.equal(files.with(card('nvidia', 'MIG-9', { partOf: 'GPU-a' })).devices, undefined);
});

test('[V25] cards of AMD and Intel are opened by what the kernel made, the former by one of all', () => {
  const drm = '/sys/bus/pci/devices/0000:21:00.0/drm';
  const texts = {
    [`${drm}/card1/dev`]: '226:1\n',
    [`${drm}/renderD129/dev`]: '226:129\n',
    [`${drm}/version`]: 'drm 1.1.0\n',
  };
  const files = filesOf({ '/dev/kfd': 'c511:0' }, texts);
  const amd = files.with(card('amd', 'GPU-1'));
  const other = { ...card('amd', 'GPU-2'), devices: ['c226:2', 'c226:130', 'c511:0'] as const };
  assert.deepEqual(amd.devices, ['c226:1', 'c226:129', 'c511:0']);
  assert.deepEqual(files.with(card('intel', 'X')).devices, ['c226:1', 'c226:129']);
  assert.deepEqual(shutBut(['GPU-1'], machineOf(amd, other)), ['c226:130', 'c226:2']);
  assert.deepEqual(files.with(card('intel', 'Y', { busId: '' })).devices, undefined);
});

test("[V25] what the operator's program names is shut, but nothing that all programs need", () => {
  const files = filesOf({ '/dev/tt0': 'c240:0', '/dev/null': 'c1:3' }, {});
  const named = (...paths: string[]) =>
    files.with(card('devices', 'TT-1', { files: paths })).devices;
  assert.deepEqual(named('/dev/tt0'), ['c240:0']);
  assert.equal(named('/dev/tt0', '/dev/null'), undefined);
  assert.equal(named('/dev/tt0', '/dev/tt1'), undefined);
  assert.equal(named(), undefined);
});

test('[V25] where the devices of a card are not known nothing is said to hold, and no task fails', () => {
  const known = { ...card('nvidia', 'GPU-a'), devices: ['c195:0'] as const };
  const machine = machineOf(known, card('nvidia', 'GPU-b'));
  const holds = { holds: true, words: 'device cgroup' };
  assert.deepEqual(fenceOf(machine, holds), {
    holds: false,
    words: 'the device files of 1 gpu are not known',
  });
  assert.equal(fenceOf(machineOf(known), holds), holds);
  assert.deepEqual(fenceOf(machine, { holds: false, words: 'no\u001b[1m' }).words, 'no?[1m');
  const many = Array.from({ length: 600 }, (_, minor) => `c240:${minor}` as const);
  const full = machineOf({ ...card('devices', 'TT-1'), devices: many });
  const words = 'more than 512 device files cannot be shut';
  assert.deepEqual(fenceOf(full, holds), { holds: false, words });
  assert.deepEqual(shutBut([], machine), ['c195:0']);
  for (const own of ['GPU-b', 'GPU-z', undefined]) assert.deepEqual(shutBut([own], machine), []);
});
