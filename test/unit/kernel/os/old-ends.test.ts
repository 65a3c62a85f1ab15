// What killed launchers leave in shared memory: kept while the next one can find it, else removed.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ENDS_PREFIX, Ends } from '../../../../src/kernel/os/launcher-fallback/ends.ts';
import { removeOldEnds } from '../../../../src/kernel/os/old-ends.ts';

const HOUR = 3_600_000;

interface Left {
  readonly stateDir: string;
  /** In shared memory. */
  readonly file: string;
  readonly lock: string;
}

/** What a launcher leaves that was killed two hours ago. */
function left(t: TestContext): Left {
  const stateDir = mkdtempSync(join(tmpdir(), 'weft-ends-'));
  const socket = join(stateDir, 'launcher.sock');
  new Ends(socket).take();
  const lock = `${socket}.lock`;
  const file = `${ENDS_PREFIX}${readFileSync(lock, 'latin1')}`;
  t.after(() => {
    rmSync(stateDir, { recursive: true, force: true });
    rmSync(file, { force: true });
  });
  const at = new Date(Date.now() - 2 * HOUR);
  utimesSync(file, at, at);
  return { stateDir, file, lock };
}

test('what a launcher noted goes when nothing has its secret any more', (t) => {
  const [kept, gone, remade, fresh] = [left(t), left(t), left(t), left(t)];
  rmSync(gone.stateDir, { recursive: true });
  writeFileSync(remade.lock, '0'.repeat(32));
  rmSync(fresh.stateDir, { recursive: true });
  utimesSync(fresh.file, new Date(), new Date());
  removeOldEnds(Date.now());
  const there = [kept, gone, remade, fresh].map(({ file }) => existsSync(file));
  assert.deepEqual(there, [true, false, false, true]);
});

test('what cannot be judged stays: of an older launcher, or of another mount namespace', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-shm-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const prefix = join(folder, 'weft-ends-');
  const { file, stateDir } = left(t);
  rmSync(stateDir, { recursive: true });
  const known = readFileSync(file);
  const [older, elsewhere] = [Buffer.from(known), Buffer.from(known)];
  older.fill(0, 8);
  elsewhere.writeBigUInt64LE(1n, 8);
  const long = new Date(Date.now() - 2 * HOUR);
  for (const [name, bytes] of Object.entries({ known, older, elsewhere, empty: Buffer.alloc(0) })) {
    writeFileSync(`${prefix}${name}`, bytes);
    utimesSync(`${prefix}${name}`, long, long);
  }
  mkdirSync(`${prefix}folder`);
  assert.deepEqual(removeOldEnds(Date.now(), prefix), [`${prefix}known`]);
  assert.deepEqual(removeOldEnds(Date.now(), join(folder, 'none', 'x')), []);
});
