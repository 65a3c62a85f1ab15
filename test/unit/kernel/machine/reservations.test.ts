// Reservations: where and when, for whom, what time brings, and who may change them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sayReason } from '../../../../src/kernel/head/answers/words/reason.ts';
import { explainPending, pendingOf } from '../../../../src/kernel/machine/answers/explain.ts';
import { retriesOn } from '../../../../src/kernel/machine/reservations/occurrences.ts';
import type { UserActor } from '../../../../src/kernel/model/actor.ts';
import { formatRefusal } from '../../../../src/kernel/model/errors.ts';
import type { NodeName, UserName } from '../../../../src/kernel/model/ids.ts';
import type { Reservation } from '../../../../src/kernel/model/reservation.ts';
import { plainPartition } from '../../../../src/kernel/model/scheduling.ts';
import {
  ANN,
  BOB,
  OPERATOR,
  place,
  SETTINGS,
  START_AT,
  scenario,
  submission,
  TestHead,
} from '../../../support/controller.ts';
import { GIB } from '../../../support/nodes.ts';
import { HOUR, MINUTE, type ReserveWords, reserve, wishOf } from '../../../support/reservations.ts';

const LATER = START_AT + HOUR;

function made(head: TestHead, words: ReserveWords): Reservation {
  const reply = head.command(reserve(words), OPERATOR);
  assert.equal(reply.kind, 'reserved');
  return (reply as Extract<typeof reply, { kind: 'reserved' }>).reservation;
}

/** `n1+n2 0..60`, minutes from the start, one a slot. */
function slotsOf({ slots }: Reservation): string[] {
  const minute = (at: number): number => (at - START_AT) / MINUTE;
  return slots.map(({ from, until, shares }) => {
    return `${Object.keys(shares).join('+')} ${minute(from)}..${minute(until)}`;
  });
}

scenario('[R3] a reservation is made where nothing is in the way, else says what is', (head) => {
  for (const name of ['n1', 'n2', 'n3']) head.connect(name);
  assert.deepEqual(slotsOf(made(head, { at: LATER, nodes: ['n2'] })), ['n2 60..120']);
  assert.deepEqual(slotsOf(made(head, { at: LATER, count: 2 })), ['n1+n3 60..120']);
  const rows: [ReserveWords, string][] = [
    [{ at: LATER, nodes: ['n2'] }, 'reservation.conflict'],
    [{ at: LATER + 59 * MINUTE, count: 1 }, 'reservation.conflict'],
    [{ at: START_AT - 1 }, 'reservation.past'],
    [{ within: [START_AT - HOUR, START_AT + HOUR - 10_001] }, 'reservation.past'],
    [{ within: [LATER, LATER + HOUR] }, 'reservation.no_slot'],
    [{ within: [LATER, LATER + HOUR - 1] }, 'argument.invalid'],
    [{ at: LATER, lasts: 0 }, 'argument.invalid'],
    [{ at: LATER, nodes: ['n9'] }, 'node.not_found'],
    [{ at: LATER, labels: ['gpu'] }, 'label.unknown'],
    [{ at: LATER, labels: ['(gpu | big'] }, 'label.invalid'],
    [{ at: LATER, labels: ['gpu | big'] }, 'reservation.unsatisfiable'],
    [{ at: LATER, nodes: ['n1', 'n1'] }, 'argument.invalid'],
    [{ at: LATER, nodes: ['n1'], count: 2 }, 'argument.invalid'],
    [{ at: LATER, count: 0 }, 'argument.invalid'],
    [{ at: LATER, share: {} }, 'argument.invalid'],
    [{ at: LATER, count: 4 }, 'reservation.unsatisfiable'],
    [{ at: LATER, share: { cpus: 5 } }, 'reservation.unsatisfiable'],
    [{ at: LATER, name: 'r7' }, 'argument.invalid'],
    [{ at: LATER, name: 'a b' }, 'argument.invalid'],
    [
      { at: LATER, members: { jobs: [77 as never] }, lasts: MINUTE, nodes: ['n1'] },
      'reservation.conflict',
    ],
    [{ at: START_AT + 2 * HOUR, members: { jobs: [77 as never] } }, 'job.not_found'],
  ];
  for (const [words, code] of rows) {
    assert.equal(head.refused(reserve(words), OPERATOR), code, JSON.stringify(words));
  }
  assert.deepEqual(slotsOf(made(head, { at: LATER + HOUR })), ['n1 120..180']);
});

