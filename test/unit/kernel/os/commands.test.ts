// Commands as programs: what they are given, how their end is told, and that they do end.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { formatDuration } from '../../../../src/kernel/base/duration.ts';
import { withOwn } from '../../../../src/kernel/base/own-variables.ts';
import { commandsWith, systemCommands } from '../../../../src/kernel/os/commands.ts';
import type { Command } from '../../../../src/kernel/ports/commands.ts';

const keep = { part: 'last', length: 500 } as const;

function shell(line: string, more: Partial<Command> = {}, ...args: string[]) {
  const argv = ['sh', '-c', line, 'command', ...args];
  return systemCommands.run({ argv, timeoutMs: 120_000, keep, ...more });
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!holds()) {
    assert.ok(performance.now() < deadline, what);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('arguments go to the program as they are, and exit code 0 is success', async () => {
  const { succeeded, how, output, isThere } = await shell('echo "$1"', {}, 'n1;false');
  assert.deepEqual([succeeded, how, output, isThere()], [true, 'exit code 0', 'n1;false\n', false]);
});

test('anything but exit code 0 has failed, and is said in words', async () => {
  const said = async (argv: string[]) => {
    const { succeeded, how } = await systemCommands.run({ argv, timeoutMs: 120_000, keep });
    assert.equal(succeeded, false);
    return how;
  };
  assert.equal(await said(['sh', '-c', 'exit 3']), 'exit code 3');
  assert.equal(await said(['sh', '-c', 'kill -9 $$']), 'SIGKILL');
  assert.match(await said(['/no/such']), /ENOENT/);
  assert.match(await said(['/etc/passwd/below']), /ENOTDIR/);
});

test('of much output the beginning or the end is kept', async () => {
  const line = 'printf begin; head -c 1000000 /dev/zero | tr "\\0" x; printf end >&2';
  const first = await shell(line, { keep: { part: 'first', length: 7 } });
  const last = await shell(line, { keep: { part: 'last', length: 5 } });
  assert.deepEqual([first.output, last.output], ['beginxx', 'xxend']);
});

const NOT_ROOT = process.getuid?.() !== 0 && 'only root runs something as another';

test('a command of a user has the rights of that user and none of our groups', {
  skip: NOT_ROOT,
}, async () => {
  const { output } = await shell('id -u; id -G', { user: { uid: 12_345, gid: 23_456 } });
  assert.equal(output, '12345\n23456\n');
});

test('[E2] a command of a user has the groups that are named, and starts where it is told', {
  skip: NOT_ROOT,
}, async () => {
  const user = { uid: 12_345, gid: 23_456, groups: [23_456, 34_567] };
  const own = { PATH: '/usr/bin:/bin', NAME: 'value' };
  const how = { user, environment: own, isBare: true, directory: '/' } as const;
  const { output } = await shell('id -u; id -G; pwd; env', how);
  const [uid, groups, directory, ...variables] = output.trim().split('\n');
  assert.deepEqual([uid, groups, directory], ['12345', '23456 34567', '/']);
  // What the shell itself adds.
  const added = /^(_|PWD|OLDPWD|SHLVL)=/;
  assert.deepEqual(variables.filter((variable) => !added.test(variable)).toSorted(), [
    'NAME=value',
    'PATH=/usr/bin:/bin',
  ]);
});

test('[E2] a program that is not there is said by name, as of a user too', {
  skip: NOT_ROOT,
}, async () => {
  const user = { uid: 12_345, gid: 23_456, groups: [23_456] };
  const end = await systemCommands.run({ argv: ['/no/such'], user, timeoutMs: 120_000, keep });
  assert.equal(end.succeeded, false);
  assert.match(end.output, /\/no\/such/);
});

/**
 * Names of the variables that a command has, run while this program has these; `all`: no names are
 * given.
 */
async function variablesOf(
  own: Readonly<Record<string, string>>,
  names: readonly string[] | 'all',
  more: Partial<Command> = {},
): Promise<string[]> {
  const before = { ...process.env };
  for (const name of Object.keys(before)) delete process.env[name];
  Object.assign(process.env, own);
  try {
    const commands = names === 'all' ? systemCommands : commandsWith(names);
    const all = { part: 'last', length: 100_000 } as const;
    const { output } = await commands.run({
      argv: ['env'],
      timeoutMs: 120_000,
      keep: all,
      ...more,
    });
    return output
      .split('\n')
      .flatMap((line) => line.split('=')[0] || [])
      .sort();
  } finally {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

test('a command gets the variables that are named, and none of Weft', async () => {
  const own = { PATH: process.env['PATH'] ?? '', SGE_ROOT: '/sge', SGE: '1', AWS_KEY: 'secret' };
  const all = { ...own, WEFT_TOKEN: 'secret' };
  const environment = { TZ: 'UTC' };
  assert.deepEqual(await variablesOf(all, ['PATH', 'SGE_*'], { environment }), [
    ...['PATH', 'SGE_ROOT', 'TZ'],
  ]);
  assert.deepEqual(await variablesOf(all, ['*', 'WEFT_TOKEN']), Object.keys(own).sort());
});

test('a command does not get what this program has for itself alone', async () => {
  const users = { PATH: process.env['PATH'] ?? '', MALLOC_ARENA_MAX: '2', WEFT_DIR: '/w' };
  const own = withOwn(users, { MALLOC_ARENA_MAX: '1', NODE_COMPILE_CACHE: '/cache' });
  const all = own as Record<string, string>;
  assert.deepEqual([all['MALLOC_ARENA_MAX'], all['NODE_COMPILE_CACHE']], ['2', '/cache']);
  assert.deepEqual(await variablesOf(all, 'all'), Object.keys(users).sort());
  assert.deepEqual(await variablesOf(all, ['*']), ['MALLOC_ARENA_MAX', 'PATH']);
});

test("a command of another user is not told this program's account", {
  skip: NOT_ROOT,
}, async () => {
  const own = { PATH: process.env['PATH'] ?? '', HOME: '/root', USER: 'root', LOGNAME: 'root' };
  const user = { uid: 12_345, gid: 23_456 };
  assert.deepEqual(await variablesOf(own, ['*'], { user }), ['PATH']);
  const root = { user: { uid: 0, gid: 0 } };
  assert.deepEqual(await variablesOf(own, ['*'], root), Object.keys(own).sort());
});

test('a command that does not end is ended, with what it started', async () => {
  let [how, pid] = ['', ''];
  // On a busy machine its time may be over before its first word: then the next gets more.
  for (const timeoutMs of [300, 3000, 30_000]) {
    const end = await shell('sleep 300 & echo $!; sleep 300', { timeoutMs });
    assert.equal(end.succeeded, false);
    how = end.how;
    assert.equal(how, `it took longer than ${formatDuration(timeoutMs)}`);
    pid = end.output.trim();
    if (pid !== '') break;
  }
  assert.notEqual(pid, '', how);
  await until('gone in time', () => !isAlive(Number(pid)));
});

test('[N17] of one that is not ours to kill, as under sudo, is told whether something is left', async (t) => {
  const kill = process.kill.bind(process);
  const asked: number[] = [];
  t.mock.method(process, 'kill', (pid: number) => {
    asked.push(pid);
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
  });
  // The shell is gone at once; what it has left in its session is not.
  const { how, isThere } = await shell('sleep 300 & kill -STOP $$', { timeoutMs: 1000 });
  assert.equal(how, 'it took longer than 1s; it cannot be killed (EPERM)');
  const group = -(asked[0] as number);
  await until('it has stopped itself', () =>
    readFileSync(`/proc/${group}/stat`, 'utf8').includes(') T '),
  );
  assert.ok(isThere());
  kill(group, 'SIGKILL');
  for (let round = 0; round < 20; round++) assert.ok(isThere());
  kill(-group, 'SIGKILL');
  await until('nothing is left', () => !isThere());
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('[V5] a command that prints without end is ended at once, and costs nothing', async () => {
  const begun = process.cpuUsage();
  const end = await systemCommands.run({
    argv: ['yes', 'x'.repeat(200)],
    timeoutMs: 30_000,
    keep: { part: 'first', length: 1000 },
    lengthMax: 1_000_000,
  });
  const { user, system } = process.cpuUsage(begun);
  assert.deepEqual(
    [end.succeeded, end.code, end.how, end.output.length],
    [false, null, 'it printed more than 1000000 characters', 1000],
  );
  assert.ok((user + system) / 1000 < 2000, `${user + system} us of CPU`);
});

test('what is kept of long output is its begin, whole, however much comes', async () => {
  const argv = ['sh', '-c', 'seq 1 2000000'];
  const keep = { part: 'first', length: 20 } as const;
  const end = await systemCommands.run({ argv, timeoutMs: 60_000, keep });
  assert.deepEqual([end.succeeded, end.output], [true, '1\n2\n3\n4\n5\n6\n7\n8\n9\n10']);
});
