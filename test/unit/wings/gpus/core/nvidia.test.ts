// What `nvidia-smi` prints, whole and broken, and what is read of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FIELDS,
  failureIn,
  readApps,
  readCards,
  readLost,
  unknownField,
} from '../../../../../src/wings/gpus/core/nvidia/csv.ts';
import { cardOfDriver } from '../../../../../src/wings/gpus/core/nvidia/driver-file.ts';
import { readLinks } from '../../../../../src/wings/gpus/core/nvidia/links.ts';
import {
  placeOnSlices,
  readSlices,
  slicesByPid,
  withInstances,
  withSlices,
} from '../../../../../src/wings/gpus/core/nvidia/slices.ts';

const GPU = 'GPU-11111111-2222-3333-4444-555555555555';
const MIB = 2 ** 20;

function row(cells: Partial<Record<string, string>> = {}): string {
  const usual: Record<string, string> = {
    index: '0',
    uuid: GPU,
    'pci.bus_id': '00000000:0A:00.0',
    name: 'NVIDIA GeForce RTX 4090',
    'memory.total': '24564',
    'memory.used': '12',
    'utilization.gpu': '3',
    'mig.mode.current': '[N/A]',
    driver_version: '580.95.05',
    gpu_recovery_action: 'None',
    'ecc.errors.corrected.volatile.total': '[N/A]',
    'ecc.errors.uncorrected.volatile.total': '[N/A]',
    'remapped_rows.pending': '[N/A]',
    'remapped_rows.failure': 'No',
    'retired_pages.pending': '[N/A]',
    'power.draw': '38.12',
    'temperature.gpu': '44',
    persistence_mode: 'Enabled',
    compute_mode: 'Default',
    'clocks_event_reasons.active': '0x0000000000000001',
    'clocks_throttle_reasons.active': '[N/A]',
  };
  return FIELDS.map((field) => cells[field] ?? usual[field]).join(', ');
}

const illsOf = (cells: Partial<Record<string, string>>) =>
  readCards(row(cells), FIELDS)[0]?.card.ills;

test('[V1] a row is a card by its uuid, with the address as the kernel writes it', () => {
  assert.deepEqual(readCards(`${row()}\n`, FIELDS), [
    {
      card: {
        vendor: 'nvidia',
        uuid: GPU,
        busId: '0000:0a:00.0',
        index: 0,
        name: 'NVIDIA GeForce RTX 4090',
        type: 'rtx4090',
        memoryBytes: 24_564 * MIB,
        memoryUsedBytes: 12 * MIB,
        busyPercent: 3,
        slowedBy: null,
        ills: [],
        watts: 38.12,
        celsius: 44,
      },
      driver: '580.95.05',
      isCleared: true,
      isCut: false,
      persistence: 'Enabled',
      compute: 'Default',
    },
  ]);
});

test('[V1] what keeps a card slow is told, and a limit of power is nothing unusual', () => {
  const slowed = (event: string, throttle = '[N/A]') => {
    const cells = {
      'clocks_event_reasons.active': event,
      'clocks_throttle_reasons.active': throttle,
    };
    return readCards(row(cells), FIELDS)[0]?.card.slowedBy;
  };
  assert.equal(slowed('0x0000000000000005'), null);
  assert.equal(slowed('[N/A]'), undefined, 'nobody says');
  assert.equal(slowed('0x0000000000000024'), 'heat');
  assert.equal(slowed('[N/A]', '0x0000000000000080'), 'power');
  assert.equal(slowed('0x0000000000000008'), 'hardware');
  for (const cell of ['8', '0x', '0xzz', `0x${'f'.repeat(40)}`])
    assert.equal(slowed(cell), undefined);
});

test('[V11] errors that a card has corrected are counted, and are no illness', () => {
  const cells = { 'ecc.errors.corrected.volatile.total': '17' };
  const [seen] = readCards(row(cells), FIELDS);
  assert.deepEqual([seen?.card.correctedErrors, seen?.card.ills], [17, []]);
});

