// Tools that tell what no card can have: what of it a node tells on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstLine, numberOf } from '../../../../../src/wings/gpus/core/cells.ts';
import { readDevices } from '../../../../../src/wings/gpus/core/devices.ts';
import {
  FIELDS,
  readApps,
  readCards,
  readLost,
} from '../../../../../src/wings/gpus/core/nvidia/csv.ts';
import { readLinks } from '../../../../../src/wings/gpus/core/nvidia/links.ts';
import {
  readSlices,
  slicesByPid,
  withInstances,
} from '../../../../../src/wings/gpus/core/nvidia/slices.ts';
import { readAmdSmi } from '../../../../../src/wings/gpus/core/others/amd-smi.ts';
import { readRocmSmi } from '../../../../../src/wings/gpus/core/others/rocm-smi.ts';
import { readXpuCards } from '../../../../../src/wings/gpus/core/others/xpu-smi.ts';
import { soundAnswer } from '../../../../../src/wings/gpus/core/sound.ts';
import { EMPTY, watchCards } from '../../../../../src/wings/gpus/core/watch.ts';
import type { Answer, SeenCard, SeenProcess } from '../../../../../src/wings/gpus/model/answer.ts';
import { GIB } from '../../../../support/nodes.ts';

type Answered = Extract<Answer, { kind: 'answered' }>;

const CARD: SeenCard = {
  ...({ vendor: 'nvidia', uuid: 'GPU-1', busId: '0000:01:00.0', index: 0 } as const),
  ...({ name: 'NVIDIA A100', type: 'a100', memoryBytes: 80 * GIB, memoryUsedBytes: 0 } as const),
  busyPercent: 3,
  ills: [],
};

const NOTHING = { static: '', metric: '', process: '' };

function answer(cards: readonly SeenCard[], more: Partial<Answered> = {}): Answered {
  const whole: Answered = {
    ...({ kind: 'answered', vendor: 'nvidia', driver: '580', remark: null } as const),
    cards,
    lost: [],
    processes: [],
    ...more,
  };
  return soundAnswer(whole) as Answered;
}

test('[V5] what is true stays as it is', () => {
  assert.deepEqual(answer([CARD]).cards, [CARD]);
  assert.equal(answer([CARD]).remark, null);
});

test('[V5] amounts that no card can have are not known', () => {
  const wrong = { index: 0.5, memoryBytes: -5, memoryUsedBytes: 1e26, busyPercent: 500 };
  const [card] = answer([{ ...CARD, ...wrong }]).cards;
  const unknown = { index: null, memoryBytes: null, memoryUsedBytes: null, busyPercent: null };
  assert.deepEqual(card, { ...CARD, ...unknown });
  const [other] = answer([{ ...CARD, index: -1, busyPercent: Number.NaN }]).cards;
  assert.deepEqual([other?.index, other?.busyPercent], [null, null]);
});

