// A head that was put back from an older copy: what it hears from nodes, and what it does then.

import assert from 'node:assert/strict';
import { takeOrders } from '../../../../src/kernel/machine/outstanding.ts';
import { isCycleDue } from '../../../../src/kernel/machine/schedule.ts';
import type { EpochId, NodeName } from '../../../../src/kernel/model/ids.ts';
import type { LifeId, Standing } from '../../../../src/kernel/model/life.ts';
import type { HeldEpoch } from '../../../../src/kernel/model/orders.ts';
import {
  ANN,
  kinds,
  orderWords,
  place,
  scenario,
  type TestHead,
} from '../../../support/controller.ts';
import { helloOf, type NodeOptions } from '../../../support/nodes.ts';

const GIVEN = { nextJobId: 58, nextReservationId: 1, epochMax: 4 };

/** The head starts, as life `number.nonce`, with so many records. */
function start(head: TestHead, nonce: string, seq: number): LifeId {
  head.perform({ kind: 'started', birth: { nonce, seq } });
  return head.state.lives.at(-1)?.id as LifeId;
}

/** More than any head here has written, where a test does not care. */
const OWN_SEQ = 1_000;

function hello(
  head: TestHead,
  name: string,
  heard: Standing,
  { ownSeq = OWN_SEQ, ...options }: NodeOptions & { readonly ownSeq?: number } = {},
) {
  if (!head.state.nodes.has(name as NodeName)) head.enroll(name);
  const known = { heard, ownSeq };
  return kinds(head.perform({ kind: 'hello', hello: helloOf(name, options), known }).events);
}

function sent(head: TestHead): string[] {
  for (const node of head.state.nodes.values()) {
    for (const epochId of node.holding.keys()) {
      head.state.scratch.touched.push({ node: node.name, epochId });
    }
  }
  const outgoing = [...takeOrders(head.state, head.settings).values()];
  return outgoing.flat().map(orderWords);
}

scenario('[S14] every start is a life of its own, and starts of tasks carry it', (head) => {
  assert.equal(start(head, 'aa', 0), '1.aa');
  assert.equal(start(head, 'bb', 5), '2.bb');
  assert.deepEqual(head.state.lives, [
    { id: '1.aa', from: 1 },
    { id: '2.bb', from: 6, after: head.at },
  ]);
  head.connect('n1');
  head.running();
  assert.equal(head.task('1').life, '2.bb');
});

scenario('[S14] a node that heard what this store has changes nothing', (head) => {
  const first = start(head, 'aa', 0);
  const second = start(head, 'bb', 5);
  for (const heard of [
    { life: first, seq: 5, given: GIVEN },
    { life: second, seq: 900, given: GIVEN },
    { life: '0.zz' as LifeId, seq: 900, given: GIVEN },
  ]) {
    assert.deepEqual(hello(head, 'n1', heard), ['node_connected']);
  }
  assert.equal(head.state.behind, null);
});

scenario('[S14] a store older than what a node heard: nothing starts, and it is said', (head) => {
  const first = start(head, 'aa', 0);
  head.connect('n9');
  head.submit();
  start(head, 'bb', 5);
  const said = hello(head, 'n1', { life: first, seq: 9, given: GIVEN });
  assert.deepEqual(said, ['head_behind', 'node_connected']);
  const { behind } = head.state;
  assert.deepEqual(
    [behind?.lastSeq, behind?.promisedSeq, behind?.life, behind?.nodes],
    [5, 9, 1, ['n1']],
  );
  assert.equal(isCycleDue(head.state), false);
  assert.deepEqual(hello(head, 'n1', { life: first, seq: 9, given: GIVEN }), ['node_connected']);
  hello(head, 'n2', { life: '1.aa' as LifeId, seq: 12, given: { ...GIVEN, nextJobId: 60 } });
  assert.deepEqual(head.state.behind?.nodes, ['n1', 'n2']);
  assert.equal(head.state.behind?.given.nextJobId, 60);
  assert.equal(head.state.behind?.promisedSeq, 12);
});

scenario('[S14] a life that this store never had is of a copy that goes on elsewhere', (head) => {
  start(head, 'aa', 0);
  start(head, 'bb', 5);
  hello(head, 'n1', { life: '2.cc' as LifeId, seq: 7, given: GIVEN });
  assert.equal(head.state.behind?.lastSeq, 5);
});

scenario(
  '[S14] a machine put back with its memory has the same life, and fewer records',
  (head) => {
    const life = start(head, 'aa', 0);
    const heard = { life, seq: 9, given: GIVEN };
    assert.deepEqual(hello(head, 'n1', heard, { ownSeq: 9 }), ['node_connected']);
    assert.deepEqual(hello(head, 'n1', heard, { ownSeq: 6 }), ['head_behind', 'node_connected']);
    const { behind } = head.state;
    assert.deepEqual([behind?.lastSeq, behind?.promisedSeq], [6, 9]);
  },
);

scenario('[S14] accepted: ids, epochs and lives jump, and late nodes change nothing', (head) => {
  const first = start(head, 'aa', 0);
  head.connect('n1');
  const before = head.submit({ held: true });
  start(head, 'bb', 5);
  hello(head, 'n1', { life: first, seq: 9, given: GIVEN });
  const given = { nextJobId: 1058, nextReservationId: 100, epochMax: 104 };
  const loss = { lastSeq: 5, promisedSeq: 9, given, jobIdTo: 57 };
  head.once({ kind: 'loss', loss, birth: { nonce: 'dd', seq: 8 } });
  assert.equal(head.state.behind, null);
  assert.deepEqual(head.state.lives.at(-1), { id: '1003.dd', from: 9 });
  assert.equal(head.submit(), 1058);
  assert.deepEqual(head.schedule(), ['1058#1@n1'], 'nothing of it can be lost');
  head.command({ kind: 'release_job', jobId: before });
  assert.deepEqual(head.schedule(), [`${before}#105@n1`]);
  hello(head, 'n2', { life: '3.ee' as LifeId, seq: 70, given: GIVEN });
  assert.equal(head.state.behind, null, 'what was lost is lost');
  hello(head, 'n3', { life: first, seq: 90, given: GIVEN });
  assert.equal(head.state.behind, null, 'also what the life of the copy wrote after it was made');
  hello(head, 'n2', { life: '1003.ff' as LifeId, seq: 70, given: GIVEN });
  assert.notEqual(head.state.behind, null, 'but the other copy must not go on as well');
});

