// Trying again when the head is away.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Patience, patiently } from '../../../../src/kernel/connect/patience.ts';
import { refuse } from '../../../../src/kernel/model/errors.ts';
import { Failure, failure } from '../../../../src/kernel/model/failure.ts';

/** A head that nobody has met refuses connections for so long; how often it was tried. */
async function tries(t: TestContext, awayMs: number, patience: Patience): Promise<number> {
  let [uptime, count] = [0, 0];
  const { mock } = t.mock.method(process, 'uptime', () => uptime / 1000);
  const waiting = { hasMet: () => false, isExpected: () => true, note: () => undefined };
  return patiently(waiting, patience, async () => {
    count += 1;
    // The first pause is short: then the clock says that it was long.
    if (count === 3) return count;
    if (count === 2) uptime = awayMs;
    throw nobodyThere();
  }).finally(() => mock.restore());
}

function nobodyThere(): Failure {
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const code = 'head.unreachable';
  return new Failure({ code, kind: 'unavailable', message: 'nobody there', cause });
}

test('[J30] who waits for a job waits for a head that was not met yet as long as they said', async (t) => {
  const wait = { totalMs: 3_600_000, isWait: true, note: '' };
  assert.equal(await tries(t, 600_000, wait), 3);
  await assert.rejects(tries(t, 3_600_001, wait), Failure, 'no longer than that');
  const other = { totalMs: 3_600_000, note: '' };
  await assert.rejects(tries(t, 600_000, other), Failure, 'its address may be wrong');
});

test('the note of who waits for a head is whole sentences, each with one full stop', async () => {
  const notes: string[] = [];
  const waiting = {
    hasMet: () => true,
    isExpected: () => true,
    note: (it: string) => notes.push(it),
  };
  let count = 0;
  await patiently(waiting, { totalMs: 60_000, note: 'Trying again.' }, async () => {
    count += 1;
    if (count === 1) throw failure(refuse('store.unavailable', { cause: 'the disk is full' }));
  });
  const words = 'The head cannot write to its store (the disk is full); nothing was accepted.';
  assert.deepEqual(notes, [`${words} Trying again.`]);
});