test('[V5] words are short and on one line, without signs for a terminal', () => {
  const name = `\u001b[31mA100\u0007\n${'x'.repeat(5000)}`;
  const busId = '../../../etc/passwd';
  const wild = {
    ...CARD,
    name,
    type: 'A100 \u001b',
    busId,
    ills: Array(40).fill(name) as string[],
  };
  const { cards, driver } = answer([wild], { driver: name });
  const [card] = cards;
  assert.match(card?.name ?? '', /^\?\[31mA100\?\?x{80,90}$/);
  assert.deepEqual([card?.type, card?.busId, card?.ills.length], ['gpu', '', 3]);
  assert.ok((driver?.length ?? 0) <= 100);
  const silent = soundAnswer({ kind: 'silent', vendor: 'amd', words: name });
  assert.ok(
    silent.kind === 'silent' && silent.words.length === 200 && !silent.words.includes('\u001b'),
  );
});

test('[V5] what has no uuid is no card, and is told', () => {
  const { cards, remark } = answer([
    CARD,
    { ...CARD, uuid: 'x'.repeat(9000) },
    { ...CARD, uuid: '' },
  ]);
  assert.deepEqual(cards, [CARD]);
  assert.equal(remark, 'what is told of 2 more cannot be of gpus');
  assert.deepEqual(answer([CARD, CARD]).cards, [CARD], 'listed twice');
  const many = Array.from({ length: 5000 }, (_, at) => ({ ...CARD, uuid: `GPU-${at}` }));
  assert.equal(answer(many).cards.length, 1024);
});

test('[V5] numbers as other languages write them are nothing rather than wrong', () => {
  assert.equal(numberOf('24564,50'), null);
  assert.equal(numberOf('24 564'), null);
  assert.equal(numberOf('24564 MiB'), 24_564);
  assert.equal(numberOf('12.5 %'), 12.5);
});

test('[V2] ten thousand processes on one card are looked at, and few are named', () => {
  const processes = Array.from({ length: 10_000 }, (_, at): SeenProcess => {
    return { card: CARD.uuid, pid: at + 1, program: `python ${at}.py`, memoryBytes: 2 ** 20 };
  });
  const strange = [Number.NaN, 0, -1, 1.5, 2 ** 40].map((pid) => ({
    ...(processes[0] as SeenProcess),
    pid,
  }));
  const sound = answer([CARD], { processes: [...processes, ...strange] });
  assert.equal(sound.processes.length, 10_000);
  const owners = new Map(processes.map(({ pid }) => [pid, { user: 'ann', isOurs: false }]));
  const look = {
    answers: [sound],
    given: new Set<string>(),
    holders: new Map(),
    owners,
    isContained: false,
  };
  const rules = { outsideBytesMin: GIB, freeAfterMs: 60_000 };
  let machine = EMPTY;
  const begun = process.cpuUsage();
  for (let at = 0; at < 5; at += 1) {
    const now = { at: at * 10_000, monotonic: at * 10_000 };
    machine = watchCards(machine, { ...look, now }, rules);
  }
  const { user } = process.cpuUsage(begun);
  assert.ok(user / 5000 < 200, `${user / 5000} ms of CPU a look`);
  const card = machine.cards.get(CARD.uuid);
  assert.equal(card?.state, 'used_outside');
  assert.match(
    card?.because ?? '',
    /used outside Weft by ann \(python 0\.py, 1M, .*\) and 9999 more/,
  );
});

test('[V5] a place that no card can have is not known, and a part of nothing is no card', () => {
  for (const numaNode of [1.5, -1, 1e300, Number.NaN]) {
    const [card] = answer([{ ...CARD, numaNode, linkedWith: 'x'.repeat(5000) }]).cards;
    assert.deepEqual(card, CARD);
  }
  assert.equal(answer([{ ...CARD, numaNode: 1 }]).cards[0]?.numaNode, 1);
  assert.deepEqual(answer([{ ...CARD, partOf: 'GPU-1 \u001b' }]).cards, []);
  assert.deepEqual(answer([{ ...CARD, ordinal: '1e+30,0' }]).cards, []);
});

/** What a tool may print at most; `of`: what is said over and over. */
function flood(of: string): string {
  return of.repeat(Math.floor(4_000_000 / of.length));
}

test('[V5] four megabytes of nonsense are read in bounded time, whatever they look like', () => {
  const floods: Readonly<Record<string, () => unknown>> = {
    rows: () => readCards(flood('0, GPU-1, '), FIELDS),
    'one long row': () => readApps(`GPU-1, 7, ${flood('python, ')}, 3`),
    lost: () => readLost(flood('Unable to determine the device handle for GPU0: ')),
    'slices on one line': () => readSlices(`GPU 0: ${flood('(UUID: GPU-')}`),
    'slices that never end': () => readSlices(flood('GPU 0: (UUID: GPU-\n')),
    elements: () => withInstances([], flood('<gpu>')),
    'elements within others': () => withInstances([], `<gpu>${flood('<mig_device>')}</gpu>`),
    'elements with words': () => slicesByPid(flood('<gpu id="1" '), []),
    links: () => readLinks(`${flood('GPU1\t')}\nGPU1\t${flood('NV4\t')}`),
    'rows of JSON, cut off': () => readAmdSmi({ ...NOTHING, list: `[\n${flood('{"gpu": 1},\n')}` }),
    'JSON within JSON': () => readXpuCards(flood('[')),
    'lists line by line': () => readRocmSmi(flood('{\n')),
    spaces: () => readDevices(flood(' ')),
    'empty lines': () => readDevices(flood('\n')),
    'first line': () => firstLine(flood('\u00e4')),
  };
  for (const [what, read] of Object.entries(floods)) {
    const begun = process.cpuUsage();
    read();
    const { user } = process.cpuUsage(begun);
    assert.ok(user < 2_000_000, `${what}: ${user / 1000} ms of CPU`);
  }
});
