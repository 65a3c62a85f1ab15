// Jobs at a site that are to stand still and go on, and signals for them: asked of the site until
// its listing shows it, shown as the listing has it, and nothing else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { err, ok } from '../../../../../../src/kernel/base/result.ts';
import * as turns from '../../../../../../src/wings/sites/fabric/site/turns.ts';

const refused = err({ kind: 'refused', text: 'no' } as const);
const away = err({ kind: 'away', text: 'no answer' } as const);
const suspended = { state: 'suspended' } as const;
const running = { state: 'running' } as const;

test('[G22] a job is told to stand still until it is listed so, and stopped again when others wake it', () => {
  const job = turns.newTurns(null);
  assert.equal(turns.turnOf(job, 0), null);
  turns.wished(job, true, 0);
  assert.equal(turns.turnOf(job, 0), 'suspend');
  turns.turned(job, true, ok(null), 0);
  assert.equal(turns.turnListed(job, running), false);
  assert.deepEqual([turns.turnOf(job, 19_999), turns.turnOf(job, 20_000)], [null, 'suspend']);
  assert.equal(turns.turnListed(job, suspended), true);
  assert.equal(turns.turnOf(job, 90_000), null);
  assert.equal(turns.turnListed(job, { state: 'completing' }), false);
  assert.equal(turns.turnListed(job, running), true);
  assert.equal(turns.turnOf(job, 90_000), 'suspend');
});

test('[G22] a job goes on though its stop does not show yet, and may be stopped by others then', () => {
  const job = turns.newTurns(null);
  turns.wished(job, true, 0);
  turns.turned(job, true, ok(null), 0);
  turns.wished(job, false, 100);
  assert.deepEqual([turns.turnOf(job, 1099), turns.turnOf(job, 1100)], [null, 'resume']);
  turns.turned(job, false, refused, 1100);
  assert.equal(turns.turnListed(job, running), false);
  turns.turnListed(job, suspended);
  assert.equal(turns.turnOf(job, 900_000), null, 'an operator of the site has stopped it');
});

test('[G22] what the gateway before had told its site is taken back once', () => {
  const job = turns.newTurns(false);
  turns.wished(job, false, 0);
  assert.equal(turns.turnOf(job, 1000), 'resume');
  turns.turned(job, false, refused, 1000);
  assert.equal(turns.turnOf(job, 900_000), null);
  const stopped = turns.newTurns(true);
  turns.wished(stopped, true, 0);
  assert.equal(turns.turnOf(stopped, 0), null);
});

test('[G22] a refusal is asked for again later than an answer that did not come', () => {
  for (const [answer, againMs] of [
    [refused, 60_000],
    [away, 5_000],
  ] as const) {
    const job = turns.newTurns(null);
    turns.wished(job, true, 0);
    turns.turned(job, true, answer, 0);
    assert.deepEqual(
      [turns.turnOf(job, againMs - 1), turns.turnOf(job, againMs)],
      [null, 'suspend'],
    );
  }
});

test('[G22] signals come in their order, wait while the job stands still, and are given up when refused', () => {
  const job = turns.newTurns(null);
  for (const signal of [10, 12, 18]) turns.signalled(job, signal);
  turns.turnListed(job, suspended);
  assert.equal(turns.turnOf(job, 0), null);
  turns.turnListed(job, running);
  assert.equal(turns.turnOf(job, 0), 'signal');
  turns.passed(job, away, 0);
  assert.deepEqual([turns.turnOf(job, 4999), job.signals], [null, [10, 12, 18]]);
  turns.passed(job, ok(null), 5000);
  turns.passed(job, refused, 5000);
  assert.deepEqual(job.signals, [18]);
  turns.turnListed(job, suspended);
  assert.equal(turns.turnOf(job, 5000), 'signal', 'what it stopped by goes on by that');
});
