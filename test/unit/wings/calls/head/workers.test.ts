// Where a program runs that says it is in a call: believed only with its worker's proof.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { State } from '../../../../../src/kernel/machine/state.ts';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
import { childEnvironment } from '../../../../../src/wings/calls/functions/supervisor/settings.ts';
import { findInside } from '../../../../../src/wings/calls/head/workers.ts';

const task = (epoch: number) => ({ epoch, parts: new Map([['n1', { state: 'running' }]]) });
const pool = (key: string) => ({
  spec: { pool: {}, stepKey: key },
  active: new Map([[0, task(2)]]),
});
const state = { jobs: new Map([...[7, 8].map((id) => [id, pool(`key ${id}`)] as const)]) };

/** What a child of that worker finds in its environment. */
function proof(key: string, epochId: string, depth: number): string {
  const settings = { pool: '7', head: { socketPath: '/s' }, epochId, key, worker: 'n1:x' };
  const env = childEnvironment({ ...settings, callsMax: 0, bytesMax: 0 }, {}, depth);
  return env['WEFT_WORKER'] ?? '';
}

const inside = (text: string, job = 7) =>
  findInside(state as unknown as State, job as JobId, { 'weft-worker': text });

test('[C17] where a program runs is believed by the proof of a worker that lives', () => {
  const good = proof('key 7', '7[0]#2', 1);
  assert.deepEqual(inside(good), { worker: 'n1:7[0]#2', depth: 1 });
  assert.deepEqual(inside(good, 8), { pool: 7, worker: 'n1:7[0]#2', depth: 1 }, 'another pool');
  assert.equal(inside(proof('key 8', '7[0]#2', 1)), null, 'another key');
  assert.equal(inside(proof('key 7', '7[0]#1', 1)), null, 'an epoch that is over');
  assert.equal(inside(good.replace(':1:', ':0:')), null, 'another depth');
  for (const text of ['', 'x', '7[0]#2:1:', `${good}0`, good.slice(1)])
    assert.equal(inside(text), null);
  assert.equal(findInside(state as unknown as State, 7 as JobId, {}), null);
});

test('[C17] functions find the head of their pool, unless the pool says another', () => {
  const settings = { pool: '7', head: { socketPath: '/s' }, epochId: '7[0]#2', key: 'k' };
  const worker = { ...settings, worker: 'n1:7[0]#2', callsMax: 0, bytesMax: 0 };
  const found = childEnvironment(worker, { A: 'b', WEFT_CALLS: '{"key":"k"}' }, 0);
  assert.deepEqual([found['A'], found['WEFT_SOCKET'], found['WEFT_CALLS']], ['b', '/s', undefined]);
  const told = childEnvironment(worker, { WEFT_DIR: '/d' }, 0);
  assert.deepEqual([told['WEFT_DIR'], told['WEFT_SOCKET']], ['/d', undefined]);
  const remote = { ...worker, head: { url: 'https://h:5001' } };
  assert.equal(childEnvironment(remote, {}, 0)['WEFT_HEAD'], undefined, 'it would want a token');
});
