// Which cards of a machine are a node's, by which numbers, and what tasks find of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calmed } from '../../../../../src/wings/gpus/core/calm.ts';
import {
  type CardChoice,
  ownCards,
  unmetNames,
} from '../../../../../src/wings/gpus/core/own-cards.ts';
import { type Given, variablesOf } from '../../../../../src/wings/gpus/core/variables.ts';
import { programName } from '../../../../../src/wings/gpus/core/words.ts';
import { card, GIB } from '../../../../support/nodes.ts';

const MACHINE = [0, 1, 2, 3].map((index) => ({
  uuid: `GPU-${'abcd'[index]}0`,
  index,
  busId: `0000:0${index}:00.0`,
  vendor: 'nvidia',
}));
const ALL: CardChoice = { count: null, from: 0, only: null };
const NOBODY: ReadonlySet<string> = new Set();

test('[V1] a node keeps its cards by uuid, wherever they stand after a restart', () => {
  const first = ownCards([], MACHINE, NOBODY, ALL);
  assert.deepEqual(first, ['GPU-a0', 'GPU-b0', 'GPU-c0', 'GPU-d0']);
  const moved = [...MACHINE].reverse().map((one, index) => ({ ...one, index }));
  assert.deepEqual(ownCards(first, moved, NOBODY, ALL), first);
  const more = [{ uuid: 'GPU-new', index: 0, busId: '', vendor: 'nvidia' }, ...moved];
  assert.deepEqual(ownCards(first, more, NOBODY, ALL), [...first, 'GPU-new']);
});

test('[V6] nodes of one machine have cards of their own, by share', () => {
  const share = (from: number): CardChoice => ({ count: 2, from, only: null });
  const one = ownCards([], MACHINE, NOBODY, share(0));
  const other = ownCards([], MACHINE, new Set(one), share(2));
  assert.deepEqual(
    [one, other],
    [
      ['GPU-a0', 'GPU-b0'],
      ['GPU-c0', 'GPU-d0'],
    ],
  );
  const moved = [...MACHINE].reverse();
  assert.deepEqual(ownCards(one, moved, new Set(other), share(0)), one);
  assert.deepEqual(ownCards([], MACHINE, new Set(['GPU-c0']), share(2)), ['GPU-d0']);
});

test('[V6] or by list: numbers, uuids or their beginnings, addresses', () => {
  const only = (...names: string[]): string[] =>
    ownCards([], MACHINE, NOBODY, { ...ALL, only: names });
  assert.deepEqual(only('1', '3'), ['GPU-b0', 'GPU-d0']);
  assert.deepEqual(only('gpu-a'), ['GPU-a0']);
  assert.deepEqual(only('02:00.0'), ['GPU-c0']);
  assert.deepEqual(only('nvidia:2', 'amd:1'), ['GPU-c0']);
  assert.deepEqual(only('9'), []);
});

test('[V6] a number that cards of two makers have stands for none of them', () => {
  const [first, ...others] = MACHINE;
  assert.ok(first !== undefined);
  const mixed = [first, { ...first, uuid: 'GPU-amd', vendor: 'amd' }, ...others];
  const wish = (...only: string[]) => ({ ...ALL, only });
  assert.deepEqual(ownCards([], mixed, NOBODY, wish('0', '1')), ['GPU-b0']);
  assert.deepEqual(ownCards([], mixed, NOBODY, wish('amd:0')), ['GPU-amd']);
  assert.deepEqual(unmetNames(mixed, wish('0', '1', 'x')), [
    { name: '0', makers: ['amd', 'nvidia'] },
    { name: 'x', makers: [] },
  ]);
});

const NVIDIA = [card(0, { uuid: 'GPU-a' }), card(1, { uuid: 'GPU-b' })];
const AMD = { ...card(2, { uuid: 'GPU-c', vendor: 'amd', label: 'amd:0' }), ordinal: '0' };

function variables(numbers: readonly number[], cards: Given['cards'] = NVIDIA) {
  const vendors = new Set(cards.map(({ vendor }) => vendor));
  return variablesOf({ numbers, cards, vendors, countOfMachine: cards.length, shareBytes: null });
}

test('[V4] a task finds its own cards by uuid, and one without any finds none', () => {
  assert.deepEqual(variables([1]), {
    WEFT_GPUS: '1',
    WEFT_GPU_UUIDS: 'GPU-b',
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    CUDA_VISIBLE_DEVICES: 'GPU-b',
    NVIDIA_VISIBLE_DEVICES: 'GPU-b',
  });
  const none = variables([]);
  assert.deepEqual([none['CUDA_VISIBLE_DEVICES'], none['NVIDIA_VISIBLE_DEVICES']], ['', 'void']);
});

test('[V4] beside cards of another maker each library sees its own', () => {
  const both = [...NVIDIA, AMD];
  assert.deepEqual(variables([0, 2], both), {
    WEFT_GPUS: '0,amd:0',
    WEFT_GPU_UUIDS: 'GPU-a,GPU-c',
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    CUDA_VISIBLE_DEVICES: 'GPU-a',
    NVIDIA_VISIBLE_DEVICES: 'GPU-a',
    ROCR_VISIBLE_DEVICES: 'GPU-c',
    HIP_VISIBLE_DEVICES: '0',
  });
  const { ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES } = variables([], both);
  assert.deepEqual(
    [ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES],
    [...['', '-1', '']],
  );
  assert.equal(variables([2], [AMD])['CUDA_VISIBLE_DEVICES'], '0', 'HIP reads it, too');
  const intel = { ...card(0, { uuid: 'x', vendor: 'intel' }), ordinal: '0' };
  assert.equal(variables([0], [intel])['ZE_AFFINITY_MASK'], '0');
  assert.equal(variables([], [intel])['ZE_AFFINITY_MASK'], '1', 'an empty one would mean all');
});

test('[V4] where cards are not known, the numbers that a task has must do', () => {
  assert.deepEqual(variables([0], []), {});
  assert.deepEqual(variables([0, 5]), {});
});

test('[V2] memory that changes a little is no news', () => {
  const used = (bytes: number, why = `used by ann (python, ${bytes / GIB}G)`) =>
    card(0, {
      state: 'used_outside',
      why,
      users: [{ pid: 1, user: 'ann', program: 'python', memoryBytes: bytes, since: 0 }],
    });
  const before = used(20 * GIB);
  assert.equal(calmed(before, used(21 * GIB)), before);
  assert.notEqual(calmed(before, used(30 * GIB)), before);
  assert.notEqual(calmed(before, { ...used(20 * GIB), state: 'ill' }), before);
  assert.notEqual(calmed(before, card(0)), before);
});

test('[V2] of a command line only program and script are told', () => {
  const names: readonly (readonly [string, string])[] = [
    ['/usr/bin/kwin_wayland', 'kwin_wayland'],
    ['/srv/ben/bin/python3.11 train.py, --lr 1e-4', 'python3.11 train.py'],
    ['python /srv/lab/train.py --token secret', 'python train.py'],
    ['python secret', 'python'],
    ['[Not Found]', 'a program without a name'],
    ['', 'a program without a name'],
  ];
  for (const [command, name] of names) assert.equal(programName(command), name);
});