scenario('[R3] a refusal says what comes nearest, and what to do', (head) => {
  for (const name of ['n1', 'n2']) head.connect(name);
  const words = (wish: ReserveWords): string => {
    const { result } = head.perform({ kind: 'command', command: reserve(wish), actor: OPERATOR });
    return result.ok ? '' : formatRefusal(result.error);
  };
  assert.match(words({ share: { cpus: 9 } }), /The nearest node is n1 .*; it lacks 5 cpus\.$/);
  head.command({ kind: 'drain_node', node: 'n2' as NodeName, reason: 'fan' });
  assert.match(words({ count: 2 }), /Drained nodes are used only when named: n2\.$/);
  made(head, { at: LATER, nodes: ['n1'] });
  assert.match(words({ at: LATER, nodes: ['n1'] }), /Choose other nodes or another time\.$/);
  assert.match(words({ at: START_AT - 1 }), /^The start is in the past: .*\. Give a later time\.$/);
});

scenario('[R3] labels are those of jobs: plain ones, or expressions over them', (head) => {
  for (const name of ['n1', 'n2', 'n3']) head.connect(name);
  head.command({ kind: 'label_node', node: 'n2' as NodeName, add: ['gpu', 'old'], remove: [] });
  head.command({ kind: 'label_node', node: 'n3' as NodeName, add: ['gpu'], remove: [] });
  assert.deepEqual(slotsOf(made(head, { at: LATER, labels: ['gpu & !old'] })), ['n3 60..120']);
  assert.deepEqual(slotsOf(made(head, { at: LATER, labels: ['!gpu'] })), ['n1 60..120']);
});

scenario('[R3] a task that was stopped meanwhile is in the way for so much longer', (head) => {
  head.connect('n1');
  head.running({ walltimeMs: HOUR });
  head.tick(10 * MINUTE);
  head.command({ kind: 'suspend_task', place: place('1') }, ANN);
  head.suspended('1#1');
  head.crash();
  head.connect('n1', { held: head.heldBy('n1') });
  head.tick(2 * HOUR);
  assert.equal(head.refused(reserve({ at: head.at + 50 * MINUTE })), 'reservation.busy');
  head.command({ kind: 'resume_task', place: place('1') }, ANN);
  head.resumed('1#1');
  assert.equal(head.refused(reserve({ at: head.at + 50 * MINUTE - 1 })), 'reservation.busy');
  made(head, { at: head.at + 50 * MINUTE });
});

scenario('[R3] shares of one node stand side by side until it is full', (head) => {
  head.connect('n1');
  for (const cpus of [1, 3]) made(head, { at: LATER, share: { cpus } });
  assert.equal(head.refused(reserve({ at: LATER, share: { cpus: 1 } })), 'reservation.conflict');
  assert.equal(head.refused(reserve({ at: LATER })), 'reservation.conflict');
});

scenario('[R4] a flexible one gets the first gap for all its nodes together', (head) => {
  for (const name of ['n1', 'n2']) head.connect(name);
  made(head, { at: START_AT + 30 * MINUTE, lasts: 30 * MINUTE, nodes: ['n1'] });
  made(head, { at: START_AT + 80 * MINUTE, lasts: 40 * MINUTE, nodes: ['n2'] });
  const within = [START_AT, START_AT + 5 * HOUR] as const;
  const rows: [ReserveWords, string][] = [
    [{ lasts: 30 * MINUTE, count: 2 }, 'n1+n2 0..30'],
    [{ lasts: 20 * MINUTE, count: 2 }, 'n1+n2 60..80'],
    [{ lasts: 20 * MINUTE, nodes: ['n2'] }, 'n2 30..50'],
    [{ lasts: 60 * MINUTE, count: 2 }, 'n1+n2 120..180'],
    [{ lasts: 30 * MINUTE }, 'n1 80..110'],
  ];
  for (const [words, slot] of rows) {
    assert.deepEqual(slotsOf(made(head, { ...words, within })), [slot], JSON.stringify(words));
  }
});

