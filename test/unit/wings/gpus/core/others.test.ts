// What the tools of AMD and Intel print, and what is read of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  readAmdLinks,
  readRocmLinks,
  readRocmVersion,
  versionIn,
} from '../../../../../src/wings/gpus/core/others/amd-links.ts';
import { readAmdSmi } from '../../../../../src/wings/gpus/core/others/amd-smi.ts';
import { cardOfKernel } from '../../../../../src/wings/gpus/core/others/drm.ts';
import { readRocmPids, readRocmSmi } from '../../../../../src/wings/gpus/core/others/rocm-smi.ts';
import {
  readXpuCards,
  readXpuMemory,
  readXpuProcesses,
  withXpuUse,
} from '../../../../../src/wings/gpus/core/others/xpu-smi.ts';
import { typeNameOf } from '../../../../../src/wings/gpus/core/type-name.ts';

const MIB = 2 ** 20;
const LIST = JSON.stringify([
  { gpu: 0, bdf: '0000:83:00.0', uuid: 'a-b', hip_uuid: 'GPU-abcd', hip_id: 0 },
]);
const FACTS = {
  gpu: 0,
  asic: { market_name: 'Arcturus GL-XL [Instinct MI100]' },
  driver: { version: '6.3.6' },
  numa: { node: 1 },
  vram: { size: { value: 32_752, unit: 'MB' } },
};
const METRIC = {
  gpu: 0,
  usage: 'N/A',
  mem_usage: { used_vram: { value: 10, unit: 'MB' } },
  power: { socket_power: { value: 38, unit: 'W' } },
  temperature: { edge: 'N/A', hotspot: { value: 44, unit: 'C' } },
};
const PROCESS = {
  gpu: 0,
  process_list: [
    {
      process_info: {
        name: '/usr/bin/ollama',
        pid: 8587,
        memory_usage: { vram_mem: { value: 7 * MIB, unit: 'B' } },
      },
    },
  ],
};
const WARNING = 'WARNING: User is missing the following required groups: render.\n';

test('[V1] amd-smi names cards by the uuid that HIP takes, warnings or not', () => {
  for (const wrap of [(rows: object[]): object => rows, (rows: object[]) => ({ gpu_data: rows })]) {
    const seen = readAmdSmi({
      list: WARNING + LIST,
      static: JSON.stringify(wrap([FACTS])),
      metric: JSON.stringify(wrap([METRIC])),
      process: JSON.stringify([PROCESS]),
    });
    assert.deepEqual(seen, {
      cards: [
        {
          vendor: 'amd',
          uuid: 'GPU-abcd',
          busId: '0000:83:00.0',
          index: 0,
          name: 'Arcturus GL-XL [Instinct MI100]',
          type: 'mi100',
          memoryBytes: 32_752 * MIB,
          memoryUsedBytes: 10 * MIB,
          busyPercent: null,
          ills: [],
          numaNode: 1,
          ordinal: '0',
          watts: 38,
          celsius: 44,
        },
      ],
      processes: [
        { card: 'GPU-abcd', pid: 8587, program: '/usr/bin/ollama', memoryBytes: 7 * MIB },
      ],
      driver: '6.3.6',
    });
  }
});

test('[V5] of amd-smi only the list has to be there', () => {
  const none = { static: '', metric: '{"gpu_', process: '' };
  assert.equal(readAmdSmi({ ...none, list: 'ERROR: no gpu' }), null);
  const seen = readAmdSmi({ ...none, list: LIST });
  assert.deepEqual(
    [seen?.cards.length, seen?.cards[0]?.memoryBytes, seen?.driver],
    [1, null, null],
  );
});

