// The head's wall clock is set while things run, wait and recur.

import assert from 'node:assert/strict';
import { extendReservations, occurrencesOf } from '../../../../src/kernel/head/recurrence.ts';
import { timeLeft } from '../../../../src/kernel/machine/tasks/time-limit.ts';
import type { ClockReading } from '../../../../src/kernel/model/clock.ts';
import type { EpochId, NodeName, UserName } from '../../../../src/kernel/model/ids.ts';
import type { Reservation } from '../../../../src/kernel/model/reservation.ts';
import {
  ANN,
  endReport,
  OPERATOR,
  place,
  START_AT,
  scenario,
  type TestHead,
} from '../../../support/controller.ts';
import { HOUR, MINUTE, reserve } from '../../../support/reservations.ts';

const DAY = 24 * HOUR;
/** Time that nobody sets: what the wall clock would show, had it not been touched. */
const truths = new WeakMap<TestHead, number>();

function reading(head: TestHead): ClockReading {
  return { boot: 'b1', bootedAt: START_AT - HOUR + head.at - (truths.get(head) ?? head.at) };
}

function begin(head: TestHead): void {
  truths.set(head, head.at);
  head.perform({ kind: 'started', clock: reading(head) });
}

function pass(head: TestHead, ms: number): void {
  truths.set(head, (truths.get(head) ?? 0) + ms);
  head.at += ms;
}

/** Somebody sets the clock; what happened of it. */
function set(head: TestHead, byMs: number): string[] {
  head.at += byMs;
  return head.perform({ kind: 'clock', clock: reading(head) }).events.map(({ kind }) => kind);
}

for (const byMs of [DAY, -DAY, HOUR, -HOUR]) {
  scenario(`[H1] elapsed times and limits stay what they are, clock set by ${byMs} ms`, (head) => {
    begin(head);
    head.connect('n1', { cpus: 2 });
    pass(head, 5000);
    const id = head.running({ walltimeMs: HOUR, cpuCount: 1 });
    const waits = head.submit({ cpuCount: 2 });
    pass(head, 5000);
    const usage = () => head.state.usage.usageAt(head.at).get('ann' as UserName) ?? 0;
    const usedBefore = usage();
    assert.deepEqual(set(head, byMs), ['clock_stepped']);
    const task = head.task(`${id}`);
    assert.equal(head.at - (task.startedAt ?? 0), 5000);
    assert.equal(timeLeft(task, head.at), HOUR - 5000);
    assert.equal(head.at - head.job(waits).submittedAt, 5000);
    assert.equal(head.at - head.job(waits).entry.submittedAt, 5000, 'and in the queue');
    assert.ok(Math.abs(usage() - usedBefore) < 1, 'nothing was used and nothing has faded');
    pass(head, 1000);
    // Its agent measures by a clock that nobody sets.
    head.report('n1', endReport(`${id}#1`, START_AT + 5000 + 6000, {}));
    const { startedAt, endedAt } = head.job(id);
    assert.equal((endedAt ?? 0) - (startedAt ?? 0), 6000);
    assert.equal(endedAt, head.at);
  });
}

scenario('[H1] what was stopped while the clock was set was stopped as long as it was', (head) => {
  begin(head);
  head.connect('n1', { cpus: 2 });
  const id = head.running({ walltimeMs: HOUR });
  const nodeAt = (): number => START_AT + ((truths.get(head) ?? 0) - START_AT);
  pass(head, MINUTE);
  head.command({ kind: 'suspend_task', place: place(`${id}`) }, ANN);
  const of = { epochId: `${id}#1` as EpochId };
  head.report('n1', { kind: 'task_suspended', ...of, at: nodeAt(), turn: 1 });
  set(head, -DAY);
  pass(head, 10 * MINUTE);
  assert.equal(timeLeft(head.task(`${id}`), head.at), HOUR - MINUTE);
  head.command({ kind: 'resume_task', place: place(`${id}`) }, ANN);
  head.report('n1', { kind: 'task_resumed', ...of, at: nodeAt(), turn: 2 });
  assert.equal(head.task(`${id}`).pausedMs, 10 * MINUTE);
  assert.equal(timeLeft(head.task(`${id}`), head.at), HOUR - MINUTE);
});