scenario(
  '[R4] a window as long as the reservation is long enough, however short its way',
  (head) => {
    head.connect('n1');
    const said = head.at;
    head.tick(6000);
    const within = [said, said + 2 * HOUR] as const;
    const first = made(head, { lasts: 2 * HOUR, within, share: { cpus: 1 } });
    assert.deepEqual(slotsOf(first), ['n1 0.1..120.1']);
    const short = [said, said + 2 * HOUR - 1] as const;
    assert.equal(head.refused(reserve({ lasts: 2 * HOUR, within: short })), 'argument.invalid');
    head.tick(4001);
    assert.equal(head.refused(reserve({ lasts: 2 * HOUR, within })), 'reservation.past');
  },
);

scenario(
  '[R3] running tasks are in the way by their time limits, and always without one',
  (head) => {
    for (const name of ['n1', 'n2']) head.connect(name);
    head.submit({ walltimeMs: 90 * MINUTE, nodeNames: ['n1' as NodeName] });
    head.submit({ nodeNames: ['n2' as NodeName] });
    head.schedule();
    assert.equal(head.refused(reserve({ at: LATER, nodes: ['n1'] })), 'reservation.busy');
    assert.equal(head.refused(reserve({ at: LATER, nodes: ['n2'] })), 'reservation.busy');
    const within = [START_AT, START_AT + 9 * HOUR] as const;
    assert.equal(head.refused(reserve({ within, count: 2 })), 'reservation.no_slot');
    assert.deepEqual(slotsOf(made(head, { within })), ['n1 90..150']);
    assert.deepEqual(slotsOf(made(head, { at: LATER, nodes: ['n2'], force: true })), [
      'n2 60..120',
    ]);
  },
);

scenario('[R1] nothing foreign starts that would run into a reservation', (head) => {
  head.connect('n1');
  made(head, { at: LATER, users: ['ann'], name: 'course' });
  head.submit({}, { by: BOB });
  const long = head.submit({ walltimeMs: 61 * MINUTE }, { by: BOB });
  const short = head.submit({ walltimeMs: HOUR }, { by: BOB });
  const inside = head.submit({ walltimeMs: HOUR, reservation: 'course' });
  assert.deepEqual(head.schedule(), [`${short}#1@n1`]);
  head.started(`${short}#1`);
  head.tick(30 * MINUTE);
  head.ended(`${short}#1`);
  assert.deepEqual(head.schedule(), []);
  head.tick(30 * MINUTE);
  assert.deepEqual(head.schedule(), [`${inside}#1@n1`]);
  head.started(`${inside}#1`);
  head.ended(`${inside}#1`);
  assert.deepEqual(head.schedule(), []);
  head.tick(HOUR);
  assert.equal(head.state.reservations.size, 0);
  assert.deepEqual(head.schedule(), [`1#1@n1`, `${long}#1@n1`]);
});

scenario('[R5] only its users and groups get in, only with what can run in it', (head) => {
  head.connect('n1');
  const chem: UserActor = { ...(BOB as UserActor), groups: ['chem'] };
  made(head, {
    name: 'lab',
    users: ['ann'],
    members: { groups: ['chem'] },
    share: { cpus: 2, memory: GIB },
  });
  const into = { reservation: 'lab', walltimeMs: HOUR };
  head.submit(into);
  head.submit(into, { by: chem });
  head.submit({ ...into, labels: ['!old'] });
  const rows: [object, string][] = [
    [{ ...into, reservation: 'r9' }, 'reservation.not_found'],
    [{ ...into, walltimeMs: null }, 'reservation.job_unfit'],
    [{ ...into, walltimeMs: HOUR + 1 }, 'reservation.job_unfit'],
    [{ ...into, cpuCount: 3 }, 'reservation.job_unfit'],
    [{ ...into, nodeCount: 2 }, 'reservation.job_unfit'],
    [{ ...into, exclusive: true }, 'reservation.job_unfit'],
  ];
  for (const [wish, code] of rows) {
    assert.equal(head.refused(submission(wish), ANN), code, JSON.stringify(wish));
  }
  assert.equal(head.refused(submission(into), BOB), 'reservation.denied');
});

