// Pieces of standard input for jobs: who may send them, and what they are answered.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readText } from '../../../../../src/kernel/api/read-text.ts';
import { CLIENT_SILENT_MS } from '../../../../../src/kernel/head/stdin/feeder.ts';
import type { NodeName } from '../../../../../src/kernel/model/ids.ts';
import { systemClock } from '../../../../../src/kernel/os/clock.ts';
import type { Clock } from '../../../../../src/kernel/ports/clock.ts';
import { eventually, startAgent, startWorld, TRUE, type World } from './fixture.ts';

const NOTHING = { run: 0, offset: 0, data: '', end: false };

test('only a job that reads from its client takes input, and only from its owner', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const files = { stdin: '-' };
  const plain = await world.admin.call('submitJob', { body: { ...TRUE, held: true } });
  const feed = (jobId: number, client = world.admin) =>
    client.call('feedJob', { params: { id: String(jobId) }, body: NOTHING });
  await assert.rejects(feed(plain.jobId), { code: 'job.not_fed' });
  const fed = await world.admin.call('submitJob', { body: { ...TRUE, files, held: true } });
  const alice = await world.client('alice');
  await assert.rejects(feed(fed.jobId, alice), { code: 'auth.not_owner' });
  const waiting = feed(fed.jobId);
  await world.admin.call('cancelJob', { params: { id: String(fed.jobId) } });
  assert.equal((await waiting).done, true, 'a job that is done reads no more');
});

test('a piece for a node that is away does not keep the head from everybody else', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const body = { ...TRUE, files: { stdin: '-' } };
  const { jobId } = await world.admin.call('submitJob', { body });
  agent.started(await agent.launch());
  const params = { id: String(jobId) };
  const state = async () => (await world.admin.call('getJob', { params })).state;
  await eventually(async () => (await state()) === 'running');
  agent.socket.terminate();
  const isAway = () => world.head.engine.state.nodes.get('n1' as NodeName)?.connected === false;
  await eventually(isAway);
  const piece = { run: 1, offset: 0, data: 'YQ==', end: false };
  let isAnswered = false;
  const fed = world.admin.call('feedJob', { params, body: piece }).finally(() => {
    isAnswered = true;
  });
  // Both are asked while the piece waits: a head that only tries again would answer it first.
  assert.equal(await state(), 'running');
  assert.equal(isAnswered, false);
  await world.admin.call('declareNodeLost', { params: { name: 'n1' }, body: {} });
  await world.admin.call('cancelJob', { params });
  assert.equal((await fed).taken, false);
});

/** What the listeners want to do when a client has been silent for so long, by `pass`. */
class Patience {
  readonly #waiting = new Set<() => void>();

  readonly clock: Pick<Clock, 'after'> = {
    after: (delayMs, then) => {
      if (delayMs !== CLIENT_SILENT_MS) return systemClock.after(delayMs, then);
      this.#waiting.add(then);
      return { cancel: () => this.#waiting.delete(then) };
    },
  };

  get count(): number {
    return this.#waiting.size;
  }

  pass(): void {
    const due = [...this.#waiting];
    this.#waiting.clear();
    for (const then of due) then();
  }
}

test('a job whose client is silent for too long is cancelled, also by the next head', async (t) => {
  const [first, second] = [new Patience(), new Patience()];
  const before = await startWorld(t, { clock: first.clock });
  const submit = () =>
    before.admin.call('submitJob', { body: { ...TRUE, files: { stdin: '-' }, held: true } });
  const outcome = async ({ admin }: World, jobId: number) =>
    (await admin.call('getJob', { params: { id: String(jobId) } })).outcome?.kind;
  await startAgent(t, before, 'n1');
  const left = await submit();
  assert.equal(first.count, 1);
  first.pass();
  await eventually(async () => (await outcome(before, left.jobId)) === 'cancelled');
  const kept = await submit();
  await before.admin.call('submitJob', { body: { ...TRUE, held: true } });
  await before.http.close();
  assert.equal(first.count, 0, 'a head that stops cancels nothing');
  await before.head.stop();
  const after = await startWorld(t, { clock: second.clock, disk: before.disk });
  assert.equal(second.count, 1, 'of the job that is fed');
  const params = { id: String(kept.jobId) };
  const back = after.admin.call('feedJob', { params, body: NOTHING });
  await eventually(() => second.count === 0);
  assert.equal(await outcome(after, kept.jobId), undefined, 'its client is back');
  await after.admin.call('cancelJob', { params });
  assert.equal((await back).done, true);
});

test('input for several readers is refused at submission', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const files = { stdin: '-' };
  const array = { indices: '0-3' };
  const wide = world.admin.call('submitJob', { body: { ...TRUE, files, array } });
  await assert.rejects(wide, {
    code: 'argument.invalid',
    message: /goes to one process, not to an/,
  });
});

test('a client that leaves is not waited for: its piece is let go at once', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const body = { ...TRUE, files: { stdin: '-' }, held: true };
  const { jobId } = await world.admin.call('submitJob', { body });
  const leaving = new AbortController();
  const params = { id: String(jobId) };
  const begun = performance.now();
  const fed = world.admin.call('feedJob', { params, body: NOTHING, signal: leaving.signal });
  await world.admin.call('getJob', { params });
  leaving.abort();
  await assert.rejects(fed);
  const ended = async () =>
    (await readText(await world.admin.stream('metrics'), '')).includes('route="feedJob"');
  await eventually(ended);
  assert.ok(performance.now() - begun < 14_000, 'the head waited as long as it answers');
});