test('[V1] rocm-smi is read by labels of several releases', () => {
  const card = (series: string) => ({
    'Unique ID': '0x79ccd55167a21000',
    'PCI Bus': '0000:01:00.0',
    'VRAM Total Memory (B)': '21458059264',
    'GPU use (%)': '97',
    [series]: 'Radeon RX 7900 XT',
  });
  for (const series of ['Card series', 'Card Series']) {
    const [seen] = readRocmSmi(JSON.stringify({ card0: card(series), system: {} })) ?? [];
    assert.deepEqual(
      [seen?.uuid, seen?.type, seen?.busyPercent, seen?.memoryBytes],
      [...['GPU-79ccd55167a21000', 'rx7900xt', 97, 21_458_059_264]],
    );
  }
  assert.equal(readRocmSmi('ERROR: 8:rsmi_init() failed'), null);
  assert.deepEqual(readRocmPids('{"system": {"PID8587": "ollama, 1, 5560598528, 0, UNKNOWN"}}'), [
    { card: null, pid: 8587, program: 'ollama', memoryBytes: 5_560_598_528 },
  ]);
});

test('[V1] xpu-smi lists cards, itself among their processes, or a text where there is none', () => {
  const cards = readXpuCards(
    JSON.stringify({
      device_list: [
        {
          device_id: 1,
          device_name: 'Intel(R) Data Center GPU Flex 170',
          uuid: 'abc',
          pci_bdf_address: '0000:21:00.0',
        },
      ],
    }),
  );
  assert.deepEqual([cards?.[0]?.type, cards?.[0]?.ordinal], ['flex170', '1']);
  const row = (process_name: string) => ({
    device_id: 1,
    process_id: 42,
    mem_size: 2048,
    process_name,
  });
  const text = JSON.stringify({ device_util_by_proc_list: [row('python'), row('xpu-smi')] });
  assert.deepEqual(readXpuProcesses(text, cards ?? []), [
    { card: 'abc', pid: 42, program: 'python', memoryBytes: 2 * MIB },
  ]);
  assert.equal(readXpuMemory('{"memory_physical_size_byte": "51522830336"}'), 51_522_830_336);
  for (const text of ['', '{}', '{"memory_physical_size_byte": "N/A"}', 'Error']) {
    assert.equal(readXpuMemory(text), null);
  }
  const [used] = withXpuUse(cards ?? [], '0, 1, 1, 1, 1, 1\n1, 14248, 2048, 35, 61, 120.5\n1, 2\n');
  assert.deepEqual(
    [used?.memoryBytes, used?.memoryUsedBytes, used?.busyPercent, used?.celsius, used?.watts],
    [14_248 * MIB, 2048 * MIB, 35, 61, 120.5],
  );
  const [unused] = withXpuUse(cards ?? [], '1, N/A, N/A, N/A, N/A, N/A\n');
  assert.deepEqual(unused, cards?.[0]);
  assert.deepEqual(readXpuCards('{"device_list": "No device discovered"}'), []);
  assert.equal(readXpuCards('Segmentation fault'), null);
});

test('[V1] without a tool a card of AMD is what the kernel lists, but no graphics of a processor', () => {
  const files: Record<string, string> = {
    vendor: '0x1002\n',
    mem_info_vram_total: `${16 * 1024 * MIB}\n`,
    unique_id: '79ccd55167a21000\n',
    uevent: 'DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n',
  };
  const card = cardOfKernel((path) => files[path] ?? '', 0);
  assert.deepEqual([card?.uuid, card?.busId], ['GPU-79ccd55167a21000', '0000:03:00.0']);
  const inside = { ...files, mem_info_vram_total: `${512 * MIB}` } as Record<string, string>;
  assert.equal(
    cardOfKernel((path) => inside[path] ?? '', 0),
    null,
  );
});