scenario(
  '[R5] what asks for no cpus is not let into a share in which nothing can start',
  (head) => {
    head.connect('n1', { gpus: 2 });
    made(head, { name: 'bare', users: ['ann'], share: { cpus: 0, memory: 0, gpus: 2 } });
    made(head, { name: 'small', users: ['ann'], share: { cpus: 1, memory: 0 } });
    const nothing = { walltimeMs: HOUR, cpuCount: 0, memoryBytes: 0 };
    const words = (wish: object): string => {
      const command = submission({ ...nothing, ...wish });
      const { result } = head.perform({ kind: 'command', command, actor: ANN });
      return result.ok ? 'taken' : formatRefusal(result.error);
    };
    assert.match(
      words({ reservation: 'bare', gpuCount: 1 }),
      /the reserved share, 0 cpus, 2 gpus of each node, is too small for 1 node with 0 cpus, 1 gpu/,
    );
    assert.equal(words({ reservation: 'small' }), 'taken');
    assert.deepEqual(head.schedule(), ['1#1@n1']);
  },
);

scenario(
  '[R6] cancelled while it lasts, it frees at once: members run on, what waits ends',
  (head) => {
    head.connect('n1');
    made(head, { name: 'lab', users: ['ann'], share: { cpus: 3, memory: GIB } });
    const into = { reservation: 'lab', walltimeMs: HOUR, cpuCount: 3 };
    const runs = head.submit(into);
    const waits = head.submit(into);
    const other = head.submit({ cpuCount: 1 }, { by: BOB });
    assert.deepEqual(head.schedule(), [`${runs}#1@n1`, `${other}#1@n1`]);
    head.started(`${runs}#1`);
    const cancel = { kind: 'cancel_reservation', reservation: 'lab' } as const;
    assert.equal(head.refused(cancel, ANN), 'auth.role_needed');
    head.command(cancel, OPERATOR);
    assert.equal(
      head.job(waits).outcome?.detail,
      'reservation lab was cancelled by olga before the task could start',
    );
    assert.equal(head.refused(cancel, OPERATOR), 'reservation.not_found');
    head.command({ kind: 'requeue_task', place: { jobId: runs, index: null } });
    head.ended(`${runs}#1`, { signal: 15, cause: 'requeue' as never });
    assert.deepEqual(head.schedule(), [`${runs}#2@n1`]);
  },
);

scenario(
  '[R5, J4] a begin time too late for it is refused; what a change shuts out is told',
  (head) => {
    for (const name of ['n1', 'n2']) head.connect(name);
    made(head, { at: LATER, lasts: HOUR, nodes: ['n1'], users: ['ann'], name: 'lab' });
    const begins = (minutes: number) => {
      const beginAt = LATER + minutes * MINUTE;
      return { reservation: 'lab', walltimeMs: 10 * MINUTE, beginAt };
    };
    assert.equal(head.refused(submission(begins(51)), ANN), 'reservation.job_unfit');
    const id = head.submit(begins(50));
    const words = (): string => {
      const reason = explainPending(head.state, head.settings, pendingOf(head.job(id), 0), head.at);
      return sayReason(reason, { name: null, now: head.at });
    };
    assert.match(words(), /^its begin time is/);
    const shorter = wishOf({ at: LATER, lasts: 5 * MINUTE, nodes: ['n1'] });
    head.command({ kind: 'change_reservation', reservation: 'lab', request: shorter }, OPERATOR);
    assert.equal(
      words(),
      'it cannot run in reservation lab: its time limit is 10m, the reservation lasts 5m',
    );
  },
);

test('[R5, J4] a reservation of nodes that the partition lacks is refused to its jobs', () => {
  const small = { ...plainPartition('small'), nodes: ['n0' as NodeName] };
  const partitions = { ...SETTINGS.scheduling.partitions, small };
  const scheduling = { ...SETTINGS.scheduling, partitions };
  const head = new TestHead({ scheduling });
  const nodes = Array.from({ length: 9 }, (_, at) => `n${at + 1}`);
  for (const name of ['n0', ...nodes]) head.connect(name);
  made(head, { nodes, users: ['ann'], name: 'lab' });
  const wish = { reservation: 'lab', walltimeMs: MINUTE, partition: 'small' };
  const input = { kind: 'command', command: submission(wish), actor: ANN } as const;
  const { result } = head.perform(input);
  assert.match(
    result.ok ? '' : formatRefusal(result.error),
    /too small.*; not in partition small: n1, n2,[^;]* n8, … \(9 nodes\)/,
  );
});

