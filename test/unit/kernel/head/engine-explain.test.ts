// Why a task waits, in words that name what blocks it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { NODE_FEATURES } from '../../../../src/kernel/model/node-features.ts';
import { ANN, OPERATOR, START_AT, submission, TestHead } from '../../../support/controller.ts';
import { HOUR, type ReserveWords, reserve, wishOf } from '../../../support/reservations.ts';
import { why } from '../../../support/why.ts';

test('[J22] each reason names what blocks the task', () => {
  const head = new TestHead();
  head.connect('n1', { cpus: 4 });
  head.connect('n2', { cpus: 4 });
  head.running({ cpuCount: 3 });
  head.submit({ held: true });
  assert.match(why(head, 2), /^held: .*weft release 2/);
  head.submit({ dependencies: [{ jobId: 1 as JobId, condition: 'ok' }] });
  assert.equal(why(head, 3), 'dependency: waits for job 1 to complete');
  head.submit({ beginAt: START_AT + 60_000 });
  assert.match(why(head, 4), /^begin_time: its begin time is 2023-[\d-]+T[\d:]+Z$/);
  head.submit({ cpuCount: 2, nodeCount: 2 });
  head.schedule();
  assert.match(
    why(head, 5),
    /^resources: needs 2 nodes with 2 cpus.*; only 1 node has room; n1 has only 1 cpu free$/,
  );
  head.submit({ array: { indices: '0-3', runningMax: 1 } });
  head.schedule();
  assert.match(
    why(head, 6, 1),
    /^quota: this array runs at most 1 task at once \(%1\); 1 is running$/,
  );
});

test('[J22] what waits for a held job says that this one is held, and how it is let go', () => {
  const head = new TestHead();
  head.connect('n1', { cpus: 1 });
  const indices = { array: { indices: '0-1' } };
  const held = [head.submit({ held: true }), head.submit({ ...indices, held: true })];
  const free = head.submit({ beginAt: START_AT + HOUR });
  const after = (condition: 'any' | 'each', ...ids: JobId[]) =>
    ids.map((jobId) => ({ jobId, condition }));
  const [plain, array] = held as [JobId, JobId];
  const both = head.submit({ dependencies: after('any', plain, free, array) });
  const each = head.submit({ ...indices, dependencies: after('each', array) });
  assert.equal(
    why(head, both),
    'dependency: waits for job 1 to end, job 3 to end, job 2 to end; jobs 1 and 2 are held: ' +
      '`weft release 1 2` lets them start',
  );
  assert.equal(
    why(head, each, 1),
    'dependency: waits for task 2[1] to complete; job 2 is held: `weft release 2` lets it start',
  );
  head.command({ kind: 'release_job', jobId: array }, ANN);
  assert.match(why(head, both), /; job 1 is held: /);
  assert.deepEqual(head.schedule(), ['2[0]#1@n1']);
  head.command({ kind: 'hold_job', jobId: array }, ANN);
  assert.equal(why(head, each, 0), 'dependency: waits for task 2[0] to complete', 'that runs');
  assert.match(why(head, each, 1), /; job 2 is held: /);
});

test('[J22] a directory is named only where some nodes have it and others have not', () => {
  const head = new TestHead();
  head.connect('n1', { cpus: 1, shared: ['/'] });
  const wide = { cpuCount: 1, labels: ['shared=/'] };
  head.running(wide);
  head.submit(wide);
  assert.match(
    why(head, 2),
    /^resources: needs 1 node with 1 cpu; n1 is full: 1 of 1 cpus in use$/,
  );
  head.connect('n2', { cpus: 1 });
  assert.match(why(head, 2), /^resources: needs 1 node sharing \/ with 1 cpu/);
});

