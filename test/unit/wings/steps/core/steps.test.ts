// The pure rules of steps: names, places, the book of a head, what a step finds, and the way out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EpochId, NodeName, TaskId } from '../../../../../src/kernel/model/ids.ts';
import { StepBook } from '../../../../../src/wings/steps/core/book.ts';
import { stepEnvironment } from '../../../../../src/wings/steps/core/environment.ts';
import { Escapes } from '../../../../../src/wings/steps/core/escapes.ts';
import { formatStepId, NUMBER_MAX, parseStepId } from '../../../../../src/wings/steps/core/ids.ts';
import {
  CPUS_LENGTH_MAX,
  NEWS_PART_MAX,
  PROCESSES_MAX,
  PROGRAM_BYTES_MAX,
  STEPS_KEPT_MAX,
  STEPS_MAX,
  UNSURE_MAX,
} from '../../../../../src/wings/steps/core/limits.ts';
import { placesOf } from '../../../../../src/wings/steps/core/places.ts';
import { tooMuchSaid } from '../../../../../src/wings/steps/core/size.ts';
import { isLive, type Step } from '../../../../../src/wings/steps/core/step.ts';
import {
  newsOfAll,
  readNews,
  readWish,
  type StartWish,
  type ToldProcess,
} from '../../../../../src/wings/steps/core/told.ts';

const task = '42' as TaskId;
const epochId = '42#1' as EpochId;
const [n1, n2] = ['n1', 'n2'] as [NodeName, NodeName];
const NEW = { task, epochId, command: 'uptime', by: 'alice', at: 1 };

function told(step: string, more: Partial<ToldProcess> = {}): ToldProcess {
  const own = { step, rank: 0, count: 1, epochId, command: 'uptime', by: 'alice' };
  return { ...own, startedAt: 1, endedAt: null, end: null, ...more };
}

function addTo(book: StepBook, nodes: readonly NodeName[], session: number | null = null): Step {
  const made = book.add({ ...NEW, nodes, sessionOf: () => session });
  assert.ok(made.ok);
  return made.value;
}

test('ids of steps are read as they are written', () => {
  for (const id of ['42.0', '42[7].13']) {
    const name = parseStepId(id);
    assert.ok(name.ok);
    assert.equal(formatStepId(name.value), id);
  }
  for (const id of ['42', '42.', 'x.1', '42.0.1.', '42[a].0'])
    assert.equal(parseStepId(id).ok, false);
});

test('processes fill the nodes one after the other, or each', () => {
  const nodes = ['n1', 'n2'];
  const places = (wish: Partial<Parameters<typeof placesOf>[1]>) => {
    const made = placesOf(nodes, { node: null, count: 1, perNode: false, ...wish });
    return made.ok ? made.value.join(' ') : made.error;
  };
  assert.equal(places({}), 'n1');
  assert.equal(places({ count: 3 }), 'n1 n1 n2');
  assert.equal(places({ perNode: true }), 'n1 n2');
  assert.equal(places({ perNode: true, count: 2 }), 'n1 n1 n2 n2');
  assert.equal(places({ node: 'n2', count: 2 }), 'n2 n2');
  assert.match(places({ node: 'n9' }), /'n9' is not a node of this task; it has n1, n2/);
});

test('[Z5] a step has no more processes than it may, nor a task more steps at once', () => {
  const wish = { node: null, count: PROCESSES_MAX, perNode: true };
  assert.equal(placesOf(['n1', 'n2'], wish).ok, false);
  const book = new StepBook();
  for (let made = 0; made < STEPS_MAX; made += 1) addTo(book, [n1]);
  assert.deepEqual(book.add({ ...NEW, nodes: [n1] }).ok, false);
  book.hear(n1, told('42.7', { endedAt: 2, end: { exit: { code: 0 } } }));
  assert.equal(addTo(book, [n1]).number, STEPS_MAX);
});