scenario('[R6] one for jobs alone is over when they are done', (head) => {
  head.connect('n1');
  const id = head.submit({ walltimeMs: HOUR, held: true });
  made(head, { at: LATER, name: 'own', members: { jobs: [id] } });
  head.tick();
  assert.equal(head.state.reservations.size, 1);
  head.command({ kind: 'cancel_task', place: place(String(id)) }, ANN);
  head.tick();
  assert.equal(head.state.reservations.size, 0);
});

scenario('[R7] what began or ended while the head was away is seen when it is back', (head) => {
  head.connect('n1');
  made(head, { at: LATER, users: ['ann'], name: 'a' });
  made(head, { at: LATER + HOUR, users: ['ann'], name: 'b' });
  const into = head.submit({ reservation: 'b', walltimeMs: HOUR });
  head.at += 2 * HOUR;
  head.crash();
  head.connect('n1');
  head.tick();
  assert.deepEqual(
    [...head.state.reservations.values()].map(({ name }) => name),
    ['b'],
  );
  assert.deepEqual(head.schedule(), [`${into}#1@n1`]);
});

scenario(
  '[R8] one that recurs is placed ahead, and an occurrence without room is skipped',
  (head) => {
    head.connect('n1');
    const daily = {
      cron: '0 9 * * *',
      zone: 'Europe/Berlin',
      starts: [1, 2, 3].map((n) => START_AT + n * 24 * HOUR),
    };
    const { id } = made(head, { name: 'daily', recurrence: daily });
    made(head, { name: 'once', at: START_AT + 4 * 24 * HOUR });
    const extend = (days: number[]): void => {
      const starts = days.map((day) => START_AT + day * 24 * HOUR);
      head.command({ kind: 'extend_reservation', id, starts }, { kind: 'system' });
    };
    assert.equal(
      head.refused({ kind: 'extend_reservation', id, starts: [] }, OPERATOR),
      'auth.role_needed',
    );
    extend([3, 4, 5]);
    const known = head.state.reservations.get(id) as Reservation;
    assert.deepEqual(
      slotsOf(known).map((slot) => slot.split(' ')[1]),
      ['1440..1500', '2880..2940', '4320..4380', '7200..7260'],
    );
    assert.match(known.skipped[0]?.because ?? '', /^Node n1 is reserved for once from /);
    const job = head.submit({ reservation: 'daily', walltimeMs: HOUR }, { by: OPERATOR });
    head.tick(25 * HOUR);
    assert.deepEqual(head.schedule(), []);
    head.tick(23 * HOUR);
    assert.deepEqual(head.schedule(), [`${job}#1@n1`]);
    head.at += 10 * 24 * HOUR;
    head.tick();
    assert.equal(head.state.reservations.size, 1, 'it comes again');
    extend([]);
    assert.equal(head.state.reservations.size, 0);
    const often = { ...daily, starts: [LATER, LATER + HOUR - 1] };
    assert.equal(head.refused(reserve({ recurrence: often })), 'argument.invalid');
    assert.equal(
      head.refused(reserve({ recurrence: { ...daily, starts: [] } })),
      'argument.invalid',
    );
  },
);

scenario('[R8] those that find no room for long keep no others from being tried', (head) => {
  const DAY = 24 * HOUR;
  for (const name of ['n1', 'n2']) head.connect(name);
  const hours = Array.from({ length: 13 }, (_, hour) => hour);
  const ids = hours.map((hour) => {
    const starts = [START_AT + DAY + hour * HOUR];
    const recurrence = { cron: `0 ${hour} * * *`, zone: 'UTC', starts };
    return made(head, { nodes: [hour < 12 ? 'n1' : 'n2'], recurrence }).id;
  });
  for (const name of ['n1', 'n2']) {
    made(head, { name: `all-of-${name}`, nodes: [name], at: START_AT + 2 * DAY, lasts: 90 * DAY });
  }
  for (const [hour, id] of ids.entries()) {
    const starts = [START_AT + 3 * DAY + hour * HOUR];
    head.command({ kind: 'extend_reservation', id, starts }, { kind: 'system' });
  }
  const slots = (): number[] => {
    return ids.map((id) => head.state.reservations.get(id)?.slots.length ?? 0);
  };
  assert.deepEqual(new Set(slots()), new Set([1]));
  head.command({ kind: 'cancel_reservation', reservation: 'all-of-n2' });
  // They have turns, so the second look is not the first one again.
  for (const _ of 'xx') head.once({ kind: 'tick' });
  assert.deepEqual(slots(), [...Array.from({ length: 12 }, () => 1), 2]);
});