test('[J22] what an agent is too old for does not start there, and says so', () => {
  const head = new TestHead();
  head.connect('old', { features: [] });
  const mpi = { mpi: {} };
  const fed = { files: { stdin: '-' } };
  const warned = { walltimeMs: HOUR, warning: { signal: 10, leadMs: 60_000 } };
  const attach = { files: { stdin: 'attach' } };
  const jobs = { mpi, stdin: fed, attach, warnings: warned } as const;
  for (const wish of Object.values(jobs)) {
    assert.equal(head.refused(submission(wish), ANN), 'resources.unsatisfiable');
  }
  head.connect('new', { cpus: 1, features: NODE_FEATURES });
  for (const wish of Object.values(jobs)) {
    const id = head.submit({ ...wish, cpuCount: 1 });
    assert.deepEqual(head.schedule(), [`${id}#1@new`], 'though the older one comes first');
    head.ended(`${id}#1`);
  }
  const waiting = Object.values(jobs).map((wish) => head.submit({ ...wish, cpuCount: 1 }));
  head.disconnect('new');
  head.connect('new', { cpus: 1, features: [] });
  assert.deepEqual(head.schedule(), []);
  assert.deepEqual(
    waiting.map((id) => why(head, id)),
    [
      'MPI jobs',
      'input that a client sends',
      'input that others bring while a task runs',
      'a signal before the time limit',
    ].map((what) => {
      const old = `old and new run an agent too old for ${what}`;
      return `no_node_can: needs 1 node with 1 cpu; ${old}; update it there`;
    }),
  );
});

test('[J22] nodes that are away, gone or not asked yet are named', () => {
  const head = new TestHead();
  head.connect('n1');
  head.connect('n2', { cpus: 8 });
  head.submit({ cpuCount: 8 });
  assert.match(why(head, 1), /^priority: /);
  head.command({ kind: 'drain_node', node: 'n2' as NodeName, reason: 'new fan' });
  assert.match(why(head, 1), /^resources: .*n2 is drained \(new fan\)/);
  head.command({ kind: 'remove_node', node: 'n2' as NodeName });
  assert.match(why(head, 1), /^no_node_can: needs 1 node with 8 cpus; no node is large enough$/);
});

test('[J22] a task of a reservation hears of the nodes that this has, and no others', () => {
  const lack = (more: ReserveWords, cpuCount: number): string => {
    const head = new TestHead();
    for (const name of ['n1', 'n2', 'n3']) head.connect(name, { cpus: 4 });
    head.command(reserve({ name: 'course', users: ['ann'], nodes: ['n2'], ...more }), OPERATOR);
    const own = { reservation: 'course', walltimeMs: 60_000 };
    head.running({ ...own, cpuCount: 2 });
    return why(head, head.submit({ ...own, cpuCount })).replace(/^.*?; /, '');
  };
  assert.equal(lack({}, 3), 'n2 has only 2 cpus free');
  assert.equal(lack({ share: { cpus: 3 } }, 2), 'n2 has too little of the reservation free');
});

test('[J22] of what is set aside of a node the words name what leaves too little, and nothing else', () => {
  const head = new TestHead();
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 8 });
  const on = { nodes: ['n1'], lasts: 3 * HOUR };
  head.command(reserve({ ...on, name: 'small', share: { cpus: 1 } }), OPERATOR);
  const at = head.at + HOUR;
  head.command(reserve({ ...on, name: 'large', share: { cpus: 4 }, at }), OPERATOR);
  head.running({ cpuCount: 8, nodeNames: ['n2' as NodeName], walltimeMs: 5 * HOUR });
  const lack = (cpuCount: number): string => {
    const id = head.submit({ cpuCount, nodeCount: 2, walltimeMs: 2 * HOUR });
    return why(head, id).replace(/^.*?; /, '');
  };
  const full = 'n2 is full (8 of 8 cpus in use)';
  assert.equal(lack(8), `n1 is in reservation small for 3h more, ${full}`);
  assert.equal(lack(4), `n1 has reservation large in 1h, ${full}`);
  assert.equal(lack(3), `only 1 node has room; ${full}`);
});

test('[J22] of several reservations that have begun the one is named whose end is waited for', () => {
  const waits = (longer: number, shorter: number, cpuCount: number): string => {
    const head = new TestHead();
    head.connect('n1', { cpus: 4 });
    const aside = (name: string, cpus: number, lasts: number) =>
      head.command(reserve({ name, nodes: ['n1'], share: { cpus }, lasts }), OPERATOR);
    const [first, second] = longer > shorter ? ([5, 1] as const) : ([1, 5] as const);
    aside('first', longer, first * HOUR);
    head.tick(60_000);
    aside('second', shorter, second * HOUR);
    head.tick(0);
    return why(head, head.submit({ cpuCount, walltimeMs: HOUR / 2 }));
  };
  assert.match(waits(2, 1, 3), /waits for reservation first on n1 to end in 4h59m/);
  assert.match(waits(1, 2, 2), /waits for reservation first on n1 to end in 59m/);
});

