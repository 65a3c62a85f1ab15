// Cards from look to look: which may be given, which not, why, and when again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Look, Machine } from '../../../../../src/wings/gpus/core/state.ts';
import { EMPTY, remembered, watchCards } from '../../../../../src/wings/gpus/core/watch.ts';
import { whyOf } from '../../../../../src/wings/gpus/core/words.ts';
import type {
  Answer,
  ProcessOwner,
  SeenCard,
  SeenProcess,
} from '../../../../../src/wings/gpus/model/answer.ts';

const GIB = 2 ** 30;
const RULES = { outsideBytesMin: GIB, freeAfterMs: 60_000 };
const ANN: ProcessOwner = { user: 'ann', isOurs: false };
const OURS: ProcessOwner = { user: 'bob', isOurs: true };

function seen(number: number, fields: Partial<SeenCard> = {}): SeenCard {
  return {
    vendor: 'nvidia',
    uuid: `GPU-${number}`,
    busId: `0000:0${number}:00.0`,
    index: number,
    name: 'NVIDIA L40S',
    type: 'l40s',
    memoryBytes: 48 * GIB,
    memoryUsedBytes: 0,
    busyPercent: 0,
    ills: [],
    ...fields,
  };
}

function on(card: number, fields: Partial<SeenProcess> = {}): SeenProcess {
  return {
    card: `GPU-${card}`,
    pid: 42,
    program: '/usr/bin/python train.py --token x',
    memoryBytes: 21 * GIB,
    ...fields,
  };
}

type Answered = Extract<Answer, { kind: 'answered' }>;

function answer(fields: Partial<Answered> = {}): Answer {
  return {
    kind: 'answered',
    vendor: 'nvidia',
    driver: '580.1',
    cards: [seen(0), seen(1)],
    lost: [],
    processes: [],
    remark: null,
    ...fields,
  };
}

/** A machine that is looked at every ten seconds. */
class Watched {
  machine: Machine = EMPTY;
  at = 0;

  look(answers: Answer | readonly Answer[], more: Partial<Look> = {}): string {
    const look: Look = {
      answers: [answers].flat() as readonly Answer[],
      owners: new Map(),
      given: new Set(),
      holders: new Map(),
      isContained: false,
      now: { at: this.at, monotonic: this.at },
      ...more,
    };
    this.machine = watchCards(this.machine, look, RULES);
    this.at += 10_000;
    return this.states;
  }

  get states(): string {
    return [...this.machine.cards.values()].map(({ state }) => state).join(' ');
  }

  why(number: number): string | null {
    const card = this.machine.cards.get(`GPU-${number}`);
    return card === undefined ? 'no such card' : whyOf(card, RULES.freeAfterMs);
  }

  remark(vendor = 'nvidia'): string | null {
    return this.machine.makers.get(vendor)?.remark ?? null;
  }
}

const OF_ANN: Partial<Look> = { owners: new Map([[42, ANN]]) };

test('[V2] a card is free, used by somebody, and free again a while after', () => {
  const watched = new Watched();
  assert.equal(watched.look(answer()), 'free free');
  assert.equal(watched.look(answer({ processes: [on(1)] }), OF_ANN), 'free used_outside');
  const used = 'used outside Weft by ann (python train.py, 21G, since 1970-01-01T00:00:10Z)';
  assert.equal(watched.why(1), used);
  assert.equal(watched.look(answer({ processes: [on(1)] }), OF_ANN), 'free used_outside');
  assert.equal(watched.why(1), used, 'since it was seen first');
  assert.equal(watched.look(answer()), 'free used_outside');
  assert.equal(watched.why(1), `${used}, until 1970-01-01T00:00:30Z; given again 1m later`);
  for (let looks = 0; looks < 5; looks += 1)
    assert.equal(watched.look(answer()), 'free used_outside');
  assert.equal(watched.look(answer()), 'free free');
  assert.equal(watched.why(1), null);
});

test('[V2] a task is not somebody else, and a card that it has is not used outside', () => {
  const watched = new Watched();
  const more = { owners: new Map([[42, OURS]]), given: new Set(['GPU-1']) };
  const cards = [seen(0), seen(1, { busyPercent: 99, memoryUsedBytes: 30 * GIB })];
  for (let looks = 0; looks < 3; looks += 1) {
    assert.equal(watched.look(answer({ cards, processes: [on(1)] }), more), 'free free');
  }
});

