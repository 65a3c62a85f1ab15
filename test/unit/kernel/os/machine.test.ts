// What is read from this machine: accounts, marks, resources.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../../src/kernel/os/clock.ts';
import {
  describeNetwork,
  detectMachine,
  diskFree,
  diskSize,
  readBootId,
  sharedLoad,
} from '../../../../src/kernel/os/detect.ts';
import { systemMarks } from '../../../../src/kernel/os/marks.ts';
import { systemUsers } from '../../../../src/kernel/os/users.ts';
import type { Marks } from '../../../../src/kernel/ports/marks.ts';

test('an account has its ids and groups, and is remembered for a minute', async () => {
  let time = 0;
  const users = systemUsers(() => time);
  assert.equal(users.cached('root'), undefined);
  const root = await users.find('root');
  assert.deepEqual([root?.uid, root?.gid, root?.groups.includes(0)], [0, 0, true]);
  assert.equal(users.cached('root'), root);
  time = 60_001;
  assert.equal(users.cached('root'), undefined);
});

test('the network is named without the loopback, the disk with all that it has', () => {
  const known = networkInterfaces();
  const outside = Object.keys(known).filter((name) => known[name]?.some(isOutside));
  const told = describeNetwork();
  assert.doesNotMatch(told, /127\.0\.0\.1|fe80:/);
  assert.deepEqual(
    told === 'loopback only' ? [] : told.split(', ').map((part) => part.split(' ')[0]),
    outside,
  );
  assert.ok(diskSize('/') >= diskFree('/') && diskSize('/') > 0);
});

function isOutside({ internal, address }: { internal: boolean; address: string }): boolean {
  return !internal && !address.startsWith('fe80:');
}

test('unknown names, numbers and options are nobody', async () => {
  const users = systemUsers(() => 0);
  for (const name of ['no-such-user-here', '0', '+0', '-r', 'a:b', 'a\nb', '']) {
    assert.equal(await users.find(name), null, name);
  }
  assert.equal(users.cached('no-such-user-here'), null);
});

test('the own account has a name and a home', () => {
  const self = systemUsers(() => 0).self();
  assert.equal(self.uid, process.getuid?.());
  assert.ok(self.name.length > 0 && self.home.startsWith('/'));
});

/** Kills, and says whether anything with the mark was there or may have been. */
function isLeft(marks: Marks, mark: string): boolean {
  const { lived, unknown } = marks.kill(new Set([mark]));
  return lived + unknown > 0;
}

test('marked processes are found, measured and ended, also after they left the session', async (t) => {
  const mark = `test-${process.pid}:1`;
  const env = { ...process.env, WEFT_LAUNCH: mark };
  const script = 'sleep 300 & echo both; exec sleep 300';
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn('setsid', ['-f', 'sh', '-c', script], { env, stdio: [...stdio] });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  const marks = systemMarks();
  t.after(() => marks.kill(new Set([mark])));
  const until = performance.now() + 60_000;
  // A leader in the middle of an exec shows no mark, and is looked at again.
  while ((marks.memory().get(mark) ?? 0) === 0) assert.ok(performance.now() < until, 'found');
  assert.ok(isLeft(marks, mark));
  while (isLeft(marks, mark)) assert.ok(performance.now() < until, 'gone in time');
  assert.equal(marks.memory().get(mark), undefined);
});

test('a process in the middle of an exec is not overlooked when its mark is ended', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'weft-marks-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const script = join(directory, 'again-and-again');
  writeFileSync(script, '[ -n "$1" ] || echo running; exec /bin/sh "$0" again\n');
  const until = performance.now() + 60_000;
  for (let round = 0; round < 40; round += 1) {
    const mark = `test-${process.pid}:exec-${round}`;
    const env = { ...process.env, WEFT_LAUNCH: mark };
    const child = spawn('/bin/sh', [script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    const ended = once(child, 'close');
    await once(child.stdout, 'data');
    const marks = systemMarks();
    assert.ok(isLeft(marks, mark), `round ${round}: seen`);
    while (isLeft(marks, mark)) assert.ok(performance.now() < until, 'gone in time');
    await ended;
  }
});

test('the machine has CPUs, memory and a boot id', async () => {
  const found = await detectMachine();
  assert.ok(found.cpuCount >= 1 && found.memoryBytes > 1e6);
  assert.ok(found.labels.includes('os=linux'));
  assert.match(readBootId(), /^[0-9a-f-]{36}\/\d+\/\d+$/);
  assert.equal(readBootId(), readBootId());
  assert.ok(diskFree('/') > 0);
});

test('nodes that beat by turns share a look at the load, for half a second', () => {
  let time = 0;
  let looks = 0;
  const load = sharedLoad(
    () => time,
    () => ({ load1: ++looks, memoryFreeBytes: 1 }),
  );
  const seen = [0, 100, 499, 500, 999, 1000].map((at) => {
    time = at;
    return load().load1;
  });
  assert.deepEqual(seen, [1, 1, 1, 2, 2, 3]);
  const own = sharedLoad(() => time)();
  assert.ok(own.load1 >= 0 && own.memoryFreeBytes > 0);
});

const canHide =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['-m', 'mount', '-t', 'proc', '-o', 'hidepid=2', 'proc', '/proc']).status ===
    0;
const needsHiding = canHide ? {} : { skip: 'needs root and a /proc of its own' };

test('[D10] a machine that hides processes has a boot id too', needsHiding, () => {
  const from = (name: string) =>
    new URL(`../../../../src/kernel/os/${name}.ts`, import.meta.url).href;
  const script = `
    import { readBootId } from '${from('detect')}';
    import { bootBeganAt } from '${from('machine-marks')}';
    process.setgroups([65534]);
    process.setegid(65534);
    process.seteuid(65534);
    console.log(readBootId(), bootBeganAt());`;
  const hidden = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"';
  const node = [process.execPath, '--input-type=module', '-e', script];
  const { stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', hidden, 'sh', ...node]);
  assert.match(`${stdout}${stderr}`, /^[0-9a-f-]{36}\/\d+\/hidden (0|null)\n$/);
});

test('the monotonic clock counts from boot, so that a restarted agent reads on', () => {
  const uptimeMs = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
  // Time asleep is in the uptime but not in the clock.
  assert.ok(systemClock.monotonic() <= uptimeMs + 1000);
});
