// Arrays: one task per index, the running limit, elements by name.

import assert from 'node:assert/strict';
import { ANN, place, scenario } from '../../../support/controller.ts';

scenario('[J6] an array has a task per index and is done when all are', (head) => {
  head.connect('n1', { cpus: 8 });
  const id = head.submit({ array: { indices: '1,3-5,10-20:5' } });
  const epochs = ['1[1]', '1[3]', '1[4]', '1[5]', '1[10]', '1[15]', '1[20]'].map((t) => `${t}#1`);
  assert.deepEqual(
    head.schedule(),
    epochs.map((epoch) => `${epoch}@n1`),
  );
  for (const epoch of epochs.slice(1)) head.ended(epoch);
  assert.equal(head.outcome(id), null);
  head.ended('1[1]#1');
  assert.equal(head.outcome(id), 'completed');
  assert.equal(head.job(id).ended.get('completed')?.toString(), '1,3-5,10,15,20');
});

scenario('[J6] the outcome of an array is that of the first task that did not complete', (head) => {
  head.connect('n1', { cpus: 8 });
  const id = head.submit({ array: { indices: '0-3' } });
  head.schedule();
  head.ended('1[0]#1');
  head.ended('1[2]#1', { code: 7 });
  head.ended('1[1]#1', { cause: 'timeout', signal: 15 });
  head.ended('1[3]#1');
  assert.equal(head.outcome(id), 'failed');
  assert.equal(head.job(id).outcome?.exit?.code, 7);
  assert.equal(head.job(id).ended.get('timeout')?.toString(), '1');
});

scenario('[J8] an array keeps its running limit, and the next start as one ends', (head) => {
  head.connect('n1', { cpus: 8 });
  head.submit({ array: { indices: '0-4', runningMax: 2 } });
  assert.deepEqual(head.schedule(), ['1[0]#1@n1', '1[1]#1@n1']);
  assert.deepEqual(head.schedule(), []);
  head.command({ kind: 'cancel_task', place: place('1[0]') }, ANN);
  assert.deepEqual(head.schedule(), [], 'it holds its resources until its processes are gone');
  head.ended('1[0]#1', { cause: 'ended', signal: 15 });
  assert.deepEqual(head.schedule(), ['1[2]#1@n1']);
  head.command({ kind: 'requeue_task', place: place('1[1]') }, ANN);
  head.ended('1[1]#1', { cause: 'ended', signal: 15 });
  assert.deepEqual(head.schedule(), ['1[1]#2@n1'], 'a requeued task is in its old place');
});

scenario('[J8] room under the limit lets a task start though no node has changed', (head) => {
  head.connect('n1', { cpus: 1 });
  head.submit({ array: { indices: '0-1', runningMax: 1 } });
  head.schedule();
  head.connect('n2');
  head.command({ kind: 'drain_node', node: head.node('n1').name, reason: 'fan' });
  assert.deepEqual(head.schedule(), []);
  head.ended('1[0]#1');
  assert.equal(head.state.scratch.scheduleDue, true);
  assert.deepEqual(head.schedule(), ['1[1]#1@n2']);
});

scenario('[J13] cancelling one element leaves the others', (head) => {
  head.connect('n1', { cpus: 1 });
  const id = head.submit({ array: { indices: '0-3' } });
  head.schedule();
  const reply = head.command({ kind: 'cancel_task', place: place('1[2]') }, ANN);
  assert.deepEqual(reply, { kind: 'changed', count: 1 });
  assert.equal(head.job(id).ended.get('cancelled')?.toString(), '2');
  head.ended('1[0]#1');
  assert.deepEqual(head.schedule(), ['1[1]#1@n1']);
  head.ended('1[1]#1');
  assert.deepEqual(head.schedule(), ['1[3]#1@n1']);
  head.ended('1[3]#1');
  assert.equal(head.outcome(id), 'cancelled');
});

scenario(
  '[J13] cancelling an array ends what waits now and what runs with its processes',
  (head) => {
    head.connect('n1', { cpus: 2 });
    const id = head.submit({ array: { indices: '0-9' } });
    head.schedule();
    const reply = head.command({ kind: 'cancel_task', place: place('1') }, ANN);
    assert.deepEqual(reply, { kind: 'changed', count: 10 });
    assert.equal(head.job(id).ended.get('cancelled')?.toString(), '2-9');
    assert.deepEqual(head.orders('n1'), ['end 1[0]#1', 'end 1[1]#1']);
    head.ended('1[0]#1', { cause: 'ended', signal: 15 });
    assert.equal(head.outcome(id), null);
    head.ended('1[1]#1', { cause: 'never_started' });
    assert.equal(head.outcome(id), 'cancelled');
    assert.match(head.job(id).outcome?.detail ?? '', /cancelled by ann/);
  },
);

scenario('[J13] cancelling a huge sparse array costs one pass over it', (head) => {
  head.connect('n1', { cpus: 1 });
  const id = head.submit({ array: { indices: '0-399998:2' } });
  head.command({ kind: 'cancel_task', place: place('1') }, ANN);
  assert.equal(head.job(id).ended.get('cancelled')?.size, 200_000);
  assert.equal(head.outcome(id), 'cancelled');
});

scenario('elements that are not there are refused by name', (head) => {
  head.connect('n1', { cpus: 1 });
  head.submit({ array: { indices: '0-3' } });
  head.submit();
  const refused = (text: string) => head.refused({ kind: 'cancel_task', place: place(text) }, ANN);
  assert.equal(refused('1[9]'), 'job.not_found');
  assert.equal(refused('2[0]'), 'job.not_found');
  head.command({ kind: 'cancel_task', place: place('1[3]') }, ANN);
  assert.equal(refused('1[3]'), 'job.already_done');
});
