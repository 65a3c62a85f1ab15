// Notifications in the head's books: who may be told, when somebody is due, and what comes of
// attempts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../../../../../src/kernel/machine/check.ts';
import { stepOf } from '../../../../../src/kernel/machine/controller.ts';
import type { JobId, UserName } from '../../../../../src/kernel/model/ids.ts';
import {
  NOTIFICATIONS_KEPT_MAX,
  NOTIFICATIONS_WAITING_MAX,
  NOTIFY_TRIES_MAX,
} from '../../../../../src/kernel/model/limits.ts';
import type { Attempt, NotifyRules } from '../../../../../src/kernel/model/notification.ts';
import type { SubmitBatch } from '../../../../../src/wings/batches/machine/commands.ts';
import {
  type DueMessage,
  outstandingNotifications,
} from '../../../../../src/wings/notify/machine/attempts.ts';
import { tell } from '../../../../../src/wings/notify/machine/due.ts';
import {
  ANN,
  kinds,
  START_AT,
  scenario,
  submission,
  TestHead,
} from '../../../../support/controller.ts';

const HOUR_MS = 3_600_000;
const NOTIFY: NotifyRules = {
  matrix: ['@*:lab'],
  webhook: ['*.lab'],
  command: ['tell', 'page'],
  mail: null,
  giveUpMs: 24 * HOUR_MS,
};
const ROOM = 'matrix:@ann:lab';
const HOOK = 'webhook:https://ci.lab/hook';

const due = (head: TestHead): string[] =>
  outstandingNotifications(head.state, head.at).map(wishWords);

function wishWords({ target, notifications }: DueMessage): string {
  return `${target} of ${notifications.map(({ id }) => id).join(', ')}`;
}

function attempt(head: TestHead, attempt: Attempt): string[] {
  return outstandingNotifications(head.state, head.at).flatMap(({ target, notifications }) => {
    const told = notifications.map(({ id, at }) => ({ id, at }));
    const command = { kind: 'note_attempt', target, told, attempt } as const;
    return kinds(head.perform({ kind: 'command', command, actor: { kind: 'system' } }).events);
  });
}

const fail = (head: TestHead): string[] => attempt(head, { kind: 'failed', why: 'refused' });
const succeed = (head: TestHead): string[] => attempt(head, { kind: 'told' });

scenario('[T3] only targets that the site allows are accepted', (head) => {
  head.connect('n1');
  const refused = (...notify: string[]) => head.refused(submission({ notify }), ANN);
  assert.equal(refused(ROOM), 'notification.not_set_up');
  head.settings = { ...head.settings, notify: NOTIFY };
  assert.equal(refused('matrix:@ann:elsewhere'), 'notification.target_refused');
  assert.equal(refused('webhook:https://lab/'), 'notification.target_refused');
  assert.equal(refused('command:tall'), 'notification.command_unknown');
  assert.equal(refused('mail:ann@lab'), 'notification.not_set_up');
  assert.equal(refused(ROOM, 'ann'), 'argument.invalid');
  const many = Array.from({ length: 11 }, (_, at) => `matrix:@u${at}:lab`);
  assert.equal(refused(...many), 'argument.invalid');
  const id = head.submit({ notify: [ROOM, HOOK, 'command:tell', ROOM] });
  assert.deepEqual(head.job(id).spec.notify, [ROOM, HOOK, 'command:tell']);
});

scenario(
  '[T1] whoever wants to know is told when the job is done, also after a restart',
  (head) => {
    head.settings = { ...head.settings, notify: NOTIFY };
    head.connect('n1');
    const id = head.running({ name: 'train', notify: [ROOM, HOOK] });
    assert.deepEqual(due(head), []);
    head.ended(`${id}#1`, { code: 3 });
    assert.deepEqual(due(head), [`${ROOM} of job 1`, `${HOOK} of job 1`]);
    head.crash();
    assert.deepEqual(due(head), [`${ROOM} of job 1`, `${HOOK} of job 1`]);
    const { news } = head.state.notifications.get('job 1') ?? {};
    assert.deepEqual([news?.name, news?.owner, news?.outcome], ['train', 'ann', 'failed']);
    assert.deepEqual(news?.exit, { code: 3 });
    assert.deepEqual(succeed(head), ['notification_told', 'notification_told']);
    assert.deepEqual(due(head), []);
    head.crash();
    assert.deepEqual(due(head), [], 'nobody is told again');
  },
);

