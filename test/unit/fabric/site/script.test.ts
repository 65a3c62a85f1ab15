// The script that a site runs, run here by a real shell, and its receipts.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  parseEndReceipt,
  parseStartReceipt,
  siteScript,
} from '../../../../src/fabric/site/script.ts';

const top = mkdtempSync(join(tmpdir(), 'weft-site-script-'));
after(() => rmSync(top, { recursive: true }));

let count = 0;

function launchOf(...argv: string[]) {
  count += 1;
  const folder = join(top, `a folder's ${count}`);
  mkdirSync(folder);
  return {
    ...{ folder, argv, environment: ['PATH=/usr/bin:/bin', "ODD=it's $HOME"], cwd: folder },
    ...{ umask: 0o027, stdin: '', stdout: join(folder, 'o'), stderr: join(folder, 'e') },
    append: false,
  };
}

type Launch = ReturnType<typeof launchOf>;

function run(launch: Launch): number | null {
  return spawnSync('sh', { input: siteScript(launch) }).status;
}

function receipts({ folder }: Launch) {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { started: parseStartReceipt(read('started')), ended: parseEndReceipt(read('ended')) };
}

test('the program runs with its own words, environment and folder, and both receipts are there', () => {
  const launch = launchOf(
    'sh',
    '-c',
    'echo "$ODD|$1|$PWD|$HOME|$(umask)"; echo no >&2; exit 3',
    '-',
    "a 'b'",
  );
  assert.equal(run(launch), 3);
  assert.equal(readFileSync(launch.stdout, 'utf8'), `it's $HOME|a 'b'|${launch.folder}||0027\n`);
  assert.equal(readFileSync(launch.stderr, 'utf8'), 'no\n');
  const { started, ended } = receipts(launch);
  assert.ok(started !== null && started.host !== '');
  assert.deepEqual(ended?.exit, { code: 3 });
});

test('a program with = in its path is started, not taken for a variable', () => {
  const launch = launchOf('./re=100/run', 'two words');
  mkdirSync(join(launch.folder, 're=100'));
  const text = '#!/bin/sh\necho "$ODD|$1|$#"; exit 9\n';
  writeFileSync(join(launch.folder, 're=100', 'run'), text, { mode: 0o755 });
  assert.equal(run(launch), 9);
  assert.equal(readFileSync(launch.stdout, 'utf8'), "it's $HOME|two words|1\n");
});

test('a second start of one launch does nothing', () => {
  const launch = launchOf('sh', '-c', 'echo once >> ran');
  assert.equal(run(launch), 0);
  assert.equal(run(launch), 0);
  assert.equal(readFileSync(join(launch.folder, 'ran'), 'utf8'), 'once\n');
});

test('who takes the claim first keeps it from ever beginning', () => {
  const launch = launchOf('touch', 'ran');
  mkdirSync(join(launch.folder, 'claim'));
  assert.equal(run(launch), 0);
  assert.equal(existsSync(join(launch.folder, 'ran')), false);
  assert.equal(existsSync(join(launch.folder, 'started')), false);
});

test('a folder that is gone is no start', () => {
  const launch = launchOf('touch', '/nowhere');
  rmSync(launch.folder, { recursive: true });
  assert.equal(run(launch), 0);
  assert.equal(existsSync(launch.folder), false);
});

test('the end of a program that a signal ends is told, also when all are told to end', async () => {
  const launch = launchOf('sh', '-c', 'kill -9 $$');
  run(launch);
  assert.deepEqual(receipts(launch).ended?.exit, { signal: 9 });

  const slow = launchOf(
    'sh',
    '-c',
    'trap "echo bye; exit 7" TERM; echo up > up; while :; do sleep 0.05; done',
  );
  const child = spawn('sh', { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  child.stdin.end(siteScript(slow));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  while (!existsSync(join(slow.folder, 'up'))) await new Promise((go) => setTimeout(go, 10));
  process.kill(-(child.pid ?? 0), 'SIGTERM');
  await ended;
  assert.deepEqual(receipts(slow).ended?.exit, { code: 7 });
});

test('a program that is not there, and a folder that cannot be entered, are ends as well', () => {
  const missing = launchOf('/no/such/program');
  assert.equal(run(missing), 127);
  assert.deepEqual(receipts(missing).ended?.exit, { code: 127 });
  const nowhere = { ...launchOf('true'), cwd: '/no/such/folder' };
  run(nowhere);
  assert.deepEqual(receipts(nowhere).ended?.exit, { code: 125 });
});

test('a receipt that is not whole is none', () => {
  for (const text of ['', '1795313939', '1795313939 3 0m0.0', '1 2 3\n', 'x 0 0m0s 0m0s\n']) {
    assert.equal(parseEndReceipt(text), null, text);
  }
  assert.equal(parseStartReceipt('1795313939 n1'), null);
  assert.deepEqual(parseEndReceipt('10 0 1m2.5s 0m0.25s\n'), {
    ...{ at: 10_000, exit: { code: 0 } },
    ...{ userUs: 62_500_000, systemUs: 250_000 },
  });
});
