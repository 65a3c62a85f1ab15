// CPU time of programs that are no tasks: real ones, and every way in which time changes hands.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { test } from 'node:test';
import { foreignLoad, usedBetween } from '../../../../../src/wings/owner/os/foreign-load.ts';
import {
  isDaemon,
  type OneProcess,
  ProcessTable,
} from '../../../../../src/wings/owner/os/processes.ts';

/** Uses so many ms of CPU time. */
const BURN = 'while (process.cpuUsage().user < Number(process.argv[1]) * 1000);';
/** Starts one short program after the other. */
const MANY = 'i=0; while [ $i -lt 60 ]; do head -c 3000000 /dev/zero | md5sum; i=$((i+1)); done';

function one(pid: number, cpuTicks: number, other: Partial<OneProcess> = {}): OneProcess {
  return { pid, parent: 10, terminal: 0, startTicks: '1', cpuTicks, isOurs: false, ...other };
}

function table(...all: OneProcess[]): Map<number, OneProcess> {
  return new Map(all.map((process) => [process.pid, process]));
}

function ended(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => child.once('exit', resolve));
}

/** CPU ms of processes below this test's, apart from what else the machine does. */
function own(processes: ProcessTable, root: number): Map<number, OneProcess> {
  const all = processes.read();
  const isBelow = (pid: number): boolean => {
    const found = all.get(pid);
    return pid === root || (found !== undefined && found.parent > 1 && isBelow(found.parent));
  };
  return new Map([...all].filter(([pid]) => isBelow(pid)));
}

test('[O6] what is used is counted once, also when it is handed on to a parent', () => {
  const shell = one(10, 5, { parent: 3 });
  // Lives on, is new, is another with an old number.
  assert.equal(usedBetween(table(shell, one(11, 7)), table(shell, one(11, 9))), 2);
  assert.equal(usedBetween(table(shell), table(shell, one(11, 9))), 9);
  const reused = table(shell, one(11, 4, { startTicks: '9' }));
  assert.equal(usedBetween(table(shell, one(11, 3)), reused), 4);
  // Ended with 9 ticks, of which 7 were counted before; the shell waited for it.
  const later = table({ ...shell, cpuTicks: 14 });
  assert.equal(usedBetween(table(shell, one(11, 7)), later), 2);
});

test("[O6] what a whole family leaves is its living forebear's, and hides nobody else's use", () => {
  const make = one(10, 5, { parent: 3 });
  const family = [one(11, 100), one(12, 300, { parent: 11 }), one(13, 40, { parent: 12 })];
  // All of them ended, and 20 ticks more had been used until then.
  const later = { ...make, cpuTicks: 5 + 440 + 20 };
  assert.equal(usedBetween(table(make, ...family), table(later)), 20);
  // Read while numbers were used anew.
  const circle = [one(11, 1, { parent: 12 }), one(12, 1, { parent: 11 })];
  assert.equal(usedBetween(table(...circle), table(make)), 5);
  // Nobody waited for them: that is lost, and what somebody else used meanwhile is not.
  const other = one(20, 0, { parent: 3 });
  const busy = { ...other, cpuTicks: 50 };
  assert.equal(usedBetween(table(make, other, ...family), table(make, busy)), 50);
});

test('[O6] tasks do not count, nor what the first process takes over from them', () => {
  const ours = { isOurs: true };
  assert.equal(usedBetween(table(one(11, 5, ours)), table(one(11, 95, ours))), 0);
  const first = one(1, 100, { parent: 0 });
  assert.equal(usedBetween(table(first, one(11, 5)), table({ ...first, cpuTicks: 900 })), 0);
});

test('[O6] daemons of Weft itself are no use of the machine, programs of the same name are', () => {
  const flags = ['node', '--heap-growing-percent=50', '--expose-gc'];
  assert.equal(isDaemon([...flags, '/opt/weft/src/bin/head.ts', 'options.json', '']), true);
  assert.equal(isDaemon(['weft-launcher', '--socket', '/state/nodes/n1/launcher.sock', '']), true);
  assert.equal(isDaemon(['node', '/home/alice/head.ts', '']), false);
  assert.equal(isDaemon([...flags, '/home/alice/render.js', '']), false);
  assert.equal(isDaemon(['server', '--socket', '/run/other.sock', '']), false);
  assert.equal(isDaemon(['']), false);
});

test('[O6] a real busy program counts, one of a task and one of its children do not', async () => {
  const burn = (env: Record<string, string>): ChildProcess => {
    return spawn(process.execPath, ['-e', BURN, '900'], { env, stdio: 'ignore', detached: true });
  };
  // This test is an agent to the detector, its children tasks: but for what an outsider starts.
  const shell = spawn('sh', ['-c', `"${process.execPath}" -e '${BURN}' 900; sleep 0.2`], {
    env: { WEFT_LAUNCH: 'x/n1/1' },
    stdio: 'ignore',
  });
  const processes = new ProcessTable();
  const mine = burn({});
  assert.equal(processes.read().get(mine.pid ?? 0)?.isOurs, true);
  assert.equal(processes.read().get(shell.pid ?? 0)?.isOurs, true);
  await Promise.all([ended(mine), ended(shell)]);
});

test('[O6] real load: long programs and many short ones are both seen', async () => {
  for (const [program, ...args] of [
    [process.execPath, '-e', BURN, '800'],
    ['sh', '-c', MANY],
  ]) {
    const processes = new ProcessTable();
    const child = spawn(program as string, args, { stdio: 'ignore' });
    const before = own(processes, child.pid ?? 0);
    const detector = foreignLoad(() => asForeign(own(processes, child.pid ?? 0)));
    detector.look({ at: 0, monotonic: 0 });
    const startedAt = performance.now();
    let cpuMs = 0;
    while (child.exitCode === null && performance.now() - startedAt < 20_000) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const [sign] = detector.look({ at: 0, monotonic: 0 });
      if (sign?.kind === 'load') cpuMs = sign.cpuMs;
    }
    assert.ok(before.size > 0);
    assert.ok(cpuMs > 150, `${program}: ${cpuMs} ms`);
    assert.ok(cpuMs < 2 * (performance.now() - startedAt), `${program}: ${cpuMs} ms`);
  }
});

/** Started by this test, and to be seen as started by somebody else. */
function asForeign(all: Map<number, OneProcess>): Map<number, OneProcess> {
  return new Map([...all].map(([pid, found]) => [pid, { ...found, isOurs: false }]));
}