scenario('[T1] an array is told of once, with how its tasks ended', (head) => {
  head.settings = { ...head.settings, notify: NOTIFY };
  head.connect('n1', { cpus: 3 });
  head.submit({ array: { indices: '0-2' }, notify: [ROOM] });
  head.schedule();
  for (const [index, code] of [0, 1, 0].entries()) {
    head.started(`1[${index}]#1`);
    assert.deepEqual(due(head), []);
    head.ended(`1[${index}]#1`, { code });
  }
  assert.deepEqual(due(head), [`${ROOM} of job 1`]);
  const { news } = head.state.notifications.get('job 1') ?? {};
  assert.deepEqual(news?.counts, { completed: 2, failed: 1 });
});

scenario('what nobody wants to know leaves no trace', (head) => {
  head.settings = { ...head.settings, notify: NOTIFY };
  head.connect('n1');
  const id = head.running();
  head.ended(`${id}#1`);
  assert.equal(head.state.notifications.size, 0);
});

scenario(
  '[T2] a failure is tried again after twice the pause, and others are not held up',
  (head) => {
    head.settings = { ...head.settings, notify: NOTIFY };
    head.connect('n1');
    for (let count = 0; count < 2; count += 1) {
      const id = head.running({ notify: count === 0 ? [HOOK] : [HOOK, ROOM] });
      head.ended(`${id}#1`);
    }
    assert.deepEqual(
      due(head),
      [`${HOOK} of job 1`, `${ROOM} of job 2`],
      'in the order of their ends',
    );
    const [first] = outstandingNotifications(head.state, head.at);
    const told = first?.notifications.map(({ id, at }) => ({ id, at })) ?? [];
    const failed = { kind: 'failed', why: 'refused' } as const;
    head.command({ kind: 'note_attempt', target: HOOK, told, attempt: failed });
    assert.deepEqual(due(head), [`${ROOM} of job 2`]);
    const [delivery] = head.state.notifications.get('job 1')?.deliveries ?? [];
    assert.equal(delivery?.nextAt, head.at + 10_000);
    head.at += 10_000;
    head.crash();
    assert.ok(due(head).includes(`${HOOK} of job 1`));
    head.command({ kind: 'note_attempt', target: HOOK, told, attempt: failed });
    const [again] = head.state.notifications.get('job 1')?.deliveries ?? [];
    assert.deepEqual([again?.tries, again?.nextAt], [2, head.at + 20_000]);
  },
);

scenario('[T2] the other side may ask for a longer pause, but not for ever', (head) => {
  head.settings = { ...head.settings, notify: NOTIFY };
  head.connect('n1');
  const id = head.running({ notify: [ROOM] });
  head.ended(`${id}#1`);
  const pause = (afterMs: number): number => {
    attempt(head, { kind: 'failed', why: 'too many', afterMs });
    const [delivery] = head.state.notifications.get('job 1')?.deliveries ?? [];
    const paused = (delivery?.nextAt ?? 0) - head.at;
    head.at += paused;
    return paused;
  };
  assert.equal(pause(60_000), 60_000);
  assert.equal(pause(1e15), HOUR_MS);
  assert.equal(pause(1), 40_000);
});

scenario('[T2] what cannot be told is given up by age', (head) => {
  head.settings = { ...head.settings, notify: NOTIFY };
  head.connect('n1');
  const id = head.running({ notify: [ROOM] });
  head.ended(`${id}#1`);
  const began = head.at;
  let tries = 0;
  for (let said: string[] = []; !said.includes('notification_given_up'); tries += 1) {
    said = fail(head);
    assert.equal(said.length, 1);
    const [delivery] = head.state.notifications.get('job 1')?.deliveries ?? [];
    head.at = delivery?.nextAt ?? 0;
  }
  assert.ok(head.at - began <= NOTIFY.giveUpMs);
  assert.ok(tries > 20 && tries < NOTIFY_TRIES_MAX);
  const [delivery] = head.state.notifications.get('job 1')?.deliveries ?? [];
  assert.deepEqual(
    [delivery?.state, delivery?.why, delivery?.tries],
    ['given_up', 'refused', tries],
  );
  assert.deepEqual(due(head), []);
});

