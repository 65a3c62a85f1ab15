// What an administrator might change about a machine with cards of NVIDIA.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cudaVersionIn,
  driverWords,
  type MachineSetUp,
  setUpNotes,
} from '../../../../../src/wings/gpus/core/nvidia/set-up.ts';

const WELL: MachineSetUp = {
  driver: '580.95.05',
  cards: [
    { index: 0, persistence: 'Enabled', compute: 'Default' },
    { index: 1, persistence: '[N/A]', compute: '[N/A]' },
  ],
  hasMps: false,
  hasDocker: true,
  hasPodman: true,
  hasToolkit: true,
  specifications: new Map([
    ['/etc/cdi/nvidia.yaml', 'kind: nvidia.com/gpu\n- hostPath: /usr/lib/libcuda.so.580.95.05\n'],
    ['/etc/cdi/other.yaml', 'kind: intel.com/gpu\n'],
  ]),
};

test('[V30] of a machine that is set up well there is nothing to say', () => {
  assert.deepEqual(setUpNotes(WELL), []);
  const bare = { hasDocker: false, hasPodman: false, hasToolkit: false };
  assert.deepEqual(setUpNotes({ ...WELL, ...bare, specifications: new Map() }), []);
});

test('[V30] persistence that is off is said, of all cards or of some', () => {
  const [first, second] = WELL.cards as [MachineSetUp['cards'][0], MachineSetUp['cards'][0]];
  const off = { ...first, persistence: 'Disabled' };
  const [some] = setUpNotes({ ...WELL, cards: [off, second] });
  assert.match(some ?? '', /^persistence mode of 1 gpu is off: /);
  assert.match(setUpNotes({ ...WELL, cards: [off, off] })[0] ?? '', /^persistence mode is off: /);
});

test('[V30] a card for one process at a time needs MPS to be shared', () => {
  const cards = [{ index: 3, persistence: '', compute: 'Exclusive_Process' }];
  const [words] = setUpNotes({ ...WELL, cards });
  assert.match(words ?? '', /^compute mode of gpu 3 is Exclusive_Process, and no MPS runs/);
  assert.deepEqual(setUpNotes({ ...WELL, cards, hasMps: true }), []);
});

test('[V30] containers need a toolkit, or a specification of the driver that is loaded', () => {
  const none = { ...WELL, hasToolkit: false, specifications: new Map() };
  const [docker, podman] = setUpNotes(none);
  assert.match(docker ?? '', /^docker gives containers no gpus: there is no nvidia-container-/);
  assert.match(podman ?? '', /^podman gives containers no gpus: there is no CDI specification/);
  const [old] = setUpNotes({ ...WELL, driver: '590.1.2' });
  assert.match(old ?? '', /nvidia\.yaml is of driver 580\.95\.05, and 590\.1\.2 is loaded/);
  assert.deepEqual(setUpNotes({ ...WELL, driver: null }), [], 'not known');
});

test('[V1] the version of CUDA stands beside that of the driver', () => {
  const text =
    'NVIDIA-SMI version  : 580.95.05\nDRIVER version : 580.95.05\nCUDA Version        : 13.0\n';
  assert.equal(cudaVersionIn(text), '13.0');
  assert.equal(cudaVersionIn('CUDA Version : N/A\n'), null);
  assert.equal(
    driverWords('580.95.05', '13.0', { hasMps: true }),
    '580.95.05 (CUDA 13.0, MPS runs)',
  );
  assert.equal(driverWords('580.95.05', null, WELL), '580.95.05');
});
