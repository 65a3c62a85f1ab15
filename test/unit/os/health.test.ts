// The health command as a program: what counts as well, and what is said when it is not.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { systemHealth } from '../../../src/os/health.ts';

const shell = (line: string, timeoutMs = 20_000) =>
  systemHealth({ command: ['sh', '-c', line], timeoutMs }).run();

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, what);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('[N17] exit code 0 is well, whatever it says', async () => {
  assert.deepEqual(await shell('echo fine; echo odd >&2'), { isWell: true, words: '' });
});

test('[N17] the first line that says something is the reason, else how it ended', async () => {
  const words = async (line: string) => (await shell(line)).words;
  assert.equal(
    await words('echo; printf "\\033[1msdb is\\tfailing\\n"; echo more; exit 1'),
    '[1msdb is failing',
  );
  assert.equal(await words('echo on stderr >&2; exit 2'), 'on stderr');
  assert.equal(await words('exit 3'), 'exit code 3');
  assert.equal(await words('kill -9 $$'), 'SIGKILL');
  assert.equal((await words('head -c 100000 /dev/zero | tr "\\0" x; exit 1')).length, 200);
});

test('[N17] what does not end in time or cannot be started has failed', async () => {
  assert.deepEqual(await shell('sleep 300', 200), {
    isWell: false,
    words: 'it took longer than 200 ms',
  });
  const missing = await systemHealth({ command: ['/no/such'], timeoutMs: 1000 }).run();
  assert.equal(missing.isWell, false);
  assert.match(missing.words, /ENOENT/);
});

test('[N17] one that is not ours to kill, as under sudo, has failed, and no other is run beside it', async (t) => {
  const kill = process.kill.bind(process);
  const asked: number[] = [];
  t.mock.method(process, 'kill', (pid: number) => {
    asked.push(pid);
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
  });
  const folder = mkdtempSync(`${tmpdir()}/weft-health-`);
  t.after(() => rmSync(folder, { recursive: true }));
  const runs = `${folder}/runs`;
  // The shell is gone at once; what it has left in its session is not.
  const line = `echo x >> ${runs}; [ $(wc -l < ${runs}) = 1 ] || exit 0; sleep 300 & kill -STOP $$`;
  const check = systemHealth({ command: ['sh', '-c', line], timeoutMs: 1000 });
  const late = 'it took longer than 1000 ms, and cannot be killed (EPERM)';
  assert.deepEqual(await check.run(), { isWell: false, words: late });
  const still = { isWell: false, words: `the last check still runs: ${late}` };
  assert.deepEqual(await check.run(), still);
  const group = -(asked[0] as number);
  const isStopped = () => readFileSync(`/proc/${group}/stat`, 'utf8').includes(') T ');
  await until('it has stopped itself', isStopped);
  kill(group, 'SIGKILL');
  for (let round = 0; round < 20; round++) assert.deepEqual(await check.run(), still);
  assert.equal(readFileSync(runs, 'utf8'), 'x\n');
  kill(-group, 'SIGKILL');
  await until('it is run when nothing is left', async () => (await check.run()).isWell);
  // Once, or again where the machine was so slow that this one took too long as well.
  assert.match(readFileSync(runs, 'utf8'), /^x\n(x\n)+$/);
});