scenario('[H1] a token lives no longer and no shorter, and never again', (head) => {
  begin(head);
  const token = (id: string, expiresAt: number) =>
    head.command({
      kind: 'create_token',
      tokenId: id,
      hash: id,
      purpose: 'user',
      user: 'ann' as UserName,
      label: '',
      expiresAt,
    });
  token('short', head.at + HOUR);
  token('over', head.at + 1000);
  pass(head, 2000);
  const left = (id: string) => (head.state.tokens.get(id)?.expiresAt ?? 0) - head.at;
  for (const byMs of [DAY, -DAY, -DAY]) {
    set(head, byMs);
    assert.deepEqual([left('short'), left('over')], [HOUR - 2000, -1000]);
  }
});

scenario(
  '[H1] over a restart it is seen by the start of the machine, else by the records',
  (head) => {
    begin(head);
    head.connect('n1', { cpus: 2 });
    const id = head.running({ walltimeMs: HOUR });
    pass(head, 5000);
    head.at += DAY;
    head.crash();
    head.perform({ kind: 'started', clock: reading(head) });
    assert.equal(
      head.at - (head.task(`${id}`).startedAt ?? 0),
      5000,
      'the same start: by all of it',
    );
    // Another start of the machine: the wall clock is believed, as nothing speaks against it …
    head.at += HOUR;
    head.perform({ kind: 'started', clock: { boot: 'b2', bootedAt: head.at } });
    assert.equal(head.at - (head.task(`${id}`).startedAt ?? 0), HOUR + 5000);
    // … but a clock that shows an instant before the last record was set back at least to there.
    head.at -= 365 * DAY;
    head.perform({ kind: 'started', clock: { boot: 'b3', bootedAt: head.at } });
    assert.equal(head.at - (head.task(`${id}`).startedAt ?? 0), HOUR + 5000);
  },
);

scenario('[H1] a begin time that a wrong clock had reached is waited for again', (head) => {
  begin(head);
  head.connect('n1', { cpus: 1 });
  head.running({ walltimeMs: HOUR });
  const environment = { OWN: 'variable' };
  const id = head.submit({ beginAt: head.at + HOUR, environment });
  set(head, 2 * HOUR);
  head.tick();
  assert.ok(head.job(id).beginReached);
  set(head, -2 * HOUR);
  assert.ok(!head.job(id).beginReached);
  assert.deepEqual(head.job(id).spec.environment, environment);
  assert.doesNotMatch(JSON.stringify(head.records.at(-1)), /OWN/, 'it is in the journal once');
  head.crash();
  pass(head, HOUR);
  head.tick();
  assert.ok(head.job(id).beginReached);
});

scenario('[H1] the order of the queue is that of before', (head) => {
  begin(head);
  head.connect('n1');
  for (let n = 0; n < 5; n += 1) {
    head.submit({ cpuCount: 1 + (n % 2), nice: n % 3 });
    pass(head, 1237);
  }
  const order = () => {
    const { queue } = head.state.indexes;
    return [...queue.groups.values()].map(({ entries }) => [...entries].map((one) => one.jobId));
  };
  const before = order();
  set(head, -3 * DAY);
  assert.deepEqual(order(), before);
});

scenario('[H1] small differences are none, and the same step is told once', (head) => {
  begin(head);
  assert.deepEqual(set(head, 999), []);
  assert.deepEqual(set(head, 1), ['clock_stepped'], 'they add up');
  assert.deepEqual(set(head, 0), []);
});

/** A head whose node is set aside for an hour every day, the next time in a while. */
function everyDay(head: TestHead): { known: () => Reservation; look: () => void } {
  begin(head);
  head.connect('n1');
  const next = new Date(START_AT + 2 * HOUR);
  const cron = `${next.getUTCMinutes()} ${next.getUTCHours()} * * *`;
  const recurrence = occurrencesOf({ cron, zone: 'UTC' }, head.at);
  assert.ok(recurrence.ok);
  head.command(reserve({ recurrence: recurrence.value, nodes: ['n1'] }), OPERATOR);
  const engine = {
    state: head.state,
    now: () => head.at,
    perform: (...[input]: Parameters<Parameters<typeof extendReservations>[0]['perform']>) =>
      void head.perform(input),
  };
  const look = (): void => {
    head.tick();
    extendReservations(engine);
  };
  return { known: () => head.state.reservations.get('r1') as Reservation, look };
}