test('[R8] the larger the cluster, the rarer what is skipped is tried again', () => {
  assert.deepEqual(retriesOn(10, 3), { count: 3, pauseMs: 0 });
  assert.deepEqual(retriesOn(10, 30), { count: 10, pauseMs: 0 });
  assert.deepEqual(retriesOn(1000, 30), { count: 2, pauseMs: 1001 });
  assert.deepEqual(retriesOn(10_000, 30), { count: 1, pauseMs: 5000 });
});

scenario(
  '[R8] between two looks for skipped occurrences there is the pause that they cost',
  (head) => {
    head.connect('n1');
    const starts = [1, 2].map((day) => START_AT + day * 24 * HOUR);
    made(head, { name: 'second', at: START_AT + 48 * HOUR });
    const { id } = made(head, { recurrence: { cron: '0 9 * * *', zone: 'UTC', starts } });
    head.command({ kind: 'cancel_reservation', reservation: 'second' });
    head.state.scratch.retryNotBefore = head.at + 1500;
    const slots = [1000, 1000].map((ms) => {
      head.at += ms;
      head.once({ kind: 'tick' });
      return head.state.reservations.get(id)?.slots.length;
    });
    assert.deepEqual(slots, [1, 2]);
  },
);

scenario('[R8] of its first occurrences only the very first must have room', (head) => {
  head.connect('n1');
  const starts = [1, 2, 3].map((day) => START_AT + day * 24 * HOUR);
  const recurrence = { cron: '0 9 * * *', zone: 'UTC', starts };
  made(head, { name: 'second', at: START_AT + 48 * HOUR });
  const daily = made(head, { name: 'daily', recurrence });
  assert.deepEqual(slotsOf(daily), ['n1 1440..1500', 'n1 4320..4380']);
  assert.deepEqual(
    daily.skipped.map(({ from }) => from),
    [starts[1]],
  );
  assert.match(daily.skipped[0]?.because ?? '', /^Node n1 is reserved for second from /);
  assert.equal(head.refused(reserve({ name: 'again', recurrence })), 'reservation.conflict');
  head.command({ kind: 'cancel_reservation', reservation: 'second' });
  head.once({ kind: 'tick' });
  const known = head.state.reservations.get(daily.id) as Reservation;
  assert.deepEqual([known.slots.length, known.skipped], [3, []]);
});

scenario('[R8] an occurrence that begins while it is asked for has its first slot now', (head) => {
  head.connect('n1');
  const starts = [START_AT - 1, START_AT + 24 * HOUR];
  const known = made(head, { recurrence: { cron: '0 9 * * *', zone: 'UTC', starts } });
  assert.deepEqual(slotsOf(known), ['n1 0..60', 'n1 1440..1500']);
});

scenario(
  '[R9] operators reserve for all; users for themselves where the site lets them',
  (head) => {
    head.connect('n1');
    assert.equal(head.refused(reserve({ at: LATER }), ANN), 'auth.role_needed');
    head.settings = { ...head.settings, usersMayReserve: true };
    assert.equal(head.refused(reserve({ at: LATER, users: ['bob'] }), ANN), 'auth.role_needed');
    assert.equal(head.refused(reserve({ at: LATER, force: true }), ANN), 'auth.role_needed');
    head.command(reserve({ at: LATER, name: 'mine' }), ANN);
    assert.equal(
      head.refused(reserve({ at: LATER + 9 * HOUR, name: 'mine' })),
      'reservation.name_taken',
    );
    const change = { kind: 'change_reservation', reservation: 'mine' } as const;
    assert.equal(head.refused({ ...change, name: 'yours' }, BOB), 'auth.role_needed');
    assert.equal(
      head.refused({ ...change, members: { users: ['bob' as UserName] } }, ANN),
      'auth.role_needed',
    );
    const forced = wishOf({ at: LATER, force: true });
    assert.equal(head.refused({ ...change, request: forced }, ANN), 'auth.role_needed');
    head.command({ ...change, name: 'ours', request: wishOf({ at: LATER + 30 * MINUTE }) }, ANN);
    const known = head.state.reservations.get('r1') as Reservation;
    assert.deepEqual(
      [known.name, ...known.users, ...slotsOf(known)],
      ['ours', 'ann', 'n1 90..150'],
    );
  },
);

