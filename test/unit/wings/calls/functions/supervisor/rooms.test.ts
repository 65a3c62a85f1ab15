// What a worker says where no room for large results can be made: one line, whatever happens to
// its processes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NearMemory } from '../../../../../../src/wings/calls/functions/near-memory.ts';
import { readSettings } from '../../../../../../src/wings/calls/functions/supervisor/settings.ts';
import { WorkerSupervisor } from '../../../../../../src/wings/calls/functions/supervisor/worker-supervisor.ts';

const CALLS = { head: { socketPath: '/nowhere' }, epochId: '7#1', key: 'secret', worker: 'n1:7#1' };

test('[C20] a worker says once that there are no rooms', { timeout: 90_000 }, async () => {
  const settings = readSettings({ WEFT_POOL: '7', WEFT_CALLS: JSON.stringify(CALLS) });
  assert.ok(settings.ok);
  const near = new NearMemory();
  const lines: string[] = [];
  let asked = Promise.withResolvers<void>();
  near.room = () => {
    asked.resolve();
    return null;
  };
  const exited = Promise.withResolvers<number>();
  const supervisor = new WorkerSupervisor(settings.value, {
    dial: () => new Promise(() => undefined),
    near,
    env: process.env,
    tell: (line) => lines.push(line),
    onStderr: () => undefined,
    exit: exited.resolve,
  });
  await asked.promise;
  asked = Promise.withResolvers();
  process.kill(supervisor.childPid ?? assert.fail('no process'), 'SIGKILL');
  await asked.promise;
  assert.equal(lines.filter((line) => line.includes('/dev/shm')).length, 1, lines.join('\n'));
  void supervisor.stop();
  await exited.promise;
});