const HOLDERS = new Map([
  ['own:1', { task: '7#1', cards: new Set(['GPU-1']) }],
  ['own:2', { task: '8#1', cards: new Set<string>() }],
]);

/** With one process on card 1. */
function lookOf(owner: ProcessOwner, fields: Partial<SeenProcess> = {}): [Answer, Partial<Look>] {
  const owners = new Map([[42, owner]]);
  return [answer({ processes: [on(1, fields)] }), { owners, holders: HOLDERS }];
}

test('[V2] a task that uses a card without having it keeps it from others, and is named', () => {
  const watched = new Watched();
  assert.equal(watched.look(...lookOf({ ...OURS, mark: 'own:1' })), 'free free');
  assert.equal(watched.look(...lookOf({ ...OURS, mark: 'own:2' })), 'free used_outside');
  const words = 'used by 8#1 of bob without asking (python train.py, 21G, since ';
  assert.equal(watched.why(1)?.startsWith(words), true, watched.why(1) ?? '');
  assert.equal(watched.machine.cards.get('GPU-1')?.crowd.users[0]?.task, '8#1');
  const other = new Watched();
  other.look(answer());
  const [said, more] = lookOf({ ...OURS, mark: 'own:1' });
  const onZero = { ...(said as Answered), processes: [on(0)] };
  assert.equal(other.look(onZero, more), 'used_outside free', 'its own is another');
});

test('[V2] a mark of no task here makes nobody a task for longer than a look', () => {
  const watched = new Watched();
  watched.look(answer());
  const over = lookOf({ ...ANN, mark: 'own:99' });
  assert.equal(watched.look(...over), 'free free', 'it may end at this moment');
  assert.equal(watched.look(...over), 'free used_outside');
  assert.equal(new Watched().look(...lookOf({ ...OURS, mark: 'own:99' })), 'free free');
});

test('[V2] a process of a task on nobody knows which card or slice is on its own', () => {
  const cards = [seen(0), seen(1, { memoryUsedBytes: 3 * GIB })];
  const nowhere = answer({ cards, processes: [on(1, { card: null })] });
  const owners = new Map([[42, { ...OURS, mark: 'own:1' }]]);
  assert.equal(new Watched().look(nowhere, { owners, holders: HOLDERS }), 'free free');
  const sliced = answer({ cards: [seen(0), seen(1, { partOf: 'GPU-9' })], processes: [on(1)] });
  const holders = new Map([['own:1', { task: '7#1', cards: new Set(['MIG-2', 'GPU-9']) }]]);
  assert.equal(new Watched().look(sliced, { owners, holders }), 'free free');
});

test('[V2] a compositor and an idle notebook keep nobody out; small programs that work do', () => {
  const small = answer({ processes: [on(0, { memoryBytes: 25 * 2 ** 20 })] });
  const watched = new Watched();
  for (let looks = 0; looks < 3; looks += 1) assert.equal(watched.look(small, OF_ANN), 'free free');
  const working = answer({
    cards: [seen(0, { busyPercent: 93 }), seen(1)],
    processes: [on(0, { memoryBytes: 25 * 2 ** 20 })],
  });
  assert.equal(watched.look(working, OF_ANN), 'free free', 'one moment is none');
  assert.equal(watched.look(working, OF_ANN), 'used_outside free');
});

test('[V2] memory that nobody can be seen to hold is held', () => {
  const held = answer({ cards: [seen(0, { memoryUsedBytes: 3 * GIB }), seen(1)] });
  const watched = new Watched();
  watched.look(answer());
  assert.equal(watched.look(held), 'free free');
  assert.equal(watched.look(held), 'used_outside free');
  assert.match(watched.why(0) ?? '', /no process on it can be seen, and 3G of its memory is held/);
  const given = new Watched();
  for (let looks = 0; looks < 3; looks += 1) {
    assert.equal(given.look(held, { given: new Set(['GPU-0']) }), 'free free');
  }
});

test('[V2] a process that cannot be seen is of somebody, unless a task has the card of a container', () => {
  const used = answer({ processes: [on(1)] });
  const first = new Watched();
  assert.equal(
    first.look(used),
    'free used_outside',
    'nothing is started on what was never seen free',
  );
  assert.match(first.why(1) ?? '', /by somebody/);
  const later = new Watched();
  later.look(answer());
  assert.equal(later.look(used), 'free free', 'it may have ended since');
  assert.equal(later.look(used), 'free used_outside');
  const inside = new Watched();
  const more = { isContained: true, given: new Set(['GPU-1']) };
  for (let looks = 0; looks < 3; looks += 1) assert.equal(inside.look(used, more), 'free free');
});

