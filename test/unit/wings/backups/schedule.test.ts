// When a head makes backups, and what it says of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BackupHeader } from '../../../../src/wings/backups/api/backup-header.ts';
import { findings } from '../../../../src/wings/backups/cli/doctor.ts';
import {
  type BackupMaker,
  Backups,
  type MadeBackup,
} from '../../../../src/wings/backups/head/backups.ts';
import { StillClock } from '../../../support/engine.ts';

const HOUR = 3_600_000;

function made(at: number): MadeBackup {
  const header: BackupHeader = {
    format: 1,
    weft: '1',
    cluster: 'lab',
    head: 'h',
    madeAt: at,
    tookMs: 1,
    entries: 2,
    bytes: 10,
    newBytes: 10,
    listSha256: '',
    records: 3,
    lastJobId: 1,
    unfinishedJobs: 0,
    configuration: [],
  };
  return { name: `at-${at}`, folder: `/b/at-${at}`, header, left: null };
}

/** Each backup waits until it is let go. */
function world({ there = [] as MadeBackup[], to = '/b' as string | null } = {}) {
  const clock = new StillClock();
  const orders: { to: string; keep: number; at: number }[] = [];
  let settle: ((why?: string) => Promise<void>) | null = null;
  const maker: BackupMaker = {
    make: (order) =>
      new Promise((done, failed) => {
        orders.push(order);
        settle = async (why) => {
          if (why === undefined) done(made(order.at));
          else failed(new Error(why));
          await new Promise(setImmediate);
        };
      }),
    list: async () => there,
  };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const backups = new Backups(maker, { to, everyMs: HOUR, keep: 2 }, { clock, log: log as never });
  const tick = async (): Promise<void> => {
    backups.tick();
    await new Promise(setImmediate);
  };
  return { clock, orders, backups, tick, end: (why?: string) => settle?.(why) };
}

test('the first look is at what is there, and a backup is made when the last is old enough', async () => {
  const clock = new StillClock();
  const { backups, tick, orders, clock: own } = world({ there: [made(clock.now() - HOUR / 2)] });
  await tick();
  await tick();
  assert.equal(orders.length, 0);
  assert.equal(backups.view().nextAt, own.now() + HOUR / 2);
  own.pass(HOUR / 2);
  await tick();
  assert.deepEqual(
    orders.map(({ to, keep }) => [to, keep]),
    [['/b', 2]],
  );
});

test('one at a time: what is due waits, and who asks is told which is being made', async () => {
  const { backups, tick, orders, end } = world();
  await tick();
  await tick();
  await tick();
  assert.equal(orders.length, 1);
  const refused = backups.start('/c');
  assert.equal(refused.ok, false);
  assert.equal(refused.error.code, 'backup.busy');
  await end();
  assert.equal(backups.view().running, null);
  assert.equal(backups.start('/c').ok, true);
  assert.deepEqual(
    orders.map(({ to }) => to),
    ['/b', '/c'],
  );
});

test('without a folder in the configuration the doctor claims nothing of what was made elsewhere', () => {
  const none = { to: null, last: null, failure: null } as Parameters<typeof findings>[0];
  const [finding] = findings(none, 0);
  assert.equal(finding?.text, 'backups: none are made by themselves');
});

test('after a failure the next try is ten minutes later, and the doctor says why', async () => {
  const { backups, tick, orders, end, clock } = world();
  await tick();
  await tick();
  await end('no space left');
  const [finding] = findings(backups.view(), clock.now());
  assert.equal(finding?.state, 'bad');
  assert.match(finding?.text ?? '', /in \/b: no space left; none is there yet/);
  await tick();
  assert.equal(orders.length, 1);
  clock.pass(600_000);
  await tick();
  assert.equal(orders.length, 2);
  await end();
  assert.equal(findings(backups.view(), clock.now())[0]?.state, 'ok');
});

test('without a folder none is made, and who asks is told how to name one', async () => {
  const { backups, tick, orders } = world({ to: null });
  await tick();
  assert.equal(orders.length, 0);
  const refused = backups.start(undefined);
  assert.equal(refused.ok, false);
  assert.equal(refused.error.code, 'backup.nowhere');
  assert.equal(findings(backups.view(), 0)[0]?.state, 'note');
});

test('a backup elsewhere changes nothing of the plan, and its failure neither', async () => {
  const { backups, tick, orders, end, clock } = world({ there: [] });
  await tick();
  await tick();
  await end();
  assert.equal(backups.start('/elsewhere').ok, true);
  await end('no such folder');
  const { failure, recent, nextAt } = backups.view();
  assert.equal(failure, null);
  assert.deepEqual([recent?.folder, recent?.why], ['/elsewhere', 'no such folder']);
  assert.equal(nextAt, clock.now() + HOUR);
  backups.change({ to: '/new', everyMs: HOUR, keep: 2 });
  await tick();
  await tick();
  assert.equal(orders.at(-1)?.to, '/new');
});