for (const wrongMs of [MINUTE, 5 * HOUR]) {
  scenario(`[H2] a clock a day ahead for ${wrongMs} ms costs no occurrence`, (head) => {
    const { known, look } = everyDay(head);
    look();
    const first = known().slots[0]?.from;
    set(head, DAY);
    look();
    pass(head, wrongMs);
    look();
    set(head, -DAY);
    look();
    const slots = known().slots.filter(({ until }) => until > head.at);
    const next = wrongMs < HOUR ? first : (first ?? 0) + DAY;
    assert.equal(slots[0]?.from, next);
    assert.equal(new Set(slots.map(({ from }) => from)).size, slots.length, 'each is there once');
    const written = head.records.length;
    look();
    assert.equal(head.records.length, written, 'nothing is written while nothing changes');
  });
}

scenario('[H2] what a clock passed over long ago comes when the clock is put right', (head) => {
  const { known, look } = everyDay(head);
  look();
  const first = known().slots[0]?.from;
  set(head, DAY);
  look();
  pass(head, 65 * MINUTE);
  look();
  assert.notEqual(known().slots[0]?.from, first, 'after an hour the clock is believed');
  set(head, -DAY);
  look();
  assert.equal(known().slots[0]?.from, first);
});

scenario('[H2] an occurrence that was there does not come again', (head) => {
  const { known, look } = everyDay(head);
  look();
  const first = known().slots[0]?.from ?? 0;
  while (head.at < first + 90 * MINUTE) {
    pass(head, 10 * MINUTE);
    look();
  }
  const next = known().slots[0]?.from;
  assert.ok((next ?? 0) > first);
  set(head, -3 * HOUR);
  look();
  assert.ok(head.at < first);
  assert.equal(known().slots[0]?.from, next);
  head.crash();
});

scenario('[H2] a reservation for one time outlives a clock that is a day ahead', (head) => {
  begin(head);
  head.connect('n1', { cpus: 2 });
  head.command(reserve({ at: head.at + HOUR, nodes: ['n1'], users: ['ann'] }), OPERATOR);
  const id = head.submit({ reservation: 'r1', walltimeMs: MINUTE });
  set(head, DAY);
  head.tick();
  pass(head, MINUTE);
  head.tick();
  assert.equal(head.outcome(id), null, 'it still waits');
  set(head, -DAY);
  pass(head, HOUR - MINUTE);
  head.tick();
  assert.equal(head.schedule().length, 1, 'in its time it starts');
  // And a clock that nobody takes back is believed in the end.
  head.command(reserve({ at: head.at + 2 * HOUR, nodes: ['n1'] }), OPERATOR);
  set(head, DAY);
  head.tick();
  assert.ok(head.state.reservations.has('r2'));
  pass(head, HOUR);
  head.tick();
  assert.ok(!head.state.reservations.has('r2'));
});

for (const byMs of [DAY, -DAY]) {
  scenario(`[H1] maintenance under way keeps its length, clock set by ${byMs} ms`, (head) => {
    begin(head);
    head.connect('n1', { cpus: 2 });
    head.command(
      {
        kind: 'plan_maintenance',
        nodes: ['n1' as NodeName],
        time: { kind: 'now' },
        durationMs: HOUR,
        running: 'requeue',
        warning: null,
        program: null,
        reason: 'new disks',
      },
      OPERATOR,
    );
    assert.equal(head.state.maintenances.get('m1')?.phase, 'active');
    pass(head, MINUTE);
    set(head, byMs);
    head.submit({ cpuCount: 1 });
    head.tick();
    assert.equal(head.state.maintenances.get('m1')?.phase, 'active');
    assert.deepEqual(head.schedule(), [], 'nothing starts there, to be ended at once');
    pass(head, HOUR - MINUTE);
    head.tick();
    assert.equal(head.state.maintenances.get('m1')?.phase, 'done');
    assert.deepEqual(head.schedule(), ['1#1@n1']);
  });
}

scenario('[H2] maintenance is not missed by a clock that is a day ahead', (head) => {
  begin(head);
  head.connect('n1', { cpus: 2 });
  const nodes = ['n1' as NodeName];
  head.command({
    kind: 'plan_maintenance',
    nodes,
    time: { kind: 'fixed', from: head.at + HOUR },
    durationMs: HOUR,
    running: { kind: 'wait' },
    warning: null,
    program: null,
    reason: 'disk',
  } as never);
  set(head, DAY);
  head.tick();
  assert.equal(head.state.maintenances.get('m1')?.phase, 'planned');
  set(head, -DAY);
  pass(head, HOUR + MINUTE);
  head.tick();
  assert.notEqual(head.state.maintenances.get('m1')?.phase, 'planned');
});
