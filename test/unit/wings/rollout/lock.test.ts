// Two commands at one machine: the link that says who is at work there, as shells make it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { Locks } from '../../../../src/wings/rollout/cli/locks.ts';
import { Stopped } from '../../../../src/wings/rollout/cli/stopped.ts';
import {
  keepScript,
  parseTaken,
  releaseScript,
  STALE_S,
  type Taken,
  takeScript,
} from '../../../../src/wings/rollout/core/lock.ts';
import { placesFor } from '../../../../src/wings/rollout/core/places.ts';

const PLACES = placesFor('user');
const ANN = { token: 'a1', by: 'weft node add of ann@head' };
const BOB = { token: 'b2', by: 'weft node uninstall of bob@desk' };
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'weft-lock-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function sh(input: string) {
  const env = { PATH: process.env['PATH'], HOME: home };
  const { status, stdout, stderr } = spawnSync('sh', ['-s'], { input, encoding: 'utf8', env });
  return { code: status, out: stdout, error: stderr };
}
function take(holder: typeof ANN): Taken {
  const said = sh(takeScript(PLACES, holder));
  assert.equal(said.code, 0, said.error);
  const read = parseTaken(`Welcome!\n${said.out}`);
  assert.ok(read.ok, said.out);
  return read.value;
}
const folder = () => join(home, '.local', 'share');
const lock = () => join(folder(), 'weft.lock');
const release = (holder: typeof ANN) => sh(releaseScript({ ...PLACES, holder }));
const keep = (holder: typeof ANN) => sh(keepScript({ ...PLACES, holder }));
/** What a command has left that was killed so long ago. */
function leave(holder: typeof ANN, ageS: number): void {
  mkdirSync(folder(), { recursive: true });
  const then = Math.floor(Date.now() / 1000) - ageS;
  symlinkSync(`${holder.token} ${then} ${then} ${holder.by}`, lock());
}

test('[I5] the first has it, the second is told who that is, and has it when it was given back', () => {
  assert.deepEqual(take(ANN), { isTaken: true, after: null });
  const second = take(BOB);
  assert.ok(!second.isTaken);
  assert.equal(second.other.by, ANN.by);
  assert.equal(release(BOB).code, 0);
  assert.match(readlinkSync(lock()), /^a1 /);
  release(ANN);
  assert.deepEqual(readdirSync(folder()), []);
  assert.ok(take(BOB).isTaken);
});

test('[I5] each step renews it, and one that has lost it changes nothing', () => {
  leave(ANN, 60);
  assert.equal(keep(ANN).code, 0);
  const [token, since, renewed, ...by] = readlinkSync(lock()).split(' ');
  assert.deepEqual([token, by.join(' ')], ['a1', ANN.by]);
  assert.ok(Number(renewed) - Number(since) >= 60);
  assert.deepEqual(readdirSync(folder()), ['weft.lock']);
  const lost = keep(BOB);
  assert.equal(lost.code, 75);
  assert.match(lost.error, /another command has taken this machine over/);
});

test('[I5] one that was killed counts until it was silent for long, and what it was is told', () => {
  leave(ANN, STALE_S - 60);
  assert.ok(!take(BOB).isTaken);
  rmSync(lock());
  leave(ANN, STALE_S + 60);
  const taken = take(BOB);
  assert.ok(taken.isTaken);
  assert.equal(taken.after?.by, ANN.by);
  assert.ok(taken.after.quietS >= STALE_S + 60);
  assert.match(readlinkSync(lock()), /^b2 /);
  assert.deepEqual(readdirSync(folder()), ['weft.lock']);
});

test('[I5] a lock of a clock that was set back, or that says nothing, does not last', () => {
  leave(ANN, -2 * STALE_S);
  assert.ok(take(BOB).isTaken);
  rmSync(lock());
  symlinkSync('nonsense', lock());
  assert.ok(take(BOB).isTaken);
});

test('[I5] what is no lock is not taken for one, and is named', () => {
  mkdirSync(lock(), { recursive: true });
  const said = sh(takeScript(PLACES, ANN));
  assert.notEqual(said.code, 0);
  assert.match(said.error, /weft\.lock is a folder; remove it/);
  assert.ok(!parseTaken(said.out).ok);
});

test('[I5] of many at once one has it', () => {
  const all = Array.from({ length: 8 }, (_, at) =>
    takeScript(PLACES, { token: `t${at}`, by: ANN.by }),
  );
  const { out } = sh(`${all.map((one) => `(${one}) &`).join('\n')}\nwait\n`);
  assert.equal(out.match(/^weft-lock taken/gm)?.length, 1, out);
  assert.equal(out.match(/^weft-lock other/gm)?.length, 7, out);
});

function locksOf(notes: string[], waitMs: number): Locks {
  const here = { note: (line: string) => void notes.push(line) };
  const run = async (_host: string, text: string) => sh(text);
  return new Locks(
    here,
    { script: run, last: run, stop: () => undefined },
    'weft node add',
    waitMs,
  );
}

test('[I5] who is waited for too long is named, with the way out; nothing was done', async () => {
  const notes: string[] = [];
  leave(BOB, 100);
  const site = { host: 'lab1', places: PLACES, as: '' } as const;
  const work = () => Promise.reject(new Error('it must not run'));
  await assert.rejects(locksOf(notes, -1).hold(site, work), (error) => {
    assert.ok(error instanceof Stopped);
    assert.match(
      error.problem.what,
      /^weft node uninstall of bob@desk is at work there \(for 1m\d+s\)$/,
    );
    assert.match(
      error.problem.remedy,
      /counts for 18m\d+s more\. If that one was killed, type: ssh lab1 rm \.local\/share\/weft\.lock$/,
    );
    return true;
  });
  assert.match(readlinkSync(lock()), /^b2 /);
});

test('[I5] it is given back when the work fails', async () => {
  const site = { host: 'lab1', places: PLACES, as: '' } as const;
  const work = () => Promise.reject(new Error('no room'));
  await assert.rejects(locksOf([], 0).hold(site, work), /no room/);
  assert.deepEqual(readdirSync(folder()), []);
});