test('[V5] what is cut off or garbage is no card, and what is not known is nothing', () => {
  assert.deepEqual(readCards(row().slice(0, 60), FIELDS), []);
  assert.deepEqual(readCards('\x00\xff, GPU', FIELDS), []);
  const [seen] = readCards(row({ 'memory.total': '[Insufficient Permissions]' }), FIELDS);
  assert.equal(seen?.card.memoryBytes, null);
  assert.equal(failureIn(''), null);
});

test('[V3] a lost card is told by its address, and leaves the rows of the others', () => {
  const lost =
    'Unable to determine the device handle for GPU1: 0000:1B:00.0: GPU is lost.  Reboot the system';
  const text = `${row()}\n${lost}\n`;
  assert.equal(readCards(text, FIELDS).length, 1);
  assert.deepEqual(readLost(text), [
    { busId: '0000:1b:00.0', words: 'GPU is lost.  Reboot the system' },
  ]);
  const older = 'Unable to determine the device handle for GPU 0000:05:00.0: Unknown Error';
  assert.deepEqual(readLost(older), [{ busId: '0000:05:00.0', words: 'Unknown Error' }]);
});

test('[V3] a driver tells by several signs that a card should get no new work', () => {
  assert.deepEqual(illsOf({ 'utilization.gpu': '[GPU requires reset]' }), ['GPU requires reset']);
  assert.deepEqual(illsOf({ gpu_recovery_action: 'Drain and Reset' }), [
    'recovery action: Drain and Reset',
  ]);
  assert.deepEqual(illsOf({ 'ecc.errors.uncorrected.volatile.total': '2' }), [
    '2 uncorrected memory errors since the driver was loaded',
  ]);
  assert.deepEqual(illsOf({ 'remapped_rows.failure': 'Yes' }), [
    'remapping of a memory row has failed',
  ]);
  assert.deepEqual(illsOf({ 'retired_pages.pending': 'Yes' }), [
    'a memory page is retired at the next reset',
  ]);
  assert.deepEqual(illsOf({ compute_mode: 'Prohibited' }), [
    'compute mode Prohibited lets no program use it',
  ]);
  const words = ['[N/A]', '[Not Supported]', '[Unknown Error]', 'ERR!', 'N/A'];
  for (const word of words) assert.deepEqual(illsOf({ gpu_recovery_action: word }), [], word);
});

test('[V5] a field that a driver does not know is named, and so is a driver that fails', () => {
  assert.equal(
    unknownField('Field "gpu_recovery_action" is not a valid field to query.'),
    'gpu_recovery_action',
  );
  const mismatch = 'Failed to initialize NVML: Driver/library version mismatch';
  assert.equal(failureIn(`${mismatch}\nNVML library version: 535.161\n`), mismatch);
  assert.equal(failureIn('No devices were found\n'), 'No devices were found');
});

test('[V2] a process is told with the whole of its name, commas and all', () => {
  assert.deepEqual(readApps(`${GPU}, 4711, python train.py, --lr 1, 2048\nnonsense\n`), [
    { card: GPU, pid: 4711, program: 'python train.py, --lr 1', memoryBytes: 2048 * MIB },
  ]);
  assert.equal(readApps(`${GPU}, 4711, python, [N/A]`)[0]?.memoryBytes, null);
});

const LIST = `GPU 0: NVIDIA A100-SXM4-80GB (UUID: ${GPU})
  MIG 3g.40gb     Device  0: (UUID: MIG-aaaaaaaa-0000)
  MIG 1g.10gb     Device  1: (UUID: MIG-bbbbbbbb-0000)
`;
const CUT = { name: 'NVIDIA A100-SXM4-80GB', 'mig.mode.current': 'Enabled' };

