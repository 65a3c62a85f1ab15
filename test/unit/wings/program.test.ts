// The program as a whole: unknown words, help, a head that is away, and daemons by pid and start.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { runVerbs, runWeft } from '../../../src/kernel/cli/main.ts';
import { verbsOf } from '../../../src/kernel/cli/verbs.ts';
import { headDirectoryOf, locateHead, socketIn } from '../../../src/kernel/connect/locate.ts';
import {
  endProcess,
  isAlive,
  markOf,
  readLiveMark,
  writeMark,
} from '../../../src/kernel/connect/process-file.ts';
import { ENDS_PREFIX, Ends } from '../../../src/kernel/os/launcher-fallback/ends.ts';
import { distribute } from '../../../src/wings/distribute/cli/distribute.ts';
import { WINGS } from '../../../src/wings.ts';
import { capture, FakeHead } from '../kernel/cli/fake-head.ts';
import { jobView, nodeView } from '../kernel/cli/views.ts';

function inEmptyDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  return work(directory).finally(() => rmSync(directory, { recursive: true, force: true }));
}

function weft(directory: string, ...argv: string[]) {
  return capture(directory, { program: 'weft', argv }, runWeft);
}

test('an unknown command or option ends with 2 and the nearest right name', async () => {
  await inEmptyDirectory(async (directory) => {
    const verb = await weft(directory, 'jbos');
    assert.deepEqual(
      [verb.code, verb.error],
      [2, "weft: unknown command 'jbos'. Did you mean 'weft jobs'?\n"],
    );
    const option = await weft(directory, 'jobs', '--al');
    assert.equal(option.error, "weft: unknown option '--al'. Did you mean --all?\n");
    const inner = await weft(directory, 'node', 'drian', 'n1');
    assert.deepEqual([inner.code, /Did you mean 'weft node drain'/.test(inner.error)], [2, true]);
    const missing = await weft(directory, 'why');
    const operand =
      "weft: missing required argument 'job': job id: 42, or 42[7] for one task of an array";
    assert.deepEqual(
      [missing.code, missing.error],
      [2, `${operand}. \`weft jobs\` shows what there is\n`],
    );
    const batch = await weft(directory, 'batch', 'show');
    const words = /missing required argument 'batch': NAMESPACE\/NAME, .*`weft batch list` shows/;
    assert.match(batch.error, words);
  });
});

test('every command has help, and asks no head for it', async () => {
  await inEmptyDirectory(async (directory) => {
    for (const { name } of verbsOf(WINGS)) {
      const { code, out, error } = await weft(directory, name, '--help');
      assert.deepEqual([code, error], [0, ''], name);
      assert.match(out, /^Usage: weft /, name);
    }
  });
});

test('a command that is named without what is to be done prints its help, and ends with 2', async () => {
  await inEmptyDirectory(async (directory) => {
    let groups = 0;
    for (const { name, load } of verbsOf(WINGS)) {
      if (!('verbs' in (await load()).verb)) continue;
      groups += 1;
      const { code, out, error } = await weft(directory, name);
      assert.deepEqual([code, out], [2, ''], name);
      assert.match(error, new RegExp(`^Usage: weft ${name} [^]*\\nCommands:\\n  `), name);
    }
    assert.ok(groups > 12, String(groups));
    for (const argv of [[], ['--dir', directory]]) {
      const { code, error } = await weft(directory, ...argv);
      assert.deepEqual([code, error.startsWith('Usage: weft [options] [command]')], [2, true]);
      assert.match(error, /More about a command: weft COMMAND --help\n$/);
    }
    const seed = await capture(directory, { program: 'distribute', argv: [] }, (invocation) =>
      runVerbs(invocation, distribute),
    );
    assert.deepEqual([seed.code, seed.error.startsWith('Usage: dist')], [2, true]);
  });
});

test('a head that is away ends with 7, says where it was looked for and what to do', async () => {
  await inEmptyDirectory(async (directory) => {
    const { code, error } = await weft(directory, 'jobs');
    assert.equal(code, 7);
    assert.match(error, /^weft: No head answers at .*weft\.sock: there is no such socket\n/);
    assert.match(error, /weft up/);
  });
});

