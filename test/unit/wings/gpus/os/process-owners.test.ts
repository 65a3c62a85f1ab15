// Whose real processes are: an environment may say anything.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { ownersOf } from '../../../../../src/wings/gpus/os/process-owners.ts';
import { endNow } from '../../../../support/when-killed.ts';

const OWN = new Set(['0123abcd-4567']);
const started: number[] = [];
after(() => {
  for (const pid of started) endNow(pid, 'SIGKILL');
});

/** A process that has nothing to do with this one any more. */
function orphan(env: Record<string, string>): number {
  const shell = spawnSync('sh', ['-c', 'sleep 600 >/dev/null 2>&1 & echo $!'], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    encoding: 'utf8',
  });
  const pid = Number(shell.stdout);
  started.push(pid);
  return pid;
}

function ownerOf(pid: number): unknown {
  const { user: _, ...owner } = ownersOf([pid], OWN).get(pid) ?? { user: '' };
  return owner;
}

test('[V2] a process of another Weft, or that says that it is of one, is of no task here', () => {
  assert.deepEqual(ownerOf(orphan({ WEFT_LAUNCH: 'x:1' })), { isOurs: false });
  assert.deepEqual(ownerOf(orphan({ WEFT_LAUNCH: '0123abcd-9999:1' })), { isOurs: false });
  assert.deepEqual(ownerOf(orphan({ WEFT_JOB_ID: '1' })), { isOurs: false });
  const mark = '0123abcd-4567:7';
  assert.deepEqual(ownerOf(orphan({ WEFT_LAUNCH: mark })), { isOurs: false, mark });
});

test('[V2] what this program has started is its own, with the mark of what it descends from', () => {
  const mark = '0123abcd-4567:8';
  const task = spawn('sh', ['-c', 'env -i sleep 600 & echo $!; wait'], {
    env: { PATH: process.env['PATH'] ?? '', WEFT_LAUNCH: mark },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  started.push(task.pid ?? 0);
  return new Promise<void>((resolve) => {
    task.stdout.once('data', (text: Buffer) => {
      const pid = Number(text.toString());
      started.push(pid);
      assert.deepEqual(ownerOf(pid), { isOurs: true, mark });
      resolve();
    });
  });
});
