// When the head tells somebody, and what it makes of the answers: the means are the test's.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
import type { Attempt, NotifyRules } from '../../../../../src/kernel/model/notification.ts';
import { formatTarget } from '../../../../../src/kernel/model/notification.ts';
import type { Message } from '../../../../../src/wings/notify/head/message.ts';
import type { Notifiers } from '../../../../../src/wings/notify/head/notifiers.ts';
import { Notifying } from '../../../../../src/wings/notify/head/notifying.ts';
import { EngineBench, settlePromises } from '../../../../support/engine.ts';
import { KeptLog } from '../../../kernel/head/http/fixture.ts';

const NOTIFY: NotifyRules = {
  matrix: ['*'],
  webhook: ['*'],
  command: ['tell'],
  mail: null,
  giveUpMs: 86_400_000,
};
const ROOM = 'matrix:@ann:lab';

interface Asked {
  readonly to: string;
  readonly message: Message;
  readonly answer: (attempt: Attempt) => Promise<void>;
}

class Bench extends EngineBench {
  readonly asked: Asked[] = [];
  readonly log = new KeptLog();
  readonly audit = new KeptLog();
  notifying: Notifying | null = null;

  constructor() {
    super({ notify: NOTIFY });
  }

  override async start(): Promise<this> {
    await super.start();
    const notifiers: Notifiers = {
      kinds: ['matrix', 'webhook'],
      tell: (target, message) =>
        new Promise<Attempt>((resolve) => {
          const answer = async (attempt: Attempt): Promise<void> => {
            resolve(attempt);
            await this.settle();
          };
          this.asked.push({ to: formatTarget(target), message, answer });
        }),
    };
    const { engine, clock, log, audit } = this;
    this.notifying = new Notifying({ engine, clock, log, audit, clusterName: 'lab' }, notifiers);
    return this;
  }

  /** A job of this user that is cancelled at once, and so is done. */
  async end(...notify: string[]): Promise<void> {
    const { nextJobId } = this.engine.state;
    this.submit(`job ${nextJobId}`, { notify, held: true });
    const jobId = nextJobId as JobId;
    this.command('end', { kind: 'cancel_task', place: { jobId, index: null } });
  }

  async tick(): Promise<string[]> {
    const before = this.asked.length;
    this.notifying?.tick();
    await settlePromises();
    return this.asked.slice(before).map(({ to, message }) => `${to}: ${message.title}`);
  }

  get last(): Asked {
    const last = this.asked.at(-1);
    assert.ok(last !== undefined, 'somebody is told');
    return last;
  }
}

async function start(): Promise<Bench> {
  const bench = await new Bench().start();
  await bench.connect('n1');
  return bench;
}

const TOLD: Attempt = { kind: 'told' };

test('[T1] nobody is told before the end is durable, and once after', async () => {
  const bench = await start();
  await bench.end(ROOM);
  assert.deepEqual(await bench.tick(), [], 'it is not written yet');
  await bench.settle();
  assert.equal(bench.asked.length, 1);
  assert.match(bench.last.message.text, /^Job 1 \(work\) was cancelled/);
  await bench.last.answer(TOLD);
  assert.deepEqual(await bench.tick(), []);
  assert.deepEqual(bench.audit.lines.at(-1)?.fields, {
    who: 'system',
    what: 'notify',
    target: ROOM,
    ids: ['job 1'],
    words: 'told',
  });
});

test('[T1] a head that dies between telling and noting tells again, by the same id', async () => {
  const bench = await start();
  await bench.end(ROOM);
  await bench.settle();
  await bench.tick();
  const { id } = bench.last.message;
  await bench.crash();
  assert.deepEqual(await bench.tick(), [`${ROOM}: ${bench.last.message.title}`]);
  assert.equal(bench.last.message.id, id);
  await bench.last.answer(TOLD);
  await bench.crash();
  assert.deepEqual(await bench.tick(), []);
});

test('[T2] one that hangs holds up its own target only', async () => {
  const bench = await start();
  await bench.end(ROOM);
  await bench.end(ROOM, 'command:tell');
  await bench.settle();
  assert.deepEqual((await bench.tick()).length, 2);
  assert.deepEqual(await bench.tick(), [], 'both are being told');
  await bench.last.answer(TOLD);
  assert.deepEqual(await bench.tick(), []);
});

test('who was told is told of what came meanwhile at once, and after a failure later', async () => {
  const bench = await start();
  await bench.end(ROOM);
  await bench.settle();
  await bench.tick();
  await bench.end(ROOM);
  await bench.settle();
  assert.equal(bench.asked.length, 1);
  await bench.last.answer(TOLD);
  await settlePromises();
  assert.equal(bench.asked.length, 2);
  await bench.end(ROOM);
  await bench.last.answer({ kind: 'failed', why: 'no room' });
  await settlePromises();
  assert.equal(bench.asked.length, 2);
});

test('[T2] of one kind a few at a time', async () => {
  const bench = await start();
  for (let at = 0; at < 6; at += 1) await bench.end(`webhook:https://host${at}/`, ROOM);
  await bench.settle();
  const told = await bench.tick();
  assert.deepEqual(told.filter((one) => one.startsWith('webhook:')).length, 4);
  assert.deepEqual(told.filter((one) => one.startsWith('matrix:')).length, 1);
  await bench.asked.find(({ to }) => to.startsWith('webhook:'))?.answer(TOLD);
  await settlePromises();
  assert.equal(bench.asked.length, told.length + 1, 'the next one, without waiting for a tick');
  assert.deepEqual(await bench.tick(), []);
});

test('[T3] what the site does not allow any more is not told', async () => {
  const bench = await start();
  await bench.end(ROOM);
  await bench.settle();
  bench.engine.changeSettings({ ...bench.settings, notify: { ...NOTIFY, matrix: ['@bob:lab'] } });
  await bench.settle();
  assert.deepEqual(await bench.tick(), []);
  await bench.settle();
  const [delivery] = bench.engine.state.notifications.get('job 1')?.deliveries ?? [];
  assert.equal(
    delivery?.why,
    'This cluster does not notify matrix:@ann:lab; it may notify @bob:lab.',
  );
});

test('how the notifiers do is known', async () => {
  const bench = await start();
  await bench.end(ROOM);
  await bench.settle();
  await bench.tick();
  await bench.last.answer({ kind: 'failed', why: 'connection refused' });
  const health = () => bench.notifying?.health.get('matrix');
  const at = bench.clock.now();
  assert.deepEqual(health(), { toldAt: null, failure: { at, why: 'connection refused' } });
  bench.clock.pass(10_000);
  await bench.tick();
  await bench.last.answer(TOLD);
  assert.deepEqual(health(), { toldAt: at + 10_000, failure: null });
  assert.deepEqual(bench.notifying?.health.get('webhook'), { toldAt: null, failure: null });
});