scenario('[R10] while it lasts its end can be moved as far as there is room', (head) => {
  head.connect('n1');
  made(head, { name: 'now', nodes: ['n1'] });
  made(head, { name: 'next', at: START_AT + 2 * HOUR, nodes: ['n1'] });
  head.tick(30 * MINUTE);
  const change = { kind: 'change_reservation', reservation: 'now' } as const;
  const lasting = (lasts: number) => ({ ...change, request: wishOf({ nodes: ['n1'], lasts }) });
  assert.equal(head.refused(lasting(2 * HOUR + 1000)), 'reservation.conflict');
  assert.equal(head.refused(lasting(30 * MINUTE)), 'reservation.past');
  assert.equal(head.refused({ ...change, request: wishOf({ count: 1 }) }), 'argument.invalid');
  head.command(lasting(2 * HOUR));
  assert.deepEqual(slotsOf(head.state.reservations.get('r1') as Reservation), ['n1 0..120']);
  head.command(lasting(45 * MINUTE));
  head.tick(15 * MINUTE);
  assert.equal(head.state.reservations.size, 1);
});

scenario('[R10] of one that recurred, later slots are kept when its end shall be moved', (head) => {
  head.connect('n1');
  const starts = [START_AT, START_AT + 24 * HOUR];
  const recurrence = { cron: '0 9 * * *', zone: 'UTC', starts };
  const { id } = made(head, { name: 'now', nodes: ['n1'], recurrence });
  head.command({ kind: 'extend_reservation', id, starts: [] }, { kind: 'system' });
  const request = wishOf({ nodes: ['n1'], lasts: 2 * HOUR });
  const change = { kind: 'change_reservation', reservation: 'now', request } as const;
  assert.equal(head.refused(change), 'argument.invalid');
  const known = head.state.reservations.get(id) as Reservation;
  assert.deepEqual(slotsOf(known), ['n1 0..60', 'n1 1440..1500']);
});

scenario('[R5] a change that leaves a reservation for nobody is refused', (head) => {
  head.connect('n1');
  const { id } = made(head, { at: LATER, members: { users: ['bob' as UserName] }, name: 'class' });
  const change = { kind: 'change_reservation', reservation: 'class' } as const;
  const users = () => head.state.reservations.get(id)?.users;
  head.command({ ...change, members: { users: [], groups: ['students'] } }, OPERATOR);
  assert.deepEqual(users(), []);
  const emptied = { ...change, members: { groups: [] } };
  assert.equal(head.refused(emptied, OPERATOR), 'argument.invalid');
  assert.deepEqual([users(), head.state.reservations.get(id)?.groups], [[], ['students']]);
  head.command({ ...change, members: { users: ['ann' as UserName], groups: [] } }, OPERATOR);
  assert.deepEqual(users(), ['ann']);
});

scenario('[R5] jobs can be put into a reservation and taken out while they wait', (head) => {
  head.connect('n1');
  head.submit({ walltimeMs: MINUTE, cpuCount: 4 }, { by: BOB });
  head.schedule();
  const id = head.submit({ walltimeMs: MINUTE }, { by: BOB });
  const words = { at: LATER, members: { jobs: [id] }, name: 'for-bob' };
  assert.equal(
    head.refused(reserve({ at: LATER, members: { jobs: [1 as never] } })),
    'job.not_pending',
  );
  made(head, words);
  head.started('1#1');
  head.ended('1#1');
  assert.deepEqual(head.schedule(), [], 'it waits for its reservation');
  const change = {
    kind: 'change_reservation',
    reservation: 'for-bob',
    members: { jobs: [], users: ['bob' as UserName] },
  } as const;
  head.command(change);
  assert.deepEqual(head.schedule(), [`${id}#1@n1`]);
});

scenario('[R11] there are only so many', (head) => {
  head.connect('n1');
  for (let n = 0; n < 1000; n += 1) {
    head.quietly(reserve({ at: LATER + n * 10_000, lasts: 1000 }));
  }
  assert.equal(head.refused(reserve({ at: START_AT + 9 * HOUR })), 'reservation.too_many');
});