test('of steps that are over the newest are remembered', () => {
  const book = new StepBook();
  for (let made = 0; made < STEPS_KEPT_MAX + 5; made += 1) {
    book.add({ ...NEW, nodes: [n1] });
    book.hear(n1, told(`42.${made}`, { endedAt: 2, end: { exit: { code: 0 } } }));
  }
  const kept = book.ofTask(task);
  assert.deepEqual([kept.length, kept[0]?.number], [STEPS_KEPT_MAX, 5]);
});

test('[Z7] a node that has not what it had tells that nobody knows how it ended', () => {
  const book = new StepBook();
  const step = addTo(book, [n1, n2]);
  book.hearAll(n1, [], { at: 5, session: 1 });
  assert.match(JSON.stringify(step.processes.get(0)?.end), /started anew/);
  assert.equal(isLive(step), true);
  // Its own alone.
  book.hear(n1, told('42.0', { rank: 1, endedAt: 6, end: { exit: { code: 0 } } }));
  assert.equal(step.processes.get(1)?.end, null);
});

test('[Z4] a head that knows nothing learns of steps from their nodes, and gives no number twice', () => {
  const book = new StepBook();
  book.hearAll(n1, [told('42.3', { cpuCount: 2 })], { at: 1, session: 1 });
  assert.equal(book.find('42.3')?.processes.get(0)?.node, n1);
  assert.equal(book.find('42.3')?.cpuCount, 2);
  assert.equal(addTo(book, [n1]).number, 4);
});

test('[Z3] a step of a task that has ended on its node is over', () => {
  const book = new StepBook();
  const step = addTo(book, [n1, n2]);
  book.endPart({ epochId, node: n1 }, 7);
  assert.deepEqual(step.processes.get(0)?.end, { why: 'its task has ended' });
  assert.equal(step.processes.get(1)?.end, null);
});

test('what is no news of an agent is not heard', () => {
  let unread = 0;
  const read = (body: unknown) =>
    readNews(body, (count) => {
      unread += count;
    });
  assert.equal(read({ isAll: true, processes: [told('42.0')] })?.processes.length, 1);
  for (const body of [null, {}, { isAll: 1, processes: [] }]) {
    assert.equal(read(body), null);
  }
  const long = told('42.0', { command: 'x'.repeat(501) });
  const bound = { ...told('42.1'), cpus: 'x'.repeat(CPUS_LENGTH_MAX) };
  unread = 0;
  // What cannot be read keeps nothing from the others.
  const heard = read({
    isAll: false,
    processes: [long, bound, { ...bound, cpus: `${bound.cpus}x` }],
  });
  assert.deepEqual([heard?.processes, unread], [[bound], 2]);
});

test('[Z1] a step finds what its task has, what it was given, and no mark of its own', () => {
  const wish: StartWish = {
    do: 'start',
    step: '42.0',
    rank: 1,
    count: 2,
    epochId,
    argv: ['env'],
    environment: { A: 'given', WEFT_GPUS: '7', 'B=C': 'x' },
    directory: null,
    terminal: { rows: 24, columns: 80 },
    command: 'env',
    by: 'alice',
  };
  assert.deepEqual(stepEnvironment(['A=task', 'WEFT_GPUS=0', 'P=/bin'], wish, 'i:1'), [
    'WEFT_GPUS=0',
    'P=/bin',
    'A=given',
    'WEFT_STEP_ID=42.0',
    'WEFT_STEP_RANK=1',
    'WEFT_STEP_COUNT=2',
    'WEFT_STEP_MARK=i:1',
    'WEFT_STEP_PTY=24x80',
  ]);
  const near = ['WEFT_CPUSET=4-7'];
  const bound = ['WEFT_CPUSET=5', 'WEFT_STEP_BOUND=1'];
  const said = (cpus: string | null) => stepEnvironment(near, wish, 'i:1', cpus);
  assert.deepEqual(said(null).filter(isOfCpus), near);
  assert.deepEqual(said('5').filter(isOfCpus), bound);
});

function isOfCpus(entry: string): boolean {
  return /^WEFT_(CPUSET|STEP_BOUND)=/.test(entry);
}