test('[V2] processes whose memory and card are unknown count where memory is in use', () => {
  const cards = [seen(0, { memoryUsedBytes: 3 * GIB }), seen(1)];
  const unknown = on(0, { memoryBytes: null });
  assert.equal(
    new Watched().look(answer({ cards, processes: [unknown] }), OF_ANN),
    'used_outside free',
  );
  const nowhere = on(0, { card: null });
  assert.equal(
    new Watched().look(answer({ cards, processes: [nowhere] }), OF_ANN),
    'used_outside free',
  );
});

test('[V3] a card that falls off the bus takes only itself out, and is not trusted at once', () => {
  const watched = new Watched();
  watched.look(answer());
  const lost = answer({
    cards: [seen(0)],
    lost: [{ busId: '0000:01:00.0', words: 'GPU is lost' }],
  });
  assert.equal(watched.look(lost), 'free ill');
  assert.equal(watched.why(1), 'ill: GPU is lost');
  assert.equal(watched.remark(), 'the card at 0000:01:00.0: GPU is lost');
  assert.equal(watched.look(answer()), 'free ill');
  watched.at += 60_000;
  assert.equal(watched.look(answer()), 'free free');
});

test('[V1, V3] a card that is not listed any more is gone, one that has moved is the same', () => {
  const watched = new Watched();
  watched.look(answer());
  assert.equal(watched.look(answer({ cards: [seen(0)] })), 'free free', 'one look may stumble');
  assert.equal(watched.look(answer({ cards: [seen(0)] })), 'free gone');
  const moved = seen(1, { index: 0, busId: '0000:07:00.0' });
  watched.at += 120_000;
  watched.look(answer({ cards: [moved, seen(0, { index: 1 })] }));
  assert.equal(watched.machine.cards.get('GPU-1')?.seen.busId, '0000:07:00.0');
  assert.equal(watched.machine.cards.size, 2);
});

test('[V3] a driver that does not work makes its cards ill, in its words, and no others', () => {
  const amd = answer({ vendor: 'amd', cards: [seen(7, { vendor: 'amd' })] });
  const watched = new Watched();
  watched.look([answer(), amd]);
  const words = 'Failed to initialize NVML: Driver/library version mismatch';
  const failed: Answer = { kind: 'failed', vendor: 'nvidia', words };
  assert.equal(watched.look([failed, amd]), 'ill ill free');
  assert.equal(watched.why(0), `ill: ${words}`);
  assert.equal(
    watched.look([{ ...failed, words: 'No devices were found' }, amd]),
    'gone gone free',
  );
});

test('[V5] a tool that hangs changes nothing, and the age of what is known is told', () => {
  const watched = new Watched();
  const silent: Answer = { kind: 'silent', vendor: 'nvidia', words: 'nvidia-smi hangs' };
  assert.equal(watched.look(silent), '');
  assert.equal(watched.remark(), 'nvidia-smi hangs');
  watched.look(answer({ processes: [on(1)] }), OF_ANN);
  assert.equal(watched.look(silent), 'free used_outside');
  const age = 'its cards are shown as of 1970-01-01T00:00:10Z';
  assert.equal(watched.remark(), `nvidia-smi hangs; ${age}`);
  watched.look(answer());
  assert.equal(watched.remark(), null);
});

test('[V5] what was known before the agent was started is kept back until a tool answers', () => {
  const watched = new Watched();
  const known = (isOld: boolean): Machine => ({
    makers: new Map(),
    cards: new Map(
      [1, 5].map((number) => [`GPU-${number}`, remembered(seen(number), 0, { isOld })]),
    ),
  });
  watched.machine = known(false);
  assert.equal(watched.look([]), 'unknown unknown');
  assert.match(watched.why(1) ?? '', /^not looked at: the tool of nvidia has not answered/);
  watched.look(answer());
  assert.equal(
    watched.look(answer()),
    'free gone free',
    'it has vanished while the machine was on',
  );
  watched.machine = known(true);
  assert.equal(watched.look(answer()), 'free free', 'it was taken out while the machine was off');
});
