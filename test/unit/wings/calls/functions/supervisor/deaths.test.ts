// How children die: what had started, what had not, and the words about it. Real processes.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readStat } from '../../../../../../src/kernel/os/process-list.ts';
import { capture } from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import { wordsOfEnd } from '../../../../../../src/wings/calls/functions/supervisor/end-words.ts';
import { Tail } from '../../../../../../src/wings/calls/functions/supervisor/tail.ts';
import { processes } from '../../../../../../src/wings/calls/os/processes.ts';
import { startChild } from '../support/child.ts';

/** An end that never comes is a failure, not a wait. */
const LIMIT = { timeout: 90_000 };

const rows: readonly (readonly [name: string, die: () => unknown, words: RegExp])[] = [
  ['process.exit', () => process.exit(3), /^process\.exit\(3\) was called$/],
  ['SIGKILL', () => process.kill(process.pid, 'SIGKILL'), /ended by SIGKILL \(not by Weft\)/],
  ['SIGSEGV', () => process.kill(process.pid, 'SIGSEGV'), /SIGSEGV \(a segmentation fault/],
  ['process.abort', () => process.abort(), /SIGABRT \(it aborted\)|SIGTRAP|SIGILL/],
  [
    'a full heap',
    () => {
      const rows: unknown[] = [];
      for (;;) rows.push(new Array(1000).fill(rows.length));
    },
    /^Its process ran out of memory: .*JavaScript heap out of memory$/,
  ],
  [
    'words before the end',
    () => {
      process.stderr.write('solver: matrix is singular\n');
      process.kill(process.pid, 'SIGKILL');
    },
    // They come on a way of their own, and may be read before the beginning of their call.
    /SIGKILL.*; its last lines(, which may be from before this call)?: solver: matrix is singular$/,
  ],
  [
    'garbage in the pipe',
    () => {
      writeSync(4, 'garbage that is no frame');
      for (;;);
    },
    /^It wrote a frame of \d+ bytes into file descriptor 4, which is Weft's$/,
  ],
];

for (const [name, die, words] of rows) {
  test(
    `a child that ends by ${name} says so, and the call behind it has not started`,
    LIMIT,
    async () => {
      await using world = await startChild({ nodeOptions: ['--max-old-space-size=40'] });
      const fine = capture((x: number) => x);
      const [before, dying, behind] = [fine, capture(die), fine].map((code) => world.send(code, 1));
      assert.deepStrictEqual(await before!.end, { value: 1 });
      assert.equal(await dying!.end, 'started and lost');
      assert.equal(await behind!.end, 'not started');
      assert.match(await world.died, words);
    },
  );
}

test('a child in an endless loop, or stopped, can be killed', LIMIT, async () => {
  await using looping = await startChild();
  const endless = looping.send(
    capture(() => {
      for (;;);
    }),
  );
  await looping.started(endless.run);
  looping.child.kill();
  assert.equal(await endless.end, 'started and lost');
  assert.equal(await looping.died, 'Its process was ended by Weft');
  await using stopped = await startChild();
  const still = stopped.send(capture(() => process.kill(process.pid, 'SIGSTOP')));
  await stopped.started(still.run);
  stopped.child.kill();
  assert.equal(await still.end, 'started and lost');
});

test(
  '200 MiB go there and come back, while the calls around them are as they were',
  LIMIT,
  async () => {
    await using world = await startChild();
    const large = new Uint8Array(200 * 1_048_576).fill(7);
    const echo = (bytes: Uint8Array) => bytes;
    const [small, whole, after] = [[1], [large], [2]].map((args) =>
      world.send(capture(echo), ...args),
    );
    assert.deepStrictEqual(await small!.end, { value: 1 });
    const end = (await whole!.end) as { value: Uint8Array };
    assert.equal(Buffer.compare(end.value, large), 0);
    assert.deepStrictEqual(await after!.end, { value: 2 });
  },
);

test(
  'a process that a call has left holds up the news of its death by no more than a second',
  LIMIT,
  async () => {
    // Nobody ends what it has left, as where the system does not tell who started whom.
    await using world = await startChild({ processes: undefined });
    const leaving = async () => {
      const { spawn } = await import('node:child_process');
      const { pid } = spawn('sleep', ['60'], { stdio: 'inherit', detached: true });
      process.stderr.write(`left ${pid}\n`);
      process.kill(process.pid, 'SIGKILL');
    };
    const { end } = world.send(capture(leaving));
    assert.equal(await end, 'started and lost');
    await world.says(/left \d+\n/);
    const pid = /left (\d+)/.exec(world.stderr())?.[1] ?? assert.fail(world.stderr());
    process.kill(Number(pid), 'SIGKILL');
  },
);

/** Starts processes of all kinds, and tells their pids: plain, detached, without a parent, bare. */
const starting = async (rest: 'return' | 'wait' | 'die') => {
  const { spawn, spawnSync } = await import('node:child_process');
  const quiet = { stdio: 'ignore', detached: true } as const;
  const orphan = spawnSync('sh', ['-c', 'setsid sleep 300 >/dev/null 2>&1 & echo $!']);
  const pids = [
    spawn('sleep', ['300'], { stdio: 'ignore' }).pid,
    spawn('sleep', ['300'], quiet).pid,
    Number(`${orphan.stdout}`),
  ];
  if (rest === 'wait') pids.push(spawn('/bin/sleep', ['300'], { ...quiet, env: {} }).pid);
  process.stderr.write(`${rest} ${pids.join(' ')};\n`);
  if (rest === 'die') process.kill(process.pid, 'SIGKILL');
  if (rest !== 'return') await new Promise(() => undefined);
};

for (const how of ['wait', 'die'] as const) {
  test(
    `[C22] what a call started ends with it (${how}); what an earlier one left goes on`,
    LIMIT,
    async () => {
      await using world = await startChild();
      const code = capture(starting);
      const pidsOf = (rest: string) =>
        (new RegExp(`${rest} ([\\d ]+);`).exec(world.stderr())?.[1] ?? '').split(' ').map(Number);
      assert.deepStrictEqual(await world.send(code, 'return').end, { value: undefined });
      // What has no mark is told apart by the tick in which it was begun.
      for (const end = processes.ticksNow(); processes.ticksNow() < end + 2; ) await sleep(10);
      const dying = world.send(code, how);
      await world.says(new RegExp(`${how} [\\d ]+;`));
      const [left, lost] = [pidsOf('return'), pidsOf(how)];
      try {
        assert.equal(lost.length, how === 'wait' ? 4 : 3, world.stderr());
        if (how === 'wait') world.child.kill();
        assert.equal(await dying.end, 'started and lost');
        // Killed they are, and gone as soon as they get a CPU.
        for (let round = 0; lost.some(isRunning); round += 1) {
          assert.ok(round < 6000, `${lost.filter(isRunning)} go on`);
          await sleep(10);
        }
        assert.deepEqual(left.map(isRunning), [true, true, true]);
      } finally {
        for (const pid of [...left, ...lost]) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
      }
    },
  );
}

/** A zombie, whose new parent has not looked yet, is none. */
function isRunning(pid: number): boolean {
  return readStat(pid)?.isAlive === true;
}

test('a child whose supervisor is gone ends, also when it waits', LIMIT, async () => {
  const support = new URL('../support/child.ts', import.meta.url).href;
  const program = `
    const { startChild } = await import(${JSON.stringify(support)});
    const { child } = await startChild();
    console.log(child.pid);
    process.kill(process.pid, 'SIGKILL');
  `;
  const argv = ['--input-type=module', '-e', program];
  let pid = 0;
  try {
    execFileSync(process.execPath, argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    pid = Number((error as { stdout: string }).stdout);
  }
  assert.ok(pid > 0);
  for (let round = 0; isAlive(pid); round += 1) {
    assert.ok(round < 1000, 'the child is still there');
    await sleep(10);
  }
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // No such process.
  }
}

test('lines of an earlier call are not taken for those of the one that died', LIMIT, async () => {
  await using world = await startChild();
  const tell = world.send(
    capture((text: string) => process.stderr.write(`${text}\n`)),
    'early',
  );
  await tell.end;
  await world.says(/early/);
  const dying = capture(() => process.kill(process.pid, 'SIGKILL'));
  assert.equal(await world.send(dying).end, 'started and lost');
  assert.match(await world.died, /; its last lines, which may be from before this call: early$/);
});

test('a long text takes no room from the lines behind it', () => {
  const tail = new Tail();
  for (const text of ['x'.repeat(60_000), '\na\n', 'b\n']) tail.add(Buffer.from(text));
  assert.deepEqual(tail.lines().lines.slice(1), ['a', 'b']);
});

test('the words name what happened, with the last lines of many', () => {
  const end = { exitCode: null, signal: null, asked: null, isKilled: false, wasOomKilled: false };
  const lines = Array.from({ length: 9 }, (_, at) => `line ${at}`);
  assert.equal(
    wordsOfEnd({ ...end, exitCode: 7, lines }),
    'Its process ended with exit code 7; its last lines: line 4 | line 5 | line 6 | line 7 | line 8',
  );
  assert.equal(
    wordsOfEnd({ ...end, signal: 'SIGKILL', wasOomKilled: true, lines: [] }),
    'Its process ran out of memory: the kernel killed it at the memory limit',
  );
});

test(
  'a child that cannot be started, as too many files are open, has died with these words',
  LIMIT,
  () => {
    const program = `
    import { openSync } from 'node:fs';
    import { Child } from ${JSON.stringify(new URL('../../../../../../src/wings/calls/functions/supervisor/child-process.ts', import.meta.url).href)};
    await import('node:child_process');
    try { for (;;) openSync('/dev/null'); } catch {}
    const nothing = () => undefined;
    const options = { scratch: '/tmp', callsMax: 0, bytesMax: 0, env: {}, onStderr: nothing };
    const child = new Child(options, { died: (detail) => console.log(detail) });
    child.kill();
    child.takeBack([1]);
  `;
    const argv = [process.execPath, '--input-type=module-typescript', '-e', program];
    const text = execFileSync('/bin/sh', ['-c', 'ulimit -n 64; exec "$@"', 'sh', ...argv], {
      encoding: 'utf8',
    });
    assert.match(text, /^It cannot be started: too many files are open/);
  },
);
