// What owners of machines ask of single cards, and who may.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeepReply } from '../../../../../src/kernel/model/agent-socket.ts';
import { keeping } from '../../../../../src/wings/gpus/agent/keeping.ts';
import { cardNamed, keepsAt, withKeep } from '../../../../../src/wings/gpus/core/keeps.ts';
import type { Keep } from '../../../../../src/wings/gpus/model/keep.ts';
import { givenWords } from '../../../../../src/wings/owner/cli/keep-gpus.ts';
import { card } from '../../../../support/nodes.ts';

const HOUR = 3_600_000;
const CARDS = [card(0, { uuid: 'GPU-aaaa-1' }), card(1, { uuid: 'GPU-aabb-2', label: 'amd:0' })];

function asked() {
  const kept: (readonly [string, Keep | null])[] = [];
  const ask = keeping({
    node: 'n1',
    rights: {
      owners: ['ann'],
      uid: 900,
      isAtConsole: ({ name }) => Promise.resolve(name === 'eve'),
    },
    maxMs: 4 * HOUR,
    clock: { now: () => 1000 },
    cards: () => CARDS,
    tasksOn: ({ number }) => (number === 0 ? ['7#1'] : []),
    isKept: (uuid) => kept.findLast(([one]) => one === uuid)?.[1] != null,
    keep: (uuid, keep) => kept.push([uuid, keep]),
  });
  const say = async (name: string, body: object): Promise<string> => {
    const answer = await ask({ name, uid: 1234 }, body as Record<string, unknown>);
    return answer.ok ? 'ok' : answer.error.code;
  };
  return { kept, ask, say };
}

test('[V29] owners and whoever is at the console keep cards, and nobody else', async () => {
  const { kept, say } = asked();
  const wish = { gpu: '0', durationMs: HOUR };
  const all = await Promise.all(['ann', 'eve', 'ben'].map((name) => say(name, wish)));
  assert.deepEqual(all, ['ok', 'ok', 'node.not_owner']);
  const keep = { uuid: 'GPU-aaaa-1', since: 1000, until: 1000 + HOUR };
  assert.deepEqual(kept, [
    ['GPU-aaaa-1', { ...keep, by: 'ann' }],
    ['GPU-aaaa-1', { ...keep, by: 'eve' }],
  ]);
});

test('[V29] tasks that have the card are told of, and it is given back', async () => {
  const { kept, ask } = asked();
  const answer = await ask({ name: 'ann', uid: 1 }, { gpu: '0', durationMs: HOUR });
  assert.deepEqual(answer.ok && answer.value, {
    node: 'n1',
    gpu: '0',
    until: 1000 + HOUR,
    tasks: ['7#1'],
    wasKept: false,
    why: null,
  });
  const back = await ask({ name: 'ann', uid: 1 }, { gpu: '0', durationMs: 0 });
  assert.equal(back.ok && (back.value as KeepReply).wasKept, true);
  const never = await ask({ name: 'ann', uid: 1 }, { gpu: 'gpu-aabb', durationMs: 0 });
  assert.equal(never.ok && (never.value as KeepReply).wasKept, false);
  assert.deepEqual(kept.at(-1), ['GPU-aabb-2', null]);
});

test('[V29] what cannot be is refused', async () => {
  const { kept, say } = asked();
  for (const [gpu, durationMs, code] of [
    ['5', HOUR, 'argument.invalid'],
    ['', HOUR, 'argument.invalid'],
    ['GPU-aa', HOUR, 'argument.invalid'],
    ['0', 5 * HOUR, 'pause.too_long'],
    ['0', 1, 'argument.invalid'],
    ['0', -1, 'request.malformed'],
    ['0', 1.5, 'request.malformed'],
    [0, HOUR, 'request.malformed'],
    ['0', undefined, 'request.malformed'],
  ] as const) {
    assert.equal(await say('ann', { gpu, durationMs }), code, `${gpu} ${durationMs}`);
  }
  assert.deepEqual(kept, []);
});

test('[V29] a card is kept until then, and what else keeps it from being given says more', () => {
  const keep = { uuid: 'GPU-aaaa-1', by: 'ann', since: 0, until: HOUR };
  const keeps = [keep, { ...keep, uuid: 'GPU-x', until: 2 * HOUR }];
  assert.equal(keepsAt(keeps, 0), keeps);
  assert.deepEqual(
    keepsAt(keeps, HOUR).map(({ uuid }) => uuid),
    ['GPU-x'],
  );
  const [first, second] = CARDS as [(typeof CARDS)[0], (typeof CARDS)[0]];
  const shown = withKeep(first, keeps);
  assert.deepEqual(
    [shown.state, shown.why],
    ['used_outside', 'kept for ann until 1970-01-01T01:00:00Z'],
  );
  assert.equal(withKeep(second, keeps), second);
  const ill = { ...first, state: 'ill', why: 'ill: lost' } as const;
  assert.equal(withKeep(ill, keeps), ill);
  assert.equal(cardNamed(CARDS, 'amd:0')?.number, 1);
  assert.equal(cardNamed(CARDS, '1'), undefined, 'its label is another');
});

test('[V29] who gives back a card is told what still keeps it from tasks', () => {
  const why = 'used outside Weft by ann';
  for (const [reply, words] of [
    [{ wasKept: true, why: null }, 'is given to tasks again'],
    [{}, 'is given to tasks again'],
    [{ wasKept: false, why: null }, 'was not kept: it is given to tasks'],
    [{ wasKept: false, why }, `was not kept: it is ${why}`],
    [{ wasKept: true, why }, `is kept no more: it is ${why}`],
  ] as const) {
    assert.equal(givenWords(reply), words);
  }
});
