// What a gateway concludes of one job at a site: nothing from absence, nothing twice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteJob } from '../../../../../../src/kernel/model/site.ts';
import * as rules from '../../../../../../src/wings/sites/fabric/site/entry.ts';
import { newsOf } from '../../../../../../src/wings/sites/fabric/site/launch.ts';
import { endingOf } from '../../../../../../src/wings/sites/fabric/site/stage.ts';
import { newTurns } from '../../../../../../src/wings/sites/fabric/site/turns.ts';
import { PLAIN_SITE_JOB } from '../../../../../support/plain.ts';

const JOB: SiteJob = {
  ...PLAIN_SITE_JOB,
  id: '7',
  name: 'w-1',
  owner: 'ann',
  word: 'PD',
  walltimeMs: null,
};
const away = { ok: false, error: { kind: 'away', text: 'no answer in time' } } as const;
const refused = { ok: false, error: { kind: 'refused', text: 'sbatch: no such queue' } } as const;
const found = (...ids: string[]) => ({ ok: true, value: ids }) as const;

function sentEntry(): rules.LaunchEntry {
  return rules.newEntry(1, 'w-1', { kind: 'at_site', siteJob: '7' });
}

test('a submission without an answer is looked up by its name before it is made again', () => {
  const entry = rules.newEntry(1, 'w-1', { kind: 'unsent' });
  assert.equal(rules.workOf(entry, 0, false), 'submit');
  rules.submitting(entry, 1000);
  rules.submitted(entry, away, 2000);
  assert.equal(rules.workOf(entry, 2000, false), null);
  assert.equal(rules.workOf(entry, 7000, false), 'look_up');
  rules.lookedUp(entry, found(), 7000);
  assert.equal(entry.stage.kind, 'doubtful', 'the site may still be at it');
  rules.lookedUp(entry, away, 20_000);
  assert.equal(entry.stage.kind, 'doubtful', 'no answer is no answer');
  rules.lookedUp(entry, found(), 20_000);
  assert.equal(entry.stage.kind, 'unsent');
});

test('[H1] a clock that is set back by a day makes no pause longer', () => {
  const DAY = 86_400_000;
  const entry = rules.newEntry(1, 'w-1', { kind: 'unsent' });
  rules.submitting(entry, 2 * DAY);
  rules.submitted(entry, away, 2 * DAY);
  assert.equal(rules.workOf(entry, 2 * DAY + 1, false), null);
  assert.equal(rules.workOf(entry, DAY, false), 'look_up');
});

test('a job that is found by its name is ours, and is not submitted again', () => {
  const entry = rules.newEntry(1, 'w-1', { kind: 'doubtful', since: 0 });
  rules.lookedUp(entry, found('10', '7'), 1000);
  assert.deepEqual(
    entry.stage,
    { kind: 'at_site', siteJob: '7' },
    'the first that was given to the site',
  );
  assert.equal(rules.workOf(entry, 1000, false), null);
});

test('a refusal is told in the words of the site', () => {
  const entry = rules.newEntry(1, 'w-1', { kind: 'unsent' });
  rules.submitting(entry, 0);
  rules.submitted(entry, refused, 10);
  assert.deepEqual(endingOf(entry), {
    kind: 'unstartable',
    why: 'sbatch: no such queue',
    there: 'refused',
  });
  assert.equal(rules.workOf(entry, 1e9, false), null);
});

test('a job that no listing has is not ended', () => {
  const entry = sentEntry();
  rules.receiptsRead(entry, { started: { at: 0, host: 'n1' }, ended: null }, 0);
  rules.listed(entry, null, 1000);
  rules.listed(entry, null, 1e9);
  assert.equal(endingOf(entry), null);
  assert.equal(rules.workOf(entry, 1e9, true), 'ask_end');
  rules.endAsked(entry, { ok: true, value: null }, 1e9);
  assert.equal(endingOf(entry), null, 'no record is no evidence');
  const end = { startedAt: 0, endedAt: 5, exit: { code: 3 }, reason: null };
  rules.endAsked(entry, { ok: true, value: end }, 2e9);
  assert.deepEqual(endingOf(entry), {
    kind: 'exited',
    exit: { code: 3 },
    at: 5,
    userUs: 0,
    systemUs: 0,
  });
});

