// Tools that tell what no card can have: what of it a node tells on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numberOf } from '../../../../../src/wings/gpus/core/cells.ts';
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
  const look = { answers: [sound], given: new Set<string>(), owners, isContained: false };
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
