// Batches whose submission is beyond what a request may have otherwise: accepted or refused as a
// whole, while the head goes on answering others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BATCH_BYTES_MAX, REQUEST_BYTES_MAX } from '../../../../../../src/kernel/model/limits.ts';
import { startAgent, startWorld } from '../../../../kernel/head/http/fixture.ts';

const JOBS = 100_000;
const program = { kind: 'script' as const, text: '#!/bin/sh\neval "$1"\n', args: ['{line}'] };

function large(name: string) {
  const each = Array.from({ length: JOBS }, (_, at) => {
    return {
      name: `pressure-${at}-mesh-${at}`,
      line: `python3 run.py --pressure ${at} --mesh ${at}`,
    };
  });
  const numbers = each.map((_, at) => at);
  const prints = each.map((_, at) => String(at).padStart(16, '0'));
  return { namespace: 'lab', name, parts: [{ submission: { program, each }, numbers, prints }] };
}

/** The most processor time between two turns of this process, from now on. */
function longestTurn(): () => number {
  let longest = 0;
  let from = process.cpuUsage();
  let isOver = false;
  const look = (): void => {
    const { user, system } = process.cpuUsage(from);
    from = process.cpuUsage();
    longest = Math.max(longest, (user + system) / 1000);
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isOver = true;
    return longest;
  };
}

test('[B1] 100,000 jobs are one submission, of which no turn of the head is long', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  await world.admin.call('drainNode', { params: { name: 'n1' }, body: { reason: 'test' } });
  const alice = await world.client('alice');
  const body = large('big');
  const { length } = JSON.stringify(body);
  assert.ok(length > REQUEST_BYTES_MAX && length < BATCH_BYTES_MAX, `${length}`);
  const turn = longestTurn();
  assert.equal((await alice.call('submitBatch', { body })).jobCount, JOBS);
  // Twice what it takes, beside what this test itself does in a turn.
  assert.ok(turn() < 600, `${turn()} ms`);
  await assert.rejects(alice.call('submitBatch', { body }), { code: 'batch.taken' });
  const shown = await alice.call('getBatch', { params: { namespace: 'lab', name: 'big' } });
  assert.deepEqual([shown.jobCount, shown.open], [JOBS, { pending: JOBS }]);
});

test('[B1] a large batch with one wrong job is refused as a whole', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const body = large('big');
  const last = body.parts[0]?.submission.each.at(-1);
  assert.ok(last !== undefined);
  for (const name of ['a/b', `pressure-0-mesh-0`]) {
    last.name = name;
    await assert.rejects(alice.call('submitBatch', { body }), (error: Error & { code: string }) => {
      assert.ok(['request.malformed', 'argument.invalid'].includes(error.code), error.code);
      return true;
    });
  }
  assert.deepEqual((await alice.call('listBatches', {})).batches, []);
});

test('two large batches of one name at once: one is accepted, the other is told so', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  await world.admin.call('drainNode', { params: { name: 'n1' }, body: { reason: 'test' } });
  const alice = await world.client('alice');
  const body = large('big');
  const both = await Promise.allSettled([1, 2].map(() => alice.call('submitBatch', { body })));
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const refused = both.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
  assert.equal(refused.reason.code, 'batch.taken');
});
