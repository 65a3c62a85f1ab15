// Machines as people name them, what they say of themselves, and what is done to them then.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lastLine } from '../../../../src/wings/rollout/cli/stopped.ts';
import { parseDestination, parseHosts } from '../../../../src/wings/rollout/core/destination.ts';
import { keepScript, releaseScript, takeScript } from '../../../../src/wings/rollout/core/lock.ts';
import { placesFor } from '../../../../src/wings/rollout/core/places.ts';
import { planFor, type Wanted } from '../../../../src/wings/rollout/core/plan.ts';
import { type Probe, parseProbe, probeScript } from '../../../../src/wings/rollout/core/probe.ts';
import {
  joinScript,
  makeRoomScript,
  putScript,
  startScript,
  uninstallScript,
  unpackCommand,
} from '../../../../src/wings/rollout/core/scripts.ts';
import { makeFolder } from '../../../support/folder.ts';

const FRESH: Probe = {
  host: 'lab1',
  system: 'Linux',
  machine: 'x86_64',
  libc: 'glibc',
  rights: 'root',
  hasSystemd: true,
  freeBytes: 10 * 2 ** 30,
  release: null,
  nodejs: null,
  member: null,
  owner: null,
  started: null,
  isRunning: false,
};
const WANTED: Wanted = {
  release: '0.2.0 1',
  fingerprint: 'f'.repeat(64),
  machine: 'x86_64',
  nodejs: 'a'.repeat(64),
  bytes: { weft: 2 ** 24, nodejs: 2 ** 28 },
  withoutRoot: false,
  isUpgrade: false,
};
const MEMBER = { fingerprint: WANTED.fingerprint, name: 'lab1' };

test('[I1] a fresh machine is sent everything, joins and starts', () => {
  const plan = planFor(FRESH, WANTED);
  const all = { as: '', service: 'systemd', sends: ['weft', 'nodejs'], joins: true, starts: true };
  assert.deepEqual(plan, { ok: true, value: all });
});

test('[I1] a machine that is a node of this release already is left alone', () => {
  const plan = planFor(
    { ...FRESH, release: '0.2.0 1', started: '0.2.0 1', member: MEMBER, isRunning: true },
    WANTED,
  );
  assert.ok(plan.ok);
  assert.deepEqual([plan.value.sends, plan.value.joins, plan.value.starts], [[], false, false]);
});

test('[I1] a run that was cut off is gone on with: what is there already is not done again', () => {
  const sent = planFor({ ...FRESH, release: '0.2.0 1' }, WANTED);
  assert.ok(sent.ok);
  assert.deepEqual([sent.value.sends, sent.value.joins, sent.value.starts], [[], true, true]);
  const older = planFor({ ...FRESH, release: '0.1.0 1', member: MEMBER, isRunning: true }, WANTED);
  assert.ok(older.ok);
  assert.deepEqual([older.value.joins, older.value.starts], [false, true]);
  assert.deepEqual(older.value.sends, ['weft', 'nodejs']);
});

test('[I1] a Node.js that is there already is not sent once more, nor asked room for', () => {
  const older = {
    ...FRESH,
    release: '0.1.0 1',
    nodejs: WANTED.nodejs,
    freeBytes: 2 ** 28 + 2 ** 25,
  };
  const plan = planFor({ ...older, member: MEMBER }, WANTED);
  assert.ok(plan.ok);
  assert.deepEqual(plan.value.sends, ['weft']);
  const other = planFor({ ...older, nodejs: 'b'.repeat(64), member: MEMBER }, WANTED);
  assert.ok(!other.ok);
  assert.match(other.error.what, /528M are needed/);
});

test('[I1] an agent that was not started anew after it was sent a release is started again', () => {
  const there = { ...FRESH, release: '0.2.0 1', started: '0.1.0 1', member: MEMBER };
  const plan = planFor({ ...there, isRunning: true }, WANTED);
  assert.ok(plan.ok);
  assert.deepEqual([plan.value.sends, plan.value.starts], [[], true]);
});

test('[I2] what is no node is not upgraded', () => {
  const plan = planFor(FRESH, { ...WANTED, isUpgrade: true });
  assert.equal(plan.ok, false);
  assert.match(plan.error.what, /no node yet/);
});

const PROBLEMS: readonly (readonly [what: string, probe: Partial<Probe>, words: RegExp])[] = [
  ['another system', { system: 'Darwin' }, /it runs Darwin/],
  ['another processor', { machine: 'aarch64' }, /it is a aarch64, .* for x86_64/],
  ['another C library', { libc: 'other' }, /not glibc/],
  ['no rights', { rights: 'none' }, /not root and has no sudo/],
  ['no room', { freeBytes: 2 ** 28 }, /has 256M free .* 528M are needed/],
  [
    'another cluster',
    { member: { fingerprint: '0'.repeat(64), name: 'n9' } },
    /node n9 of another cluster/,
  ],
];
for (const [what, probe, words] of PROBLEMS) {
  test(`[I2] nothing is done where it cannot work: ${what}`, () => {
    const plan = planFor({ ...FRESH, ...probe }, WANTED);
    assert.equal(plan.ok, false);
    assert.match(plan.error.what, words);
    assert.ok(plan.error.remedy.length > 10);
  });
}

test('[I2] a home that another machine has too is no place for a second node', () => {
  const there = { ...FRESH, rights: 'none', member: MEMBER, owner: 'lab2' } as const;
  const wanted = { ...WANTED, withoutRoot: true };
  const plan = planFor(there, wanted);
  assert.equal(plan.ok, false);
  assert.match(plan.error.what, /its home is also that of lab2, which has node lab1 there/);
  for (const owner of ['lab1', null]) assert.ok(planFor({ ...there, owner }, wanted).ok);
});