scenario('[T2] and by number', (head) => {
  const giveUpMs = 365 * 24 * HOUR_MS;
  head.settings = { ...head.settings, notify: { ...NOTIFY, giveUpMs } };
  head.connect('n1');
  const id = head.running({ notify: [ROOM] });
  head.ended(`${id}#1`);
  for (let tries = 0; tries < NOTIFY_TRIES_MAX; tries += 1) {
    fail(head);
    head.at += HOUR_MS;
  }
  const [delivery] = head.state.notifications.get('job 1')?.deliveries ?? [];
  assert.deepEqual([delivery?.state, delivery?.tries], ['given_up', NOTIFY_TRIES_MAX]);
});

scenario('people are told of what has gathered in one message, programs one by one', (head) => {
  head.settings = { ...head.settings, notify: NOTIFY };
  head.connect('n1');
  for (let count = 0; count < 22; count += 1) {
    const id = head.running({ notify: [HOOK, ROOM] });
    head.ended(`${id}#1`);
  }
  const [hook, room] = outstandingNotifications(head.state, head.at);
  assert.deepEqual([hook?.notifications.length, room?.notifications.length], [1, 20]);
  succeed(head);
  const [nextHook, nextRoom] = outstandingNotifications(head.state, head.at);
  assert.deepEqual(
    nextHook?.notifications.map(({ id }) => id),
    ['job 2'],
  );
  assert.deepEqual(
    nextRoom?.notifications.map(({ id }) => id),
    ['job 21', 'job 22'],
  );
});

scenario('a retry tells the same targets, and a change leaves them', (head) => {
  head.settings = { ...head.settings, notify: NOTIFY };
  head.connect('n1');
  const id = head.running({ notify: [ROOM] });
  head.ended(`${id}#1`, { code: 1 });
  const retry = {
    kind: 'retry_job',
    jobId: id,
    key: null,
    retired: {},
    dependencies: null,
  } as const;
  head.command(retry, ANN);
  assert.deepEqual(head.job(2).spec.notify, [ROOM]);
  head.settings = { ...head.settings, notify: { ...NOTIFY, matrix: null } };
  head.command({ kind: 'change_job', jobId: head.job(2).id, change: { name: 'again' } }, ANN);
  assert.deepEqual([head.job(2).spec.name, head.job(2).spec.notify], ['again', [ROOM]]);
  head.command({ kind: 'change_job', jobId: head.job(2).id, change: { walltimeMs: 5000 } }, ANN);
  assert.deepEqual(head.job(2).spec.notify, [ROOM]);
});

scenario('only the head itself notes attempts', (head) => {
  head.settings = { ...head.settings, notify: NOTIFY };
  head.connect('n1');
  const id = head.running({ notify: [ROOM] });
  head.ended(`${id}#1`);
  const attempt = { kind: 'told' } as const;
  const told = [{ id: 'job 1', at: head.at }];
  const command = { kind: 'note_attempt', target: ROOM, told, attempt } as const;
  assert.equal(head.refused(command, ANN), 'auth.role_needed');
});

const NOW = { submittedAt: START_AT, startedAt: null, endedAt: START_AT };

/** Batches end, as many as told; `targetOf` says who wants to know of which. */
function endBatches(head: TestHead, count: number, targetOf: (at: number) => string): void {
  const step = stepOf(head.state, head.settings, head.at);
  const what = { name: 'heat', owner: 'ann' as UserName, outcome: 'build_failed', ...NOW } as const;
  for (let at = 0; at < count; at += 1) {
    tell(step, { ...what, subject: { kind: 'batch', batch: `lab/heat@${at}` } }, [targetOf(at)]);
  }
  check(head.state);
}

/** A batch of two jobs that ask for different things, so that it has two arrays. */
function batch(mode: 'new' | 'resume' = 'new'): SubmitBatch {
  const program = { kind: 'script', text: 'exec ./solve', args: [] } as const;
  const parts = [0, 1].map((number) => {
    const submission = { program, each: [{ name: `j${number}` }], cpuCount: number + 1 };
    return { submission: { ...submission, notify: [ROOM] }, numbers: [number], prints: ['x'] };
  });
  return {
    kind: 'submit_batch',
    namespace: 'ann',
    name: 'sweep',
    origin: 'weft',
    mode,
    parts,
    after: [],
    build: null,
    key: null,
  };
}

