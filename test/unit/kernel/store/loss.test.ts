// kill -9, and then damage of the log that SQLite takes for one that simply ends earlier: the store
// must notice whenever what can be read ends before what was acknowledged.

import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Recovered, StoreFailure } from '../../../../src/kernel/ports/store.ts';
import { openSqliteStore } from '../../../../src/kernel/store/sqlite/open.ts';
import { killHard, scriptPath, startUntil } from './support/child.ts';
import { newDirectory } from './support/directory.ts';
import { commitOf, job } from './support/rows.ts';

/** A directory as a kill -9 left it, and the last record that was acknowledged. */
async function killed(t: TestContext, after: number) {
  const directory = newDirectory(t);
  const args = [scriptPath('./appender.ts'), directory];
  const { child, lines } = await startUntil(args, (line) => line === `acknowledged ${after}`);
  await killHard(child);
  const acknowledged = lines.flatMap((line) => Number(/^acknowledged (\d+)/.exec(line)?.[1] ?? 0));
  return { directory, newest: Math.max(...acknowledged) };
}

function copyOf(t: TestContext, from: string): string {
  const to = join(newDirectory(t), 'copy');
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    // What the kernel keeps for living processes only is not part of a copy.
    if (name !== 'weft.db-shm') copyFileSync(join(from, name), join(to, name));
  }
  return to;
}

function lastOf({ snapshotSeq, records }: Recovered): number {
  return [...records].at(-1)?.seq ?? snapshotSeq;
}

type Damage = (log: string) => void;

function flipped(share: number): Damage {
  return (log) => {
    const bytes = readFileSync(log);
    const at = Math.floor((bytes.length - 1) * share);
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    writeFileSync(log, bytes);
  };
}

const DAMAGES: Readonly<Record<string, Damage>> = {
  'is deleted': (log) => rmSync(log),
  'is emptied': (log) => truncateSync(log, 0),
  'is zeroed': (log) => writeFileSync(log, new Uint8Array(statSync(log).size)),
  'has a zeroed header': (log) => {
    const bytes = readFileSync(log);
    writeFileSync(log, bytes.fill(0, 0, 32));
  },
  'is cut in half': (log) => truncateSync(log, Math.floor(statSync(log).size / 2)),
  'lacks its last byte': (log) => truncateSync(log, statSync(log).size - 1),
  'has a changed bit near its begin': flipped(0.01),
  'has a changed bit in its middle': flipped(0.5),
  'has a changed bit near its end': flipped(0.99),
};

for (const after of [7, 95, 260]) {
  test(`[S12] a log damaged after a kill -9 at record ${after} is noticed unless it lost nothing`, async (t) => {
    const { directory, newest } = await killed(t, after);
    for (const [how, damage] of Object.entries(DAMAGES)) {
      const copy = copyOf(t, directory);
      damage(join(copy, 'weft.db-wal'));
      try {
        const store = await openSqliteStore({ directory: copy });
        const last = await store
          .recover()
          .then(lastOf)
          .finally(() => store.close());
        assert.ok(last >= newest, `${how}: ${newest} was acknowledged, ${last} is the last read`);
      } catch (error) {
        assert.ok(error instanceof StoreFailure, String(error));
        assert.match(error.reason, /^(lost|corrupt)$/, `${how}: ${error.message}`);
      }
    }
    const whole = await openSqliteStore({ directory });
    assert.ok(
      (await whole
        .recover()
        .then(lastOf)
        .finally(() => whole.close())) >= newest,
    );
  });
}

/** A store left by kill -9 in a quiet moment: everything is in the log, nothing in the file. */
async function leftBehind(t: TestContext, count: number): Promise<string> {
  const directory = newDirectory(t);
  const store = await openSqliteStore({ directory });
  for (let seq = 1; seq <= count; seq += 1) await store.append(commitOf(seq, [job(seq)], 2000));
  const copy = copyOf(t, directory);
  await store.close();
  return copy;
}

test('[S12] every kind of damage of a log that holds all is refused', async (t) => {
  const directory = await leftBehind(t, 40);
  for (const [how, damage] of Object.entries(DAMAGES)) {
    const copy = copyOf(t, directory);
    damage(join(copy, 'weft.db-wal'));
    await assert.rejects(openSqliteStore({ directory: copy }), { reason: 'lost' }, how);
  }
  const store = await openSqliteStore({ directory });
  assert.equal(lastOf(await store.recover()), 40);
  await store.close();
});