test('a job that comes back into the listing was never missing', () => {
  const entry = sentEntry();
  rules.listed(entry, null, 1000);
  rules.listed(entry, JOB, 40_000);
  assert.equal(rules.workOf(entry, 1e9, true), null);
});

test('what has not begun and is listed no more is kept from beginning, and only then over', () => {
  const entry = sentEntry();
  rules.listed(entry, null, 1000);
  assert.equal(rules.workOf(entry, 1000 + rules.MISSING_MS - 1, true), null);
  assert.equal(rules.workOf(entry, 1000 + rules.MISSING_MS, true), 'take_claim');
  rules.claimTaken(entry, 'us', 40_000);
  assert.deepEqual(endingOf(entry), {
    kind: 'unstartable',
    why: 'its site has it no more, and it had not begun there',
    there: 'refused',
  });
});

test('[G10] a job that was ended while it waited at its site was cancelled there', () => {
  const over = { ...JOB, state: 'ended', word: 'CANCELLED', isCancelled: true } as const;
  const entry = sentEntry();
  rules.listed(entry, over, 1000);
  assert.equal(rules.workOf(entry, 1000 + rules.RECEIPT_MS, false), 'take_claim');
  rules.claimTaken(entry, 'us', 7000);
  const why = 'its site ended it before it began: CANCELLED';
  assert.deepEqual(endingOf(entry), { kind: 'unstartable', why, there: 'cancelled' });
});

const RAN = { started: { at: 0, host: 'n1' }, ended: null } as const;
const TERMED = {
  ...RAN,
  ended: { at: 1000, exit: { signal: 15 }, userUs: 1, systemUs: 2 },
} as const;
const RUNS = { ...JOB, state: 'running', word: 'RUNNING', startedAt: 0, nodes: ['n1'] } as const;
const CANCELLED = { ...RUNS, state: 'ended', word: 'CANCELLED', isCancelled: true } as const;
const THERE = 'ended at its site: CANCELLED';

test('[G19] a job that ran and was ended at its site by hand was cancelled there', () => {
  const entry = sentEntry();
  rules.receiptsRead(entry, RAN, 500);
  rules.receiptsRead(entry, TERMED, 2000);
  assert.equal(endingOf(entry), null, 'its site may say who ended it');
  rules.listed(entry, RUNS, 3000);
  assert.equal(endingOf(entry), null, 'a listing from before');
  rules.listed(entry, CANCELLED, 8000);
  const ran = { kind: 'exited', exit: { signal: 15 }, at: 2000, userUs: 1, systemUs: 2 };
  assert.deepEqual(endingOf(entry), { ...ran, cancelledAs: THERE });
  // Its site was quicker than its receipt.
  const other = sentEntry();
  rules.listed(other, CANCELLED, 1000);
  rules.receiptsRead(other, TERMED, 2000);
  assert.deepEqual(endingOf(other), { ...ran, at: 1999, cancelledAs: THERE });
});

test('[G19] an end by a signal is nobody’s where its site does not say so', () => {
  const ways: ((entry: rules.LaunchEntry) => void)[] = [
    (entry) => rules.listed(entry, { ...RUNS, state: 'ended', word: 'FAILED' }, 3000),
    (entry) => rules.listed(entry, null, 3000),
    // A site that is away is waited for so long.
    (entry) => rules.receiptsRead(entry, TERMED, 32_000),
  ];
  for (const way of ways) {
    const entry = sentEntry();
    rules.receiptsRead(entry, TERMED, 2000);
    const waiting = endingOf(entry);
    way(entry);
    const ending = endingOf(entry);
    assert.equal(waiting, null);
    assert.ok(ending?.kind === 'exited' && !('cancelledAs' in ending));
  }
});

test('[G19] what is ended from here is told at once, and as nobody else’s doing', () => {
  const entry = sentEntry();
  entry.isCancelWanted = true;
  rules.listed(entry, { ...CANCELLED, state: 'completing' }, 1000);
  rules.receiptsRead(entry, TERMED, 2000);
  const ending = endingOf(entry);
  assert.ok(ending?.kind === 'exited' && !('cancelledAs' in ending));
});