scenario('[S14] while records are missing nothing that only they know is touched', (head) => {
  const first = start(head, 'aa', 0);
  head.connect('n1');
  head.running();
  head.submit();
  head.schedule();
  start(head, 'bb', 20);
  const mine = head.heldBy('n1').slice(0, 1);
  const { share } = mine[0] as HeldEpoch;
  const lost = { epochId: '9#1' as EpochId, place: place('9'), epoch: 1, life: first, share };
  hello(head, 'n1', { life: first, seq: 30, given: GIVEN }, { held: [...mine, lost] });
  assert.deepEqual(sent(head), [], 'neither a start, nor an end of what it does not know');
  head.command({ kind: 'cancel_task', place: place('1') }, ANN);
  assert.deepEqual(sent(head), ['end 1#1'], 'what both know can be ended');
});

scenario('[S14] a loss says until when what happened is kept', (head) => {
  const first = start(head, 'aa', 0);
  head.at += 1000;
  head.connect('n1');
  const { lastAt } = head.state;
  head.at += 60_000;
  start(head, 'bb', 5);
  head.at += 1000;
  hello(head, 'n2', { life: first, seq: 9, given: GIVEN });
  head.at += 60_000;
  start(head, 'cc', 8);
  const loss = { lastSeq: 5, promisedSeq: 9, given: GIVEN, jobIdTo: 57 };
  head.once({ kind: 'loss', loss, birth: { nonce: 'dd', seq: 9 } });
  const [told] = head.state.losses;
  assert.deepEqual([told?.since, told?.at], [lastAt, head.at]);
});

scenario('[S14] records that the store itself lacks are lost from the last that it has', (head) => {
  start(head, 'aa', 0);
  const { lastAt } = head.state;
  head.at += 60_000;
  head.once({ kind: 'loss', loss: { lastSeq: 5, promisedSeq: 9, given: GIVEN } });
  assert.equal(head.state.losses[0]?.since, lastAt);
});

scenario('[S14] a store behind its nodes wakes nothing until the loss is accepted', (head) => {
  const first = start(head, 'aa', 0);
  head.connect('n1');
  head.running();
  head.command({ kind: 'suspend_task', place: place('1') }, ANN);
  head.suspended('1#1');
  start(head, 'bb', 20);
  const held = head.heldBy('n1');
  hello(head, 'n1', { life: first, seq: 30, given: GIVEN }, { held });
  head.command({ kind: 'resume_task', place: place('1') }, ANN);
  assert.deepEqual(sent(head), [], 'a start of lost records may have its room');
  const loss = { lastSeq: 20, promisedSeq: 30, given: GIVEN, jobIdTo: 57 };
  head.once({ kind: 'loss', loss, birth: { nonce: 'dd', seq: 21 } });
  assert.deepEqual(sent(head), ['resume 1#1'], 'and the head of the tests sees it told then');
});

scenario('[S13] a folder made anew has nothing to tell of a start: it is lost', (head) => {
  start(head, 'aa', 0);
  head.connect('n1');
  head.running();
  start(head, 'bb', 20);
  const said = head.connect('n1', { held: [], features: ['answers'], instance: 'another' });
  assert.deepEqual(kinds(said), ['node_connected', 'part_ended', 'task_requeued']);
});

scenario('[S13] a start that its node no longer holds is asked for, not taken as lost', (head) => {
  start(head, 'aa', 0);
  head.connect('n1');
  head.running();
  start(head, 'bb', 20);
  const said = head.connect('n1', { held: [], features: ['answers'] });
  assert.deepEqual(kinds(said), ['node_connected', 'part_asked']);
  assert.deepEqual(head.orders('n1'), ['tell 1#1']);
  head.ended('1#1', { code: 3 });
  assert.equal(head.outcome(1), 'failed');
});

scenario('[S13] what a node holds under the number of our start is another one', (head) => {
  start(head, 'aa', 0);
  head.connect('n1');
  head.submit();
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  const held = head.heldBy('n1').map((one) => ({ ...one, life: '9.zz' as LifeId }));
  const said = kinds(head.connect('n1', { held }));
  assert.deepEqual(said, ['part_ended', 'task_requeued', 'node_connected']);
  assert.equal(head.task('1').crashes, 0);
  assert.deepEqual(head.orders('n1'), ['end 1#1']);
  assert.deepEqual(head.schedule(), ['1#2@n1']);
});

scenario('[S13] a number under which a node still holds something is passed over', (head) => {
  head.connect('n1');
  const { total } = head.node('n1');
  const resources = { ...total, cpuCount: 1, memoryBytes: 0 };
  const share = { node: 'n1' as NodeName, resources, gpus: [] };
  const one = (epoch: number): HeldEpoch => {
    return { epochId: `1#${epoch}` as EpochId, place: place('1'), epoch, share };
  };
  head.connect('n1', { held: [one(1), one(2)] });
  head.submit();
  assert.deepEqual(head.schedule(), ['1#3@n1']);
});
