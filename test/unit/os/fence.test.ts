// The fence command as a program: what it is given, what counts as a yes, and that it ends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemFence } from '../../../src/os/fence.ts';

const shell = (line: string, timeoutMs = 20_000) =>
  systemFence({ command: ['sh', '-c', line, 'fence', 'node={node}'], timeoutMs });

test('the node is named where {node} stands, and no shell sees it', async () => {
  const answer = await shell('echo "$1"').run('n1;false');
  assert.deepEqual(answer, { off: true, words: 'exit code 0: node=n1;false' });
});

test('anything but exit code 0 is no evidence, and is said in words', async () => {
  assert.deepEqual(await shell('echo no power >&2; exit 3').run('n1'), {
    off: false,
    words: 'exit code 3: no power',
  });
  assert.deepEqual(await shell('kill -9 $$').run('n1'), { off: false, words: 'SIGKILL' });
  const missing = await systemFence({ command: ['/no/such/{node}'], timeoutMs: 1000 }).run('n1');
  assert.equal(missing.off, false);
  assert.match(missing.words, /ENOENT/);
  const below = await systemFence({ command: ['/etc/passwd/{node}'], timeoutMs: 1000 }).run('n1');
  assert.equal(below.off, false);
  assert.match(below.words, /ENOTDIR/);
});

test('a command that does not end is ended, with what it started', async () => {
  let [words, pid] = ['', ''];
  // On a busy machine its time may be over before its first word: then the next gets more.
  for (const timeoutMs of [300, 3000, 30_000]) {
    const answer = await shell('sleep 300 & echo $!; sleep 300', timeoutMs).run('n1');
    assert.equal(answer.off, false);
    words = answer.words;
    assert.ok(words.startsWith(`it took longer than ${timeoutMs} ms`), words);
    pid = /: (\d+)$/.exec(words)?.[1] ?? '';
    if (pid !== '') break;
  }
  assert.notEqual(pid, '', words);
  const until = performance.now() + 60_000;
  while (isAlive(Number(pid))) {
    assert.ok(performance.now() < until, 'gone in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