test('[V1] types are short, and the same whoever writes the name', () => {
  const names: readonly (readonly [string, string])[] = [
    ['NVIDIA GeForce RTX 4090', 'rtx4090'],
    ['NVIDIA GeForce GTX 1080 Ti', 'gtx1080ti'],
    ['NVIDIA GeForce RTX 4090 Laptop GPU', 'rtx4090laptop'],
    ['NVIDIA A100-SXM4-80GB', 'a100-80g'],
    ['NVIDIA A100-PCIE-40GB', 'a100-40g'],
    ['NVIDIA H100 80GB HBM3', 'h100-80g'],
    ['NVIDIA H200', 'h200'],
    ['NVIDIA RTX A6000', 'a6000'],
    ['NVIDIA RTX 6000 Ada Generation', 'rtx6000ada'],
    ['Tesla V100-SXM2-32GB', 'v100-32g'],
    ['Quadro RTX 8000', 'rtx8000'],
    ['NVIDIA L40S', 'l40s'],
    ['Aldebaran/MI200 [Instinct MI210]', 'mi210'],
    ['AMD Instinct MI300X OAM', 'mi300x'],
    ['Radeon RX 7900 XT', 'rx7900xt'],
    ['Intel(R) Data Center GPU Flex 170', 'flex170'],
    ['Intel(R) Arc(TM) Pro B60 Graphics', 'b60'],
    ['Intel(R) Data Center GPU Max 1550', 'max1550'],
    ['', 'gpu'],
  ];
  for (const [name, type] of names) assert.equal(typeNameOf(name), type);
});

test('[V23] cards of AMD that are joined by xGMI are known by amd-smi, of old releases and new', () => {
  const link = (gpu: number, type: string, status = 'ENABLED') => {
    return { gpu, bdf: `0000:0${gpu}:00.0`, link_status: status, link_type: type, num_hops: 1 };
  };
  const rows = [
    {
      gpu: 0,
      links: [link(0, 'SELF'), link(3, 'PCIE'), link(2, 'XGMI'), link(1, 'XGMI', 'DISABLED')],
    },
    { gpu: 1, links: [link(1, 'SELF'), link(3, 'XGMI')] },
    { gpu: 'x', links: 'none' },
  ];
  const joined = { 0: 0, 2: 0, 1: 1, 3: 1 };
  for (const said of [rows, { gpu_data: rows }]) {
    assert.deepEqual(
      Object.fromEntries(readAmdLinks(WARNING + JSON.stringify(said)) ?? []),
      joined,
    );
  }
  const before = [{ gpu: 1, link_type: { gpu_0: 'XGMI', gpu_1: 'SELF', gpu_2: 'PCIE' } }];
  assert.deepEqual(Object.fromEntries(readAmdLinks(JSON.stringify(before)) ?? []), { 0: 0, 1: 0 });
  for (const wrong of ['', '{}', '[1, null]', '[{"gpu": 0, "links": [7]}]', 'AmdSmiException'])
    assert.equal(readAmdLinks(wrong)?.size ?? 0, 0, wrong);
});

test('[V23] rocm-smi says of each two cards how they are joined', () => {
  const said = (between: string, type: string) => ({
    [`(Topology) Link type between DRM devices ${between}`]: type,
  });
  const system = {
    ...said('0 and 1', 'XGMI'),
    ...said('1 and 2', 'PCIE'),
    ...said('2 and 3', 'XGMI'),
  };
  const joined = readRocmLinks(JSON.stringify({ card0: {}, system })) ?? [];
  assert.deepEqual(Object.fromEntries(joined), { 0: 0, 1: 0, 2: 2, 3: 2 });
  assert.equal(readRocmLinks('{"system": 3}'), null);
});

test('[V1] the version of ROCm is read where one is said', () => {
  const version = (text: string) => JSON.stringify([{ tool: 'AMDSMI Tool', rocm_version: text }]);
  assert.equal(readRocmVersion(version('7.0.1')), '7.0.1');
  assert.equal(readRocmVersion('{"rocm_version": "6.4"}'), '6.4');
  for (const none of [version('N/A'), version('x'.repeat(1000)), '', '[]'])
    assert.equal(readRocmVersion(none), null);
  assert.equal(versionIn('6.1.2-119\n'), '6.1.2');
});
