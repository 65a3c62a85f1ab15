// What `weft upgrade --check` finds: releases of all parts, and records of every release there was.

import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import '../../../../sim/head-machine.ts';
import { readJournals, readStore } from '../../../../src/bin/read-store.ts';
import { Journal } from '../../../../src/kernel/agent/journal.ts';
import type { StoreReading } from '../../../../src/kernel/model/store-reading.ts';
import { openJournalFile } from '../../../../src/kernel/os/journal-file.ts';
import { openSqliteStore } from '../../../../src/kernel/store/sqlite/open.ts';
import { type Parts, upgradeFindings } from '../../../../src/wings/lab/core/upgrade/findings.ts';
import { readRecord, VERSIONS } from '../../../records/files.ts';

const READ: StoreReading = { records: 9, lastJobId: 3, layout: 1, ownLayout: 1 };

function found(head: Parts['head'], reading: StoreReading = READ): string[] {
  const parts = { own: '0.3.0', head, store: { folder: '/head', reading }, journals: [] };
  return upgradeFindings(parts).map(({ name, state, text }) => `${state} ${name}: ${text}`);
}

const node = (name: string, version: string | null, tasks = 0) => ({ name, version, tasks });

test('[Y21] one line says what each part runs, what of it is too old or too new, and what is stopped', () => {
  const nodes = [
    node('n1', '0.2.4', 2),
    node('n2', '0.1.0'),
    node('n3', null),
    node('n4', '0.2.4', 1),
  ];
  assert.deepEqual(found({ version: '0.2.4', nodes }), [
    'ok release: this program is Weft 0.3.0',
    'ok head: runs 0.2.4',
    'bad nodes: 0.1.0 on n2, older than the release before 0.3.0',
    'ok nodes: 0.2.4 on n1, n4',
    'ok records: all 9 records up to job 3 are read by this release',
    'ok to stop: the head, then each agent, for a moment; 3 tasks that run go on',
  ]);
  const newer = found({ version: '0.4.0', nodes: [node('n1', '0.4.0')] });
  assert.match(newer[1] ?? '', /^bad head: runs 0\.4\.0, which is newer than 0\.3\.0/);
  assert.match(newer[2] ?? '', /^bad nodes: 0\.4\.0 on n1, newer/);
  const none = found(null, { problem: 'a newer release wrote it' });
  assert.deepEqual(none.slice(1), [
    'note head: does not answer',
    'bad records: /head: a newer release wrote it',
    'ok to stop: nothing: no head runs here',
  ]);
  const changed = found(null, { ...READ, ownLayout: 2 });
  assert.match(
    changed[2] ?? '',
    /^note records: .*\(layout 1\) become layout 2 with its first start$/,
  );
});

function folder(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'weft-upgrade-test-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Every file, with its bytes and when it was written. */
const filesIn = (directory: string) =>
  readdirSync(directory)
    .sort()
    .map((name) => {
      const path = join(directory, name);
      return [name, statSync(path).mtimeMs, readFileSync(path).toString('base64')];
    });

for (const version of VERSIONS) {
  test(`[Y21] records of release ${version} are read, and nothing of them is changed`, async (t) => {
    const directory = folder(t);
    const { file } = readRecord<{ file: Uint8Array }>(version, 'store');
    writeFileSync(join(directory, 'weft.db'), file);
    const before = filesIn(directory);
    const reading = await readStore(directory);
    assert.ok(!('problem' in reading), JSON.stringify(reading));
    assert.ok(reading.records > 0);
    assert.deepEqual(filesIn(directory), before);
  });
}

test('[Y21] a store in use is read while its head goes on', async (t) => {
  const directory = folder(t);
  const { file } = readRecord<{ file: Uint8Array }>(VERSIONS.at(-1) ?? '', 'store');
  writeFileSync(join(directory, 'weft.db'), file);
  const store = await openSqliteStore({ directory });
  try {
    await store.recover();
    const names = readdirSync(directory);
    assert.ok(names.includes('weft.db-shm'), names.join());
    const reading = await readStore(directory);
    assert.ok(!('problem' in reading), JSON.stringify(reading));
    assert.deepEqual(readdirSync(directory), names);
  } finally {
    await store.close();
  }
});

test('[Y21] what cannot be read is said in words, with the folder and not with the copy of it', async (t) => {
  const directory = folder(t);
  const problem = async () => {
    const reading = await readStore(directory);
    assert.ok('problem' in reading, JSON.stringify(reading));
    return reading.problem;
  };
  assert.match(await problem(), /there is no store/);
  const { file } = readRecord<{ file: Uint8Array }>(VERSIONS.at(-1) ?? '', 'store');
  const path = join(directory, 'weft.db');
  writeFileSync(path, file);
  const newer = join(directory, 'newer');
  mkdirSync(newer);
  cpSync(path, join(newer, 'weft.db'));
  const database = new DatabaseSync(join(newer, 'weft.db'));
  database.exec('PRAGMA user_version = 99');
  database.close();
  const reading = await readStore(newer);
  assert.ok('problem' in reading);
  assert.ok(reading.problem.includes(`${newer}/weft.db has schema version 99`), reading.problem);
  rmSync(join(newer, 'weft.db'));
  cpSync(path, join(newer, 'weft.db'));
  writeFileSync(join(newer, 'release'), '99.0.1\n');
  const later = await readStore(newer);
  assert.ok('problem' in later && later.problem.includes('last served by Weft 99.0.1, and this'));
  writeFileSync(path, file.subarray(0, file.length / 2));
  assert.match(await problem(), /damaged|malformed|cannot be read/);
  writeFileSync(path, 'no database at all');
  assert.match(await problem(), /cannot be read|another program|not a database/);
});

test('[Y21] the journals of the agents of this machine are read, and a node needs no records of a head', async (t) => {
  const directory = folder(t);
  assert.deepEqual(await readJournals(directory), []);
  const at = (node: string) => join(directory, 'nodes', node);
  for (const node of ['n1', 'n2', 'n3']) mkdirSync(at(node), { recursive: true });
  const file = openJournalFile(join(at('n1'), 'journal'));
  const journal = new Journal(file, 'boot');
  journal.recover({ at: 0, monotonic: 0 });
  file.close();
  const before = filesIn(at('n1'));
  mkdirSync(join(at('n2'), 'journal'));
  const journals = await readJournals(directory);
  assert.deepEqual(filesIn(at('n1')), before);
  const head = { version: '0.2.4', nodes: [] };
  const lines = upgradeFindings({ own: '0.3.0', head, store: null, journals }).map(
    ({ name, state, text }) => `${state} ${name}: ${text}`,
  );
  assert.equal(
    lines[2],
    'ok journals: all 0 starts of tasks of 1 agent here can be read by this release',
  );
  assert.match(lines[3] ?? '', /^bad journals: node n2: .*n2.journal cannot be read: /);
  assert.equal(lines.length, 5);
});