test('[G19] a running job of a user of the site that is ended there was cancelled', () => {
  const entry = sentEntry();
  entry.isForeign = true;
  rules.listed(entry, { ...CANCELLED, exit: { signal: 15 }, endedAt: 5 }, 1000);
  const ran = { kind: 'exited', exit: { signal: 15 }, at: 5, userUs: 0, systemUs: 0 };
  assert.deepEqual(endingOf(entry), { ...ran, cancelledAs: THERE });
});

test('[G19] how a job of a user of the site ended that was cancelled there need not be known', () => {
  const entry = sentEntry();
  entry.isForeign = true;
  rules.listed(entry, { ...JOB, state: 'running', startedAt: 500 }, 1000);
  rules.listed(entry, { ...CANCELLED, exit: null, startedAt: 500, endedAt: 5 }, 2000);
  assert.deepEqual(endingOf(entry), { kind: 'unstartable', why: THERE, there: 'cancelled' });
  // Its listing said so; the record that is left of it has a code.
  const gone = sentEntry();
  gone.isForeign = true;
  rules.listed(gone, { ...CANCELLED, state: 'completing', startedAt: 500 }, 1000);
  const record = { startedAt: 500, endedAt: 5, exit: { code: 0 }, reason: null };
  rules.askedAfter(gone, false, record, 2000);
  const ending = endingOf(gone);
  assert.equal(ending?.kind === 'exited' && ending.cancelledAs, THERE);
});

test('[G14] an end of which its site does not say how is told in its word', () => {
  const entry = sentEntry();
  entry.isForeign = true;
  rules.listed(entry, { ...JOB, state: 'running', startedAt: 500 }, 1000);
  const failed = { ...JOB, state: 'ended', word: 'NODE_FAIL', exit: null, startedAt: 500 } as const;
  rules.listed(entry, failed, 2000);
  const why = 'its site says NODE_FAIL, and not how it ended';
  assert.deepEqual(endingOf(entry), { kind: 'lost', why });
});

test('[G14] a start that is heard late is told with how long ago it was', () => {
  const launch = {
    entry: sentEntry(),
    request: null,
    user: null,
    foreign: null,
    maintenance: null,
    asked: null,
    turns: newTurns(null),
    epochId: null,
    told: { running: false, stopped: false, end: false },
  };
  launch.entry.givenAt = 5000;
  rules.listed(launch.entry, { ...JOB, state: 'running', startedAt: 6000 }, 15_000);
  assert.deepEqual(newsOf(launch, 15_000), [{ kind: 'started', launchId: 1, agoMs: 9000 }]);
});

test('[G14] no start is before its job was given to the site, whatever its clock says', () => {
  const launch = {
    entry: sentEntry(),
    request: null,
    user: null,
    foreign: null,
    maintenance: null,
    asked: null,
    turns: newTurns(null),
    epochId: null,
    told: { running: false, stopped: false, end: false },
  };
  launch.entry.givenAt = 5000;
  rules.receiptsRead(launch.entry, { started: { at: 10, host: 'n1' }, ended: null }, 6000);
  assert.deepEqual(newsOf(launch, 6000), [{ kind: 'started', launchId: 1, agoMs: 1000 }]);
});

test('[G10] a job whose node failed before its script began goes back to the queue', () => {
  const over = { ...JOB, state: 'ended', word: 'NODE_FAIL', startedAt: 500 } as const;
  const entry = sentEntry();
  rules.listed(entry, over, 1000);
  rules.claimTaken(entry, 'us', 7000);
  const why = 'its site ended it before it began: NODE_FAIL';
  assert.deepEqual(endingOf(entry), { kind: 'unstartable', why, there: 'refused' });
});

test('an end that the site lists counts only when our program was what ran', () => {
  const over = { ...JOB, state: 'ended', exit: { code: 0 }, endedAt: 900 } as const;
  const entry = sentEntry();
  rules.listed(entry, over, 1000);
  rules.listed(entry, over, 1000 + rules.RECEIPT_MS);
  assert.equal(endingOf(entry), null, 'its script may have found the claim taken');
  assert.equal(rules.workOf(entry, 1000 + rules.RECEIPT_MS, false), 'take_claim');
  rules.claimTaken(entry, 'script', 7000);
  rules.listed(entry, over, 12_000);
  const ending = endingOf(entry);
  assert.deepEqual(ending, { kind: 'exited', exit: { code: 0 }, at: 900, userUs: 0, systemUs: 0 });
});