test('the words name records, jobs, the kept log and the way on; the way on gives no id twice', async (t) => {
  const newest = 40;
  const directory = await leftBehind(t, newest);
  const log = join(directory, 'weft.db-wal');
  truncateSync(log, Math.floor(statSync(log).size / 2));
  const opening = openSqliteStore({ directory });
  const failure = await opening.then(
    () => assert.fail('it was opened'),
    (error: StoreFailure) => error,
  );
  assert.equal(failure.reason, 'lost');
  const [, last = '', first = '', to = ''] =
    /ends at record (\d+), .*are missing, with jobs (\d+) to (\d+)\..*--accept-loss/.exec(
      failure.message,
    ) ?? [];
  assert.equal(Number(first), Number(last) + 1, failure.message);
  assert.equal(Number(to), newest, failure.message);
  assert.ok(existsSync(`${log}.lost-${to}`), 'what was left of the log is kept');

  const store = await openSqliteStore({ directory, acceptLoss: true });
  const recovered = await store.recover();
  assert.equal(recovered.loss?.lastSeq, Number(last));
  assert.equal(recovered.loss?.given?.nextJobId, Number(to) + 1);
  const next = Number(last) + 1;
  // Not accepted for good before something new is kept.
  await store.close();
  await assert.rejects(openSqliteStore({ directory }), { reason: 'lost' });
  const again = await openSqliteStore({ directory, acceptLoss: true });
  await again.append(commitOf(next));
  assert.equal((await again.recover()).loss, null);
  await again.close();
  const after = await openSqliteStore({ directory });
  assert.equal(lastOf(await after.recover()), next);
  await after.close();
});

async function written(t: TestContext): Promise<string> {
  const directory = newDirectory(t);
  const store = await openSqliteStore({ directory });
  for (let seq = 1; seq <= 5; seq += 1) await store.append(commitOf(seq, [job(seq)]));
  await store.close();
  return directory;
}

test('a mark behind the database, torn in one slot or not there is no fault', async (t) => {
  const directory = await written(t);
  const mark = join(directory, 'weft.mark');
  const older = readFileSync(mark);
  const store = await openSqliteStore({ directory });
  for (let seq = 6; seq <= 9; seq += 1) await store.append(commitOf(seq));
  await store.close();
  const newer = readFileSync(mark);
  const changes: Record<string, () => void> = {
    older: () => writeFileSync(mark, older),
    'torn first slot': () => writeFileSync(mark, Buffer.from(newer).fill(7, 20, 60)),
    'torn second slot': () => writeFileSync(mark, Buffer.from(newer).fill(7, 4116, 4160)),
    missing: () => rmSync(mark),
  };
  for (const [what, change] of Object.entries(changes)) {
    change();
    const again = await openSqliteStore({ directory });
    assert.equal(lastOf(await again.recover()), 9, what);
    await again.close();
  }
});

test('a mark of which nothing can be read is a fault until it is accepted', async (t) => {
  const directory = await written(t);
  writeFileSync(join(directory, 'weft.mark'), 'x'.repeat(100));
  await assert.rejects(openSqliteStore({ directory }), /weft\.mark is damaged/);
  const store = await openSqliteStore({ directory, acceptLoss: true });
  assert.deepEqual((await store.recover()).loss, { lastSeq: 5, promisedSeq: null, given: null });
  await store.append(commitOf(6));
  await store.close();
  await (await openSqliteStore({ directory })).close();
});

test('an older copy of the file, and one of another life, are noticed', async (t) => {
  const directory = await written(t);
  const path = join(directory, 'weft.db');
  const older = readFileSync(path);
  const store = await openSqliteStore({ directory });
  await store.append(commitOf(6));
  await store.close();
  writeFileSync(path, older);
  await assert.rejects(openSqliteStore({ directory }), /the last record is missing, with job 6/);

  const another = newDirectory(t);
  const strange = await openSqliteStore({ directory: another });
  for (let seq = 1; seq <= 6; seq += 1) await strange.append(commitOf(seq, [], 60));
  await strange.close();
  copyFileSync(join(another, 'weft.db'), path);
  await assert.rejects(openSqliteStore({ directory }), /record 6 differs/);
});

test('a database that is gone beside other state is not begun anew by itself', async (t) => {
  const directory = await written(t);
  rmSync(join(directory, 'weft.db'));
  await assert.rejects(
    openSqliteStore({ directory }),
    /weft\.db is missing, and weft\.mark beside/,
  );
  assert.equal(existsSync(join(directory, 'weft.db')), false, 'nothing was made');
  const store = await openSqliteStore({ directory, acceptLoss: true });
  assert.equal((await store.recover()).loss?.given?.nextJobId, 6);
  await store.close();

  const older = newDirectory(t);
  mkdirSync(join(older, 'logs', '0'), { recursive: true });
  const options = { directory: older, traces: ['logs/0'] };
  await assert.rejects(openSqliteStore(options), /logs\/0 beside it/);
  const fresh = await openSqliteStore({ ...options, acceptLoss: true });
  assert.deepEqual((await fresh.recover()).loss, { lastSeq: 0, promisedSeq: null, given: null });
  await fresh.close();
});