test('[V1] of a card that is cut, its slices are given', () => {
  const cards = withSlices(readCards(row(CUT), FIELDS), readSlices(LIST));
  assert.deepEqual(
    cards.map(({ uuid, type, memoryBytes, partOf, ordinal }) => [
      ...[uuid, type, memoryBytes, partOf, ordinal],
    ]),
    [
      ['MIG-aaaaaaaa-0000', 'a100-3g.40g', 40 * 1024 * MIB, GPU, '0:0'],
      ['MIG-bbbbbbbb-0000', 'a100-1g.10g', 10 * 1024 * MIB, GPU, '0:1'],
    ],
  );
});

test('[V2] a process is on its slice, or on all of a card where nobody says on which', () => {
  const slices = readSlices(LIST);
  const xml = `<gpu id="1"><mig_device><index>1</index><gpu_instance_id>9</gpu_instance_id></mig_device>
<uuid>${GPU}</uuid><process_info><gpu_instance_id>9</gpu_instance_id><pid>4711</pid></process_info></gpu>`;
  const apps = readApps(`${GPU}, 4711, python, 2048`);
  const cardsOf = (text: string) =>
    placeOnSlices(apps, slices, slicesByPid(text, withInstances(slices, text))).map(
      ({ card }) => card,
    );
  assert.deepEqual(cardsOf(xml), ['MIG-bbbbbbbb-0000']);
  const both = ['MIG-aaaaaaaa-0000', 'MIG-bbbbbbbb-0000'];
  assert.deepEqual(cardsOf(xml.slice(0, 120)), both, 'an answer that is cut off');
  assert.deepEqual(cardsOf(''), both);
});

test('[V1] without its tool a card is what the driver lists of it', () => {
  const text = `Model: \t\t Tesla T4\nGPU UUID: \t ${GPU}\nBus Location: \t 0000:3b:00.0\n`;
  const card = cardOfDriver(text, 2);
  assert.deepEqual(
    [card?.type, card?.uuid, card?.busId, card?.index],
    [...['t4', GPU, '0000:3b:00.0', 2]],
  );
  assert.equal(cardOfDriver('GPU UUID: GPU-????????-????', 0), null, 'one that sleeps');
});

const TOPO = [
  '\t\u001b[4mGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u001b[0m',
  'GPU0\t X \tNV4\tSYS\tSYS\tSYS\tPIX\t0-31\t0\t\tN/A',
  'GPU1\tNV4\t X \tSYS\tSYS\tSYS\tNODE\t0-31\t0\t\tN/A',
  'GPU2\tSYS\tSYS\t X \tNV12\tPHB\tSYS\t32-63\t1\t\tN/A',
  'GPU3\tSYS\tSYS\tNV12\t X \tPHB\tSYS\t32-63\t1\t\tN/A',
  'GPU4\tSYS\tSYS\tPHB\tPHB\t X \tSYS\t32-63\t1\t\tN/A',
  'NIC0\tPIX\tNODE\tSYS\tSYS\tSYS\t X ',
  '',
  'Legend:',
  '  NV#  = Connection traversing a bonded set of # NVLinks',
];

test('[V23] the table of links says which cards are joined, and nonsense says nothing', () => {
  const links = readLinks(TOPO.join('\n'));
  assert.deepEqual(Object.fromEntries(links), { 0: 0, 1: 0, 2: 2, 3: 2 });
  for (const wrong of ['', 'garbage', '\t\t\nGPU0\tNV4', TOPO[0] ?? '', TOPO.slice(1).join('\n')])
    assert.equal(readLinks(wrong).size, 0, wrong);
  const chain = [
    '\tGPU0\tGPU1\tGPU2',
    'GPU0\tX\tSYS\tNV1',
    'GPU1\tSYS\tX\tNV1',
    'GPU2\tNV1\tNV1\tX',
  ];
  assert.deepEqual(Object.fromEntries(readLinks(chain.join('\n'))), { 0: 0, 1: 0, 2: 0 });
});