test('without root a node runs for one user, in the background', () => {
  const plan = planFor({ ...FRESH, rights: 'none' }, { ...WANTED, withoutRoot: true });
  assert.ok(plan.ok);
  assert.deepEqual([plan.value.as, plan.value.service], ['', 'background']);
});

test('destinations are those of ssh, and none is an option of it', () => {
  for (const text of ['lab3', 'ann@lab3', 'ssh://ann@lab3:2222', '10.0.0.7', '[::1]']) {
    assert.deepEqual(parseDestination(text), { ok: true, value: { ssh: text, name: null } }, text);
  }
  for (const text of ['-oProxyCommand=sh', '', 'a b', 'a\nb', "a'b", '$(id)']) {
    assert.equal(parseDestination(text).ok, false, text);
  }
});

test('a file of hosts has names, comments and empty lines; what is wrong is named by its line', () => {
  const read = parseHosts('# lab\nlab1\n\nann@lab2 n2 # the new one\n');
  assert.deepEqual(read, {
    ok: true,
    value: [
      { ssh: 'lab1', name: null },
      { ssh: 'ann@lab2', name: 'n2' },
    ],
  });
  const wrong = ['a b c', 'lab1\nlab1', 'lab1 bad/name', '-x'].map((text) => parseHosts(text));
  const lines = wrong.map((one) => (one.ok ? 0 : one.error.line));
  assert.deepEqual(lines, [1, 2, 1, 1]);
});

test('the probe says what this machine is, whatever its shell prints before', () => {
  const { stdout } = spawnSync('sh', ['-s'], {
    input: probeScript({ withoutRoot: true }),
    encoding: 'utf8',
  });
  const probe = parseProbe(`Welcome to lab1!\n${stdout}`);
  assert.ok(probe.ok);
  assert.deepEqual([probe.value.system, probe.value.rights], ['Linux', 'none']);
  assert.equal(probe.value.libc, 'glibc');
  assert.ok(probe.value.freeBytes > 0);
  assert.equal(parseProbe('Welcome\n').ok, false);
  assert.equal(parseProbe(stdout.replace(/^.* end here\n/m, '')).ok, false);
});

test('[I2] programs that came in part are gone at once, and the cause is told', (t) => {
  const programs = makeFolder(t, {});
  mkdirSync(join(programs, 'new-1-a'));
  const held = { ...placesFor('user'), programs, holder: { token: '1-a', by: 'me' } };
  const args = ['-c', unpackCommand(held, '')];
  const { status } = spawnSync('sh', args, { input: Buffer.from('no tar') });
  assert.equal(status, 1);
  assert.deepEqual(readdirSync(programs), []);
  const said = 'tar: a: Cannot write: No space left on device\ntar: Exiting with failure status\n';
  assert.equal(lastLine(said), 'tar: a: Cannot write: No space left on device');
  assert.equal(lastLine('one\ntwo\n'), 'two');
});

test('[I1] a release that came without a Node.js has the one before, and a broken one is told', (t) => {
  const home = makeFolder(t, { '.local/share/weft/now/node': '#!/bin/sh\nexit 0\n' });
  const programs = join(home, '.local/share/weft');
  const holder = { token: '1-a', by: 'me' };
  const places = { ...placesFor('user'), holder };
  const shell = (input: string) => {
    const env = { PATH: process.env['PATH'], HOME: home };
    const { status, stderr } = spawnSync('sh', ['-s'], { input, encoding: 'utf8', env });
    return { status, stderr };
  };
  const put = () => {
    shell(takeScript(places, holder));
    assert.equal(shell(makeRoomScript(places)).status, 0);
    return shell(putScript(places, '0.2.0 2', 'abc'));
  };
  const known = () => {
    const { stdout } = spawnSync('sh', ['-s'], {
      input: probeScript({ withoutRoot: true }),
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: home },
    });
    const probe = parseProbe(stdout);
    return probe.ok && probe.value.nodejs;
  };
  chmodSync(join(programs, 'now/node'), 0o755);
  assert.equal(known(), null);
  assert.deepEqual(put(), { status: 0, stderr: '' });
  assert.equal(readFileSync(join(programs, 'now/node'), 'utf8'), '#!/bin/sh\nexit 0\n');
  assert.equal(known(), 'abc');
  writeFileSync(join(programs, 'now/node'), '#!/bin/sh\nexit 3\n');
  assert.equal(put().status, 1);
  assert.equal(known(), null);
});

test('[E1] every script is one that sh can read, and no ticket stands on a command line', () => {
  for (const whose of ['system', 'user'] as const) {
    const holder = { token: '1-a', by: "it's me" };
    const places = { ...placesFor(whose), holder };
    const scripts = [
      takeScript(places, holder),
      keepScript(places),
      releaseScript(places),
      makeRoomScript(places),
      putScript(places, "0.2.0 it's", 'f'),
      joinScript(places, 'weft-join:secret', "o'n"),
      startScript(places, 'systemd'),
      startScript(places, 'background'),
      uninstallScript(places),
      unpackCommand(places, ''),
    ];
    for (const input of scripts) {
      const { status, stderr } = spawnSync('sh', ['-n'], { input, encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    }
  }
  const held = { ...placesFor('system'), holder: { token: '1-a', by: 'me' } };
  const commands = joinScript(held, 'weft-join:secret', null).split('\n');
  assert.deepEqual(
    commands.filter((line) => line.includes('secret')),
    ['weft-join:secret'],
  );
});