test('a receipt is the end at once, and the first end stays', () => {
  const entry = sentEntry();
  const ended = { at: 50, exit: { signal: 9 }, userUs: 1, systemUs: 2 };
  rules.receiptsRead(entry, { started: null, ended }, 60_000);
  rules.listed(entry, { ...JOB, state: 'ended', exit: { code: 0 } }, 1e9);
  assert.deepEqual(endingOf(entry), { kind: 'exited', ...ended, at: 1049 });
});

test('[S13] what was never sent and is ended for its head never begins, and may start anew', () => {
  const entry = rules.newEntry(1, 'w-1', { kind: 'unsent' });
  entry.isCancelWanted = true;
  assert.equal(rules.workOf(entry, 0, false), 'take_claim');
  rules.claimTaken(entry, 'us', 0);
  assert.deepEqual(endingOf(entry), {
    kind: 'unstartable',
    why: 'cancelled before it began',
    there: 'untaken',
  });
});

test('cancelling is repeated until the site takes it, and says nothing about the end', () => {
  const entry = sentEntry();
  entry.isCancelWanted = true;
  assert.equal(rules.workOf(entry, 0, false), 'cancel');
  rules.cancelled(entry, away, 0);
  assert.equal(rules.workOf(entry, rules.AGAIN_MS, false), 'cancel');
  rules.cancelled(entry, { ok: true, value: null }, rules.AGAIN_MS);
  assert.equal(endingOf(entry), null);
  assert.equal(rules.workOf(entry, 1e6, false), null);
});

test('a job that began, was given up, and is nowhere any more is lost, not ended', () => {
  const entry = sentEntry();
  rules.receiptsRead(entry, { started: { at: 0, host: 'n1' }, ended: null }, 0);
  rules.listed(entry, null, 1000);
  rules.giveUp(entry, 1e9, false);
  assert.equal(endingOf(entry), null, 'nobody gave it up');
  rules.cancelled(entry, { ok: true, value: null }, 2000);
  rules.giveUp(entry, 2000 + rules.MISSING_MS, false);
  assert.equal(endingOf(entry)?.kind, 'lost');
});

test('a receipt that has just come is dated by who was looking, whatever the clock of its writer', () => {
  const entry = sentEntry();
  rules.receiptsRead(entry, { started: null, ended: null }, 100_000);
  const ended = { at: 3_700_000, exit: { code: 0 }, userUs: 0, systemUs: 0 };
  rules.receiptsRead(entry, { started: null, ended }, 100_500);
  const ending = endingOf(entry);
  assert.ok(ending?.kind === 'exited');
  assert.equal(ending.at, 100_500);
});

test('a submission that took long to fail may still be on its way to the site', () => {
  const entry = rules.newEntry(1, 'w-1', { kind: 'unsent' });
  rules.submitting(entry, 0);
  rules.submitted(entry, away, 30_000);
  rules.lookedUp(entry, found(), 35_000);
  assert.equal(entry.stage.kind, 'doubtful');
  rules.lookedUp(entry, found(), 45_000);
  assert.equal(entry.stage.kind, 'unsent');
});

test('a job that began and was never found is over when its owner has given it up, not before', () => {
  const entry = rules.newEntry(1, 'w-1', { kind: 'doubtful', since: 0 });
  entry.begun = 'proven';
  const look = (from: number, until: number): void => {
    for (let now = from; now <= until; now += 5000) {
      rules.lookedUp(entry, found(), now);
      rules.giveUp(entry, now, true);
      // Submitted again it would find its claim taken.
      assert.notEqual(entry.stage.kind, 'unsent');
    }
  };
  look(5000, 200_000);
  assert.equal(endingOf(entry), null);
  entry.isCancelWanted = true;
  look(205_000, 230_000);
  assert.equal(endingOf(entry), null);
  look(235_000, 240_000);
  assert.equal(endingOf(entry)?.kind, 'lost');
});

test('a job that is found after all is cancelled by its id', () => {
  const entry = rules.newEntry(1, 'w-1', { kind: 'doubtful', since: 0 });
  Object.assign(entry, { begun: 'proven', isCancelWanted: true });
  rules.lookedUp(entry, found(), 20_000);
  rules.lookedUp(entry, found('7'), 30_000);
  assert.equal(rules.workOf(entry, 30_000, false), 'cancel');
});