test('flags come before the environment, and a path too long for a socket is shortened', () => {
  const socket = locateHead({ dir: '/a' }, { WEFT_HEAD: 'https://h:1', WEFT_SOCKET: '/s' });
  assert.deepEqual(socket, { kind: 'socket', path: '/a/weft.sock' });
  const url = locateHead({}, { WEFT_HEAD: 'h', WEFT_TOKEN: 't', WEFT_FINGERPRINT: 'f' });
  assert.equal(url.kind === 'url' && url.url.origin, 'https://h:5001');
  assert.equal(url.kind === 'url' && url.token, 't');
  assert.throws(() => locateHead({ head: 'http://h:1' }, {}), /write https/);
  assert.ok(socketIn(`/${'x'.repeat(200)}`).length < 100);
});

test('jobs are told a directory only where the head is in it, and not in the usual place', () => {
  const here = { HOME: '/users/ann' };
  let account = '/users/ann';
  const told = (directory: string, socket: string | null = socketIn(directory)) =>
    headDirectoryOf({ socket, directory }, here, account);
  assert.equal(told('/c'), '/c');
  assert.equal(told(`/${'x'.repeat(200)}`)?.length, 201);
  assert.equal(told('/users/ann/.local/state/weft'), null);
  assert.equal(told('/var/lib/weft/head', '/run/weft/weft.sock'), null);
  assert.equal(told('/c', null), null);
  // A job with a clean environment has the home of the account.
  account = '/people/ann';
  assert.equal(told('/users/ann/.local/state/weft'), '/users/ann/.local/state/weft');
});

test('up refuses while another one works on the same directory', async () => {
  await inEmptyDirectory(async (directory) => {
    const other = spawn('sleep', ['30']);
    try {
      await once(other, 'spawn');
      await weft(directory, 'down'); // Makes the folders; nothing runs.
      writeMark(path.join(directory, 'run', 'up.pid'), other.pid ?? 0);
      const { code, error } = await weft(directory, 'up');
      assert.deepEqual(
        [code, /another `weft up` or `weft down` is at work/.test(error)],
        [2, true],
      );
    } finally {
      other.kill('SIGKILL');
    }
  });
});

test('down --clean takes along what launchers have left in shared memory', async () => {
  await inEmptyDirectory(async (directory) => {
    await weft(directory, 'down'); // Makes the folders; nothing runs.
    const node = path.join(directory, 'nodes', 'n1');
    mkdirSync(node, { recursive: true });
    new Ends(path.join(node, 'launcher.sock')).take();
    const secret = readFileSync(path.join(node, 'launcher.sock.lock'), 'latin1');
    const noted = `${ENDS_PREFIX}${secret}`;
    assert.ok(existsSync(noted));
    await weft(directory, 'down');
    assert.ok(existsSync(noted), 'the next launcher takes it over');
    await weft(directory, 'down', '--clean', '--yes');
    assert.ok(!existsSync(noted));
  });
});

test('a pid that now belongs to another process is not taken for the daemon', async () => {
  await inEmptyDirectory(async (directory) => {
    const child = spawn('sleep', ['30']);
    await once(child, 'spawn');
    const file = path.join(directory, 'x.pid');
    try {
      writeMark(file, child.pid ?? 0);
      const mark = readLiveMark(file);
      assert.ok(mark !== null && isAlive(mark));
      writeFileSync(file, JSON.stringify({ ...mark, startTicks: mark.startTicks - 1 }));
      assert.equal(readLiveMark(file), null);
      assert.equal(await endProcess(mark, { signal: 'SIGTERM', graceMs: 5000 }), 'ended');
      assert.equal(markOf(child.pid ?? 0), null);
      writeFileSync(file, '{"pid": 1');
      assert.equal(readLiveMark(file), null);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

test('listings take the same formats everywhere', async () => {
  const job = jobView({ reason: { kind: 'resources', words: 'needs 4 cpus' } });
  await using head = await FakeHead.start({
    'GET /v1/jobs': () => ({ json: { jobs: [job], next: null } }),
    'GET /v1/nodes': () => ({ json: { nodes: [nodeView({ labels: ['ssd'] })] } }),
  });
  assert.equal((await head.weft('jobs', '-o', 'name')).out, '42\n');
  assert.equal((await head.weft('jobs', '-o', 'template={{id}}:{{state}}')).out, '42:pending\n');
  assert.match(
    (await head.weft('jobs')).out,
    /^ *JOB +NAME.*\n +42 +hello +alice +pending.*needs 4 cpus/,
  );
  assert.equal(JSON.parse((await head.weft('node', 'list', '-o', 'json')).out)[0].name, 'n1');
  assert.match((await head.weft('node', 'list')).out, /n1 +idle +0 +0\/2 +0\/512M +- +ssd/);
  assert.equal((await head.weft('jobs', '-o', 'yaml')).code, 2);
});
