// What a task that a limit keeps back can expect: of its array, of its user, of nodes that are
// away.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewLookAhead } from '../../../../src/kernel/head/answers/prospect-view.ts';
import { lookAhead, pendingOf } from '../../../../src/kernel/machine/answers/explain.ts';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { plainPartition, plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import { BOB, START_AT, TestHead } from '../../../support/controller.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function ahead(head: TestHead, id: JobId, index = 0) {
  const pending = pendingOf(head.job(id), index);
  return viewLookAhead(lookAhead(head.state, head.settings, pending, head.at), 'task');
}

/** Minutes from the start of the test until it would start. */
function minutes(head: TestHead, id: JobId, index = 0): number | null {
  const { startsAt } = ahead(head, id, index);
  return startsAt === null ? null : (startsAt - START_AT) / MINUTE;
}

test('[J22, J23] tasks of a throttled array start one after the other, not now', () => {
  const head = new TestHead();
  head.connect('n1', { cpus: 8 });
  const id = head.submit({ walltimeMs: HOUR, array: { indices: '0-3', runningMax: 1 } });
  head.schedule();
  head.started(`${id}[0]#1`);
  const next = ahead(head, id, 1);
  assert.equal(
    next.words.split('\n').slice(0, 2).join('\n'),
    'It is pending: this array runs at most 1 task at once (%1); 1 is running.\n' +
      "By today's plan it starts at the latest at 2023-11-14T23:13:20Z, in 1h on n1.",
  );
  assert.deepEqual(
    [minutes(head, id, 1), minutes(head, id, 2), minutes(head, id, 3)],
    [60, 120, 180],
  );
});

test('[J23] tasks of an array that is not full yet do not all start now', () => {
  const head = new TestHead();
  head.connect('n1', { cpus: 8 });
  const id = head.submit({ walltimeMs: HOUR, array: { indices: '0-4', runningMax: 2 } });
  const starts = [0, 1, 2, 3, 4].map((index) => minutes(head, id, index) ?? -1);
  assert.deepEqual(starts.map(Math.round), [0, 0, 60, 60, 120]);
});

test('[J23] a throttled array of tasks without a time limit makes no promise', () => {
  const head = new TestHead();
  head.connect('n1', { cpus: 8 });
  const id = head.submit({ array: { indices: '0-2', runningMax: 1 } });
  head.schedule();
  head.started(`${id}[0]#1`);
  const { startsAt, words } = ahead(head, id, 2);
  assert.equal(startsAt, null);
  assert.match(words, /only when tasks without a time limit have ended/);
});

function limited(limits: object): TestHead {
  const plain = plainPartition('default', 'first_fit');
  const partition = { ...plain, limits: { ...plain.limits, ...limits } };
  const partitions = { default: partition };
  return new TestHead({ scheduling: { ...plainScheduling('first_fit'), partitions } });
}

test('[P5, J23] two tasks of a user who may run one are not promised the same time', () => {
  const head = limited({ tasksPerUser: 1 });
  head.connect('n1', { cpus: 8 });
  head.running({ walltimeMs: HOUR });
  const second = head.submit({ walltimeMs: HOUR });
  const third = head.submit({ walltimeMs: 2 * HOUR });
  const fourth = head.submit({ walltimeMs: HOUR });
  const other = head.submit({ walltimeMs: HOUR }, { by: BOB });
  assert.match(
    ahead(head, second).words,
    /ann runs 1 task in partition default; the limit is 1 per/,
  );
  const times = [second, third, fourth].map((id) => minutes(head, id));
  assert.deepEqual(times, [60, 120, 240]);
  assert.equal(Math.round(minutes(head, other) ?? -1), 0, "it is ann's limit, not bob's");
});

const drain = (head: TestHead, name: string) =>
  head.command({ kind: 'drain_node', node: name as NodeName, reason: 'fan' });

const lastWords = (head: TestHead, id: JobId) => ahead(head, id).words.split('\n')[1];

test('[J23] a task that only drained or silent nodes could hold is told which', () => {
  const head = new TestHead();
  for (const name of ['n1', 'n2', 'n3']) head.connect(name, { cpus: 4 });
  const narrow = head.submit({ cpuCount: 4 });
  const wide = head.submit({ cpuCount: 4, nodeCount: 3 });
  const pair = head.submit({ cpuCount: 4, nodeCount: 2 });
  drain(head, 'n1');
  assert.equal(lastWords(head, wide), 'It cannot start until n1 is undrained.');
  head.disconnect('n2');
  assert.equal(lastWords(head, wide), 'It cannot start until n1 is undrained and n2 is back.');
  drain(head, 'n3');
  assert.equal(
    lastWords(head, narrow),
    'It cannot start until n1 or n3 is undrained or n2 is back.',
  );
  assert.equal(
    lastWords(head, pair),
    'It cannot start until 2 of these nodes are back in use: n1, n2, n3.',
  );
  assert.equal(ahead(head, narrow).startsAt, null);
  assert.match(
    ahead(head, narrow).words,
    /^It is pending: needs 1 node with 4 cpus; n1 and n3 are drained \(fan\), n2 is not connected\.\n/,
  );
});

test('[J22] nodes in the same situation are told of together', () => {
  const head = new TestHead();
  for (const name of ['n1', 'n2', 'n3', 'n4']) head.connect(name, { cpus: 2 });
  for (let at = 0; at < 4; at += 1) head.running({ cpuCount: 2, walltimeMs: HOUR });
  const id = head.submit({ cpuCount: 2, held: true });
  head.connect('n5', { cpus: 2 });
  head.running({ cpuCount: 1, walltimeMs: HOUR });
  drain(head, 'n5');
  head.command({ kind: 'release_job', jobId: id });
  assert.match(
    ahead(head, id).words,
    /^It is pending: needs 1 node with 2 cpus; all 4 nodes are full: 8 of 8 cpus in use\.\n/,
  );
  head.command({ kind: 'undrain_node', node: 'n5' as NodeName });
  assert.match(
    ahead(head, id).words,
    /; 4 nodes are full \(8 of 8 cpus in use\), n5 has only 1 cpu free\.\n/,
  );
});