test('a tilde and a dot at the beginning of a line leave, two tildes are one', () => {
  const typed = (...parts: string[]) => {
    const escapes = new Escapes();
    return parts.map((part) => {
      const { typed: bytes, leaves } = escapes.take(Buffer.from(part));
      return `${Buffer.from(bytes)}${leaves ? '|left' : ''}`;
    });
  };
  assert.deepEqual(typed('~', '.'), ['', '|left']);
  assert.deepEqual(typed('a~.'), ['a~.']);
  assert.deepEqual(typed('a\r~.b'), ['a\r|left']);
  assert.deepEqual(typed('~~.'), ['~.']);
  assert.deepEqual(typed('~x', '\n~~'), ['~x', '\n~']);
});

test('[Z5] a task has no more live processes on a node than its agent would start', () => {
  const book = new StepBook();
  addTo(book, Array<NodeName>(PROCESSES_MAX - 1).fill(n1));
  const full = book.add({ ...NEW, nodes: [n1, n1] });
  assert.match(full.ok ? '' : full.error, /255 processes of steps on node n1, and 2 more would/);
  addTo(book, [n1, n2]);
  // What a node says of others does not make them more, nor a rank that no step has.
  book.hear(n1, told('42.9'));
  book.hear(n2, told('42.8', { rank: PROCESSES_MAX }));
  assert.equal(book.find('42.9')?.processes.size, 0);
  assert.equal(book.find('42.8'), undefined);
});

test('[Z2] what nobody else knows of takes no number, adds to nothing, and is bounded', () => {
  const over: Step[] = [];
  const world = {
    nextOf: () => 0,
    made: () => undefined,
    over: (one: Step) => void over.push(one),
  };
  const book = new StepBook(world);
  const end = { endedAt: 2, end: { exit: { code: 9 } } };
  const step = addTo(book, [n1, n1]);
  book.hear(n2, told('42.0', { ...end, rank: 2, count: 9 }), false);
  book.hear(n2, told('42.0', { ...end, rank: 2, count: 9 }));
  book.hear(n2, told('42.999999999', end), false);
  assert.deepEqual([step.processes.size, book.find('42.999999999')], [2, undefined]);
  assert.equal(addTo(book, [n1]).number, 1);
  // Numbers that were given out in an earlier life of the head.
  const later = new StepBook({ ...world, nextOf: () => UNSURE_MAX + 2 });
  for (let number = 0; number < UNSURE_MAX + 2; number += 1)
    later.hear(n2, told(`42.${number}`, end), false);
  later.hear(n1, told('42.0', end), false);
  assert.equal(later.ofJob(() => true).length, UNSURE_MAX + 1);
  assert.deepEqual([later.find('42.1'), later.ofTask(task)], [undefined, []]);
  // Whoever has its task is believed in its place.
  later.hear(n1, told('42.5'));
  assert.equal(later.find('42.5')?.processes.get(0)?.node, n1);
  assert.equal(later.ofJob(() => true).length, UNSURE_MAX + 1);
  assert.deepEqual(over, []);
});

test('[Z5] a rank that no process of its step has is not heard', () => {
  const book = new StepBook();
  const step = addTo(book, [n1]);
  const wrong = [{ rank: 1, count: 2 }, { rank: -1 }];
  for (const more of wrong) book.hear(n1, told('42.0', more));
  for (const more of [{ rank: 1 }, { count: 0 }, { count: PROCESSES_MAX + 1 }])
    book.hear(n1, told('42.1', more));
  assert.deepEqual([step.processes.size, book.find('42.1')], [1, undefined]);
});

test('[Z5] a task of which all numbers are taken takes no more steps, in words', () => {
  const book = new StepBook();
  book.hear(n1, told(`42.${NUMBER_MAX}`));
  const full = book.add({ ...NEW, nodes: [n1] });
  assert.match(full.ok ? '' : full.error, /no number left for another step/);
});

test('[Z7] what a node is asked for over the connection on which it greets is not lost', () => {
  const book = new StepBook();
  const [before, now] = [addTo(book, [n1], 1), addTo(book, [n1], 2)];
  assert.deepEqual(book.hearAll(n1, [], { at: 5, session: 2 }), ['42.0:0']);
  assert.equal(isLive(before), false);
  assert.equal(isLive(now), true);
});