test('[J22] nor where nothing but what is set aside is in the way', () => {
  const head = new TestHead();
  head.connect('n1', { cpus: 8 });
  const on = { nodes: ['n1'], lasts: 3 * HOUR };
  head.command(reserve({ ...on, name: 'small', share: { cpus: 1 } }), OPERATOR);
  const at = head.at + HOUR;
  head.command(reserve({ ...on, name: 'large', share: { cpus: 4 }, at }), OPERATOR);
  const lack = (cpuCount: number): string =>
    why(head, head.submit({ cpuCount, walltimeMs: 2 * HOUR }));
  assert.equal(lack(8), 'reservation: waits for reservation small on n1 to end in 3h');
  assert.equal(
    lack(4),
    'reservation: it could run into reservation large on n1, which starts in 1h',
  );
  assert.match(lack(3), /^priority: /);
});

test('[J22] a task of a reservation hears which of its nodes are away, whatever else is up', () => {
  const head = new TestHead();
  for (const name of ['n1', 'n2', 'n3']) head.connect(name, { cpus: 4 });
  head.command(reserve({ name: 'course', users: ['ann'], nodes: ['n1', 'n2'] }), OPERATOR);
  head.command({ kind: 'drain_node', node: 'n1' as NodeName, reason: 'fan' });
  const own = { reservation: 'course', walltimeMs: 60_000 };
  const wide = head.submit({ ...own, nodeCount: 2 });
  const words = 'resources: needs 2 nodes with 1 cpu';
  assert.equal(why(head, wide), `${words}; n1 is drained (fan)`);
  assert.match(why(head, head.submit(own)), /^priority: /);
});

test('[J22] a task that asks for more nodes than its reservation has left is told how many fit', () => {
  const head = new TestHead();
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 4 });
  const at = START_AT + HOUR;
  head.command(reserve({ name: 'course', users: ['ann'], at, nodes: ['n1', 'n2'] }), OPERATOR);
  const id = head.submit({ reservation: 'course', walltimeMs: 60_000, nodeCount: 2 });
  const request = wishOf({ at, nodes: ['n1'] });
  head.command({ kind: 'change_reservation', reservation: 'course', request }, OPERATOR);
  head.tick(HOUR);
  assert.match(why(head, id), /; only 1 node of it would do$/);
});

test('[J22] a task that the crash limit holds says what happened', () => {
  const head = new TestHead({ crashLimit: 1 });
  head.connect('n1');
  head.running();
  head.ended('1#1', { cause: 'lost', detail: 'the launcher is gone' });
  assert.match(
    why(head, 1),
    /^held: held after 1 start .*the launcher is gone; `weft release 1` tries again/,
  );
  head.command({ kind: 'release_job', jobId: 1 as JobId }, ANN);
  assert.match(why(head, 1), /^priority: /);
});

test('[M1] a task that could run into maintenance names the one that decides', () => {
  const head = new TestHead();
  head.connect('n1', { cpus: 4 });
  head.connect('n2', { cpus: 4 });
  const plan = (node: string, minutes: number) =>
    head.command({
      kind: 'plan_maintenance',
      nodes: [node as NodeName],
      time: { kind: 'fixed', from: START_AT + minutes * 60_000 },
      durationMs: 60_000,
      running: 'wait',
      warning: null,
      program: null,
      reason: 'new disks',
    });
  plan('n1', 35);
  plan('n2', 20);
  plan('n2', 0);
  const said = (wish: object): string => why(head, head.submit(wish));
  const words = 'could run into maintenance m1 on n1, which starts in 35m';
  assert.equal(said({}), `maintenance: it has no time limit and ${words}`);
  assert.equal(said({ walltimeMs: 36 * 60_000 }), `maintenance: it ${words}`);
  assert.equal(said({ nodeCount: 2 }), 'maintenance: waits for maintenance m3 on n2 to end in 1m');
  assert.match(said({ walltimeMs: 35 * 60_000 }), /^priority/);
  assert.match(
    said({ cpuCount: 4, nodeCount: 2, exclusive: true }),
    /^maintenance: waits for maintenance m3 on n2 to end/,
  );
  head.submit({ cpuCount: 3, walltimeMs: 60_000 });
  head.schedule();
  assert.match(said({ cpuCount: 4, nodeCount: 2 }), /^resources: /, 'it would not fit anyway');
});
