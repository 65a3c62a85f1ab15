// The history of the load: its means, its bounds, and what outlives a head.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { LoadBook, readLoad } from '../../../../../src/kernel/head/load/load-book.ts';
import { LoadKeeper, type LoadParts } from '../../../../../src/kernel/head/load/load-keeper.ts';
import type { State } from '../../../../../src/kernel/machine/state.ts';
import { KeptLog } from '../http/fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START = 20_000 * DAY_MS;
const IDLE = { cpus: 0, cpusTotal: 8, waiting: 0 };

test('[D11] a point of the load is the mean of its step, and what nobody saw is a gap', () => {
  const book = new LoadBook(START);
  for (const cpus of [0, 8, 4]) book.look(START + cpus * 1000, { ...IDLE, cpus, waiting: 3 });
  book.look(START + 10 * MINUTE_MS, { ...IDLE, cpus: 8 });
  const point = { ms: 15_000, cpusTotal: 8 };
  assert.deepEqual(book.points(START + 10 * MINUTE_MS), [
    { ...point, at: START, cpus: 4, waiting: 3 },
    { ...point, at: START + 10 * MINUTE_MS, cpus: 8, waiting: 0 },
  ]);
});

test('[D11] a week of looks is a day of points, the last hour in short steps', () => {
  const book = new LoadBook(START);
  const end = START + 7 * DAY_MS;
  for (let at = START; at <= end; at += MINUTE_MS) book.look(at, IDLE);
  const points = book.points(end);
  const times = points.map(({ at }) => at);
  assert.ok(points.length < 600, `${points.length} points`);
  assert.deepEqual(
    times,
    [...new Set(times)].sort((one, other) => one - other),
  );
  assert.ok((times[0] as number) >= end - DAY_MS - 5 * MINUTE_MS);
  const short = points.filter(({ ms }) => ms === 15_000);
  assert.ok(short.every(({ at }) => at > end - HOUR_MS - MINUTE_MS) && short.length >= 59);
  assert.ok(JSON.stringify(book.kept()).length < 200_000);
});

test('[D11] a clock that was a day ahead leaves no points ahead of now', () => {
  const book = new LoadBook(START);
  book.look(START + DAY_MS, IDLE);
  book.look(START, { ...IDLE, cpus: 2 });
  assert.deepEqual(
    book.points(START).map(({ at, cpus }) => [at, cpus]),
    [[START, 2]],
  );
});

test('[D11] ends of jobs are counted for a day', () => {
  const book = new LoadBook(START);
  book.ended(START, 'failed');
  book.ended(START + HOUR_MS, 'failed');
  book.ended(START + HOUR_MS, 'completed');
  assert.deepEqual(book.ends(START + HOUR_MS), { failed: 2, completed: 1 });
  assert.deepEqual(book.ends(START + DAY_MS + HOUR_MS / 2), { failed: 1, completed: 1 });
});

/** A head that is looked at whenever the test says so. */
function world(t: TestContext) {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-load-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const log = new KeptLog();
  let now = START;
  let due: (() => void) | null = null;
  const jobs = new Map<number, { endedAt: number; outcome: { kind: string } }>();
  const parts: LoadParts = {
    directory,
    log,
    look: () => ({ ...IDLE, cpus: 5 }),
    engine: { isReadable: true, state: { jobs } as unknown as State },
    clock: {
      now: () => now,
      after: (_, then) => {
        due = then;
        // A keeper that was stopped must not go on to write beside the one after it.
        const cancel = (): void => {
          if (due === then) due = null;
        };
        return { cancel };
      },
    },
  };
  const pass = (ms: number): void => {
    now += ms;
    due?.();
  };
  return { directory, log, jobs, parts, pass, now: () => now };
}

test('[D11] a head that starts again goes on with what the one before saw', async (t) => {
  const { parts, pass, now, jobs, log } = world(t);
  const before = await LoadKeeper.start(parts);
  before.committed({
    seq: 1,
    at: now(),
    events: [{ kind: 'job_done', jobId: 1 as never, outcome: { kind: 'failed' } }],
  });
  jobs.set(1, { endedAt: now(), outcome: { kind: 'failed' } });
  await before.stop();
  pass(HOUR_MS);
  // It ended in the last instants of the head before, which could not write that.
  jobs.set(2, { endedAt: now() - 1, outcome: { kind: 'timeout' } });
  const after = await LoadKeeper.start(parts);
  assert.deepEqual(after.ends(now()), { failed: 1, timeout: 1 });
  assert.deepEqual(
    after.points(now()).map(({ cpus }) => cpus),
    [5, 5],
  );
  await after.stop();
  assert.deepEqual(log.lines, []);
});

test('[D11] the load is written once a minute; a file that cannot be read is said, and begun anew', async (t) => {
  const { directory, log, parts, pass, now } = world(t);
  const file = path.join(directory, 'load.json');
  writeFileSync(file, '{"fine":[[1,{}]],"coarse":[],"ends":[],"countedUntil":1}');
  const keeper = await LoadKeeper.start(parts);
  assert.match(log.lines[0]?.message ?? '', /cannot be read/);
  pass(MINUTE_MS);
  await keeper.stop();
  const kept = readLoad(readFileSync(file, 'utf8'));
  assert.equal(kept?.fine.length, 2);
  assert.equal(keeper.points(now()).length, 2);
  const elsewhere = await LoadKeeper.start({ ...parts, directory: path.join(directory, 'gone') });
  pass(MINUTE_MS);
  await elsewhere.stop();
  const said = log.lines.filter(({ message }) => /cannot be kept/.test(message));
  assert.equal(said.length, 1, 'said once, however often it fails');
});
