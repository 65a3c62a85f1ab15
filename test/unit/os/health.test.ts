// The health command as a program: what counts as well, and what is said when it is not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemHealth } from '../../../src/os/health.ts';

const shell = (line: string, timeoutMs = 20_000) =>
  systemHealth({ command: ['sh', '-c', line], timeoutMs }).run();

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

test('[N17] one that is not ours to kill, as under sudo, has failed, and the agent lives on', async (t) => {
  const kill = process.kill.bind(process);
  const asked: number[] = [];
  t.mock.method(process, 'kill', (pid: number) => {
    asked.push(pid);
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
  });
  const { words } = await shell('sleep 300', 200);
  for (const pid of asked) kill(pid, 'SIGKILL');
  assert.equal(words, 'it took longer than 200 ms, and cannot be killed (EPERM)');
});