test('what has ended and is listed no more is past, once', () => {
  const book = new StepBook();
  const ended = told('42.0', { endedAt: 2, end: { exit: { code: 0 } } });
  book.hear(n1, ended);
  assert.deepEqual(book.hearAll(n1, [ended], { at: 5, session: 1 }), []);
  assert.deepEqual(book.hearAll(n1, [], { at: 5, session: 1 }), ['42.0:0']);
  assert.deepEqual(book.hearAll(n1, [], { at: 5, session: 1 }), []);
  assert.deepEqual(book.find('42.0')?.processes.get(0)?.end, { exit: { code: 0 } });
  assert.deepEqual(book.endPart({ epochId, node: n1 }, 7), []);
});

test('[Z5] what is said of a program is bounded, for each process and for all on one node', () => {
  const said = { argv: ['x'], environment: { A: 'y'.repeat(20_000) } };
  assert.equal(tooMuchSaid(said, Array<string>(200).fill('n1')), null);
  assert.match(tooMuchSaid(said, Array<string>(256).fill('n1')) ?? '', /256 processes on one node/);
  const half = Array.from({ length: 256 }, (_, at) => `n${at % 2}`);
  assert.equal(tooMuchSaid(said, half), null);
  const long = 'z'.repeat(PROGRAM_BYTES_MAX / 2);
  for (const more of [{ directory: long }, { title: long }, { environment: { B: long } }])
    assert.match(tooMuchSaid({ ...said, argv: [long], ...more }, ['n1']) ?? '', /together have/);
});

test('all that a node has is told in words of a bounded length', () => {
  const all = Array.from({ length: NEWS_PART_MAX + 1 }, (_, at) => told(`42.${at}`));
  const words = newsOfAll(all);
  assert.deepEqual(
    words.map(({ part, hasMore, processes }) => [part, hasMore, processes.length]),
    [
      [0, true, NEWS_PART_MAX],
      [1, false, 1],
    ],
  );
  for (const word of words)
    assert.deepEqual(
      readNews(word, () => assert.fail()),
      word,
    );
  assert.deepEqual(newsOfAll([])[0]?.processes, []);
  assert.deepEqual(readWish({ do: 'stop', step: '42.0' }), { do: 'stop', step: '42.0' });
  for (const body of [null, { do: 'stop' }, { do: 'start', step: '42.0' }])
    assert.equal(readWish(body), null);
});

test('[Z13] a step of the task itself outlives an agent, and ends with its task', () => {
  const over: string[] = [];
  const world = { nextOf: () => 0, made: () => undefined };
  const book = new StepBook({ ...world, over: (step) => over.push(formatStepId(step)) });
  const step = book.add({ ...NEW, nodes: [n1, n2], isNoted: true });
  assert.ok(step.ok);
  assert.deepEqual(book.hearAll(n1, [], { at: 5, session: 2 }), []);
  assert.equal(isLive(step.value), true);
  book.endPart({ epochId, node: n1 }, 6);
  assert.equal(book.endNoted(step.value, [{ exit: { code: 0 } }, { exit: { code: 3 } }], 7), 1);
  assert.deepEqual(over, ['42.0']);
  assert.deepEqual(step.value.processes.get(1)?.end, { exit: { code: 3 } });
});

test('[Z13] steps of the task itself keep out none that is asked for, and have a bound of their own', () => {
  const book = new StepBook();
  const note = (nodes: readonly NodeName[]) => book.add({ ...NEW, nodes, isNoted: true });
  assert.ok(note(Array<NodeName>(PROCESSES_MAX).fill(n1)).ok);
  assert.equal(note([n1]).ok, false);
  for (let made = 1; made < STEPS_MAX; made += 1) assert.ok(note([n2]).ok);
  assert.equal(note([n2]).ok, false);
  addTo(book, [n1, n2]);
  book.hear(n1, told('42.900'));
  assert.ok(book.find('42.900'));
  assert.equal(book.find('42.900')?.processes.size, 1);
});