scenario(
  '[T1] a batch is told of once, by the last of its jobs, and again when it was resumed',
  (head) => {
    head.settings = { ...head.settings, notify: NOTIFY };
    head.connect('n1', { cpus: 4 });
    head.command(batch(), ANN);
    assert.equal(head.schedule().length, 2);
    for (const [id, code] of [
      ['1[0]#1', 0],
      ['2[0]#1', 1],
    ] as const) {
      assert.deepEqual(due(head), []);
      head.started(id);
      head.ended(id, { code });
    }
    assert.deepEqual(due(head), [`${ROOM} of batch ann/sweep`]);
    const news = () => head.state.notifications.get('batch ann/sweep')?.news;
    assert.deepEqual([news()?.outcome, news()?.counts], ['failed', { completed: 1, failed: 1 }]);
    succeed(head);
    head.command(batch('resume'), ANN);
    head.schedule();
    head.started('3[0]#1');
    assert.deepEqual(due(head), []);
    head.ended('3[0]#1');
    assert.deepEqual(due(head), [`${ROOM} of batch ann/sweep`]);
    assert.deepEqual(news()?.counts, { completed: 2 });
  },
);

test('[T1] a batch that ends again is told of as it ended last', () => {
  const head = new TestHead({ notify: NOTIFY });
  endBatches(head, 1, () => ROOM);
  endBatches(head, 1, () => HOOK);
  assert.deepEqual(due(head), [`${HOOK} of batch lab/heat@0`]);
});

scenario('[T1] who hears of one end of a batch has not heard of the next', (head) => {
  head.settings = { ...head.settings, notify: NOTIFY };
  head.connect('n1', { cpus: 4 });
  const end = (epochs: readonly string[], code: number): void => {
    head.schedule();
    for (const epoch of epochs) head.ended(epoch, { code });
  };
  head.command(batch(), ANN);
  end(['1[0]#1', '2[0]#1'], 1);
  const [slow] = outstandingNotifications(head.state, head.at);
  const told = slow?.notifications.map(({ id, at }) => ({ id, at })) ?? [];
  head.at += 1000;
  head.command(batch('resume'), ANN);
  end(['3[0]#1', '4[0]#1'], 0);
  const attempt = { kind: 'told' } as const;
  const command = { kind: 'note_attempt', target: ROOM, told, attempt } as const;
  head.perform({ kind: 'command', command, actor: { kind: 'system' } });
  assert.deepEqual(due(head), [`${ROOM} of batch ann/sweep`]);
});

const statesOf = (head: TestHead): (string | undefined)[] =>
  [...head.state.notifications.values()].map(({ deliveries: [one] }) => one?.state);

test('[T2] a target for which too many wait gets no more, whether of jobs or batches', () => {
  const head = new TestHead({ notify: NOTIFY });
  endBatches(head, NOTIFICATIONS_WAITING_MAX + 1, () => ROOM);
  const states = statesOf(head);
  assert.equal(states.filter((state) => state === 'waiting').length, NOTIFICATIONS_WAITING_MAX);
  assert.equal(states.at(-1), 'given_up');
});

test('[T2] a cluster that can tell nobody keeps a bounded number; those over go first', () => {
  const head = new TestHead({ notify: NOTIFY });
  endBatches(head, NOTIFICATIONS_KEPT_MAX + 5, (at) => `matrix:@u${at % 5}:lab`);
  assert.equal(head.state.notifications.size, NOTIFICATIONS_KEPT_MAX);
  assert.equal(statesOf(head).includes('given_up'), false);
  assert.equal(head.state.notifications.has('batch lab/heat@0'), true);
  succeed(head);
  const job = { kind: 'job', jobId: 1 as JobId } as const;
  const step = stepOf(head.state, head.settings, head.at);
  tell(step, { subject: job, name: 'x', owner: 'ann' as UserName, outcome: 'failed', ...NOW }, [
    ROOM,
  ]);
  assert.equal(head.state.notifications.size, NOTIFICATIONS_KEPT_MAX);
  assert.equal(head.state.notifications.has('batch lab/heat@0'), false, 'it was over');
  assert.deepEqual(statesOf(head).at(-1), 'waiting');
});
