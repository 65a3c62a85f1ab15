// Nodes that fall silent, and nodes that come back: what each means for the tasks they hold.

import assert from 'node:assert/strict';
import { outstandingFences } from '../../../../src/kernel/machine/nodes/fences.ts';
import type { EpochId, NodeName } from '../../../../src/kernel/model/ids.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import {
  ANN,
  endReport,
  kinds,
  OPERATOR,
  place,
  scenario,
  type TestHead,
} from '../../../support/controller.ts';

const LOST = (node: string) => ({ kind: 'declare_node_lost', node: node as NodeName }) as const;

/** Task 1 runs on n1; n2 is there too, and n1 falls silent. */
function lose(head: TestHead, wish: Partial<Submission>, silentMs = 15_000): void {
  head.connect('n1');
  head.running(wish);
  head.connect('n2');
  head.disconnect('n1');
  head.silence('n1', silentMs);
}

scenario('[N3] a silent node gets no work until it says hello', (head) => {
  head.connect('n1');
  assert.deepEqual(head.silence('n1', 14_999), []);
  assert.deepEqual(kinds(head.silence('n1', 15_000)), ['node_unreachable']);
  head.submit();
  assert.deepEqual(head.schedule(), []);
  head.connect('n1');
  assert.equal(head.node('n1').unreachableSince, null);
  assert.deepEqual(head.schedule(), ['1#1@n1']);
});

scenario('[N9] requeue: the next epoch starts elsewhere at once', (head) => {
  lose(head, { onNodeLoss: { kind: 'requeue' } });
  assert.deepEqual(head.schedule(), ['1#2@n2']);
  assert.deepEqual(head.holders('1#1'), ['n1'], 'its claim stays');
});

scenario('[N9] wait: nothing happens before there is evidence', (head) => {
  lose(head, { onNodeLoss: { kind: 'wait' } }, 30 * 86_400_000);
  assert.equal(head.task('1').state, 'running');
  assert.deepEqual(head.schedule(), []);
  head.connect('n1', { held: head.heldBy('n1') });
  assert.deepEqual(head.orders('n1'), []);
  head.ended('1#1');
  assert.equal(head.outcome(1), 'completed');
});

scenario('[N15] a fenced node is evidence: what waits for it goes on elsewhere', (head) => {
  lose(head, { onNodeLoss: { kind: 'wait' } });
  const session = head.node('n1').session;
  assert.deepEqual(outstandingFences(head.state), [{ node: 'n1', session }]);
  const events = head.perform({ kind: 'fenced', node: 'n1' as NodeName, session }).events;
  assert.deepEqual(kinds(events), ['part_ended', 'task_requeued', 'node_declared_lost']);
  assert.deepEqual(outstandingFences(head.state), [], 'nobody waits for it any more');
  assert.deepEqual(head.schedule(), ['1#2@n2']);
  assert.deepEqual(head.holders('1#1'), []);
});

scenario('[N15] a node that was heard of since it was to be fenced speaks for itself', (head) => {
  lose(head, { onNodeLoss: { kind: 'wait' } });
  const { session } = head.node('n1');
  const fenced = { kind: 'fenced', node: 'n1' as NodeName, session } as const;
  head.connect('n1', { held: head.heldBy('n1') });
  assert.deepEqual(outstandingFences(head.state), []);
  assert.deepEqual(head.perform(fenced).events, []);
  head.disconnect('n1');
  head.silence('n1', 15_000);
  assert.deepEqual(head.perform(fenced).events, [], 'the answer is of an older session');
  assert.equal(head.task('1').state, 'running');
});

scenario('[N15] nobody is fenced for tasks that need no evidence', (head) => {
  lose(head, { onNodeLoss: { kind: 'requeue' } });
  assert.deepEqual(outstandingFences(head.state), []);
  head.silence('n2', 15_000);
  head.disconnect('n2');
  head.silence('n2', 15_000);
  assert.deepEqual(outstandingFences(head.state), []);
});

scenario('[N9] lease: requeued when the lease, the grace and a margin are over', (head) => {
  const leaseMs = 60_000;
  lose(head, { onNodeLoss: { kind: 'lease', leaseMs } }, leaseMs + 14_999);
  assert.deepEqual(head.schedule(), []);
  head.silence('n1', leaseMs + 15_000);
  assert.deepEqual(head.schedule(), ['1#2@n2']);
});

scenario('[N9] lease: the other nodes’ parts are ended before the next epoch', (head) => {
  head.connect('n1');
  head.connect('n2');
  head.running({ nodeCount: 2, onNodeLoss: { kind: 'lease', leaseMs: 60_000 } });
  head.disconnect('n1');
  head.silence('n1', 80_000);
  assert.deepEqual(head.orders('n2'), ['end 1#1']);
  head.connect('n3');
  assert.deepEqual(head.schedule(), [], 'one part may still run');
  head.ended('1#1', { cause: 'ended', signal: 15 }, 'n2');
  assert.deepEqual(head.schedule(), ['1#2@n2+n3']);
});

for (const kind of ['requeue', 'wait'] as const) {
  scenario(`[N10] without requeue a lost node ends the task (${kind})`, (head) => {
    lose(head, { requeue: false, onNodeLoss: { kind } });
    if (kind === 'wait') head.command(LOST('n1'));
    assert.equal(head.outcome(1), 'node_fail');
    assert.match(head.job(1).outcome?.detail ?? '', /n1/);
  });
}

scenario('[N3] a cancelled task on a silent node is cancelled when the node is lost', (head) => {
  head.connect('n1');
  head.running();
  head.command({ kind: 'cancel_task', place: place('1') }, ANN);
  head.disconnect('n1');
  head.silence('n1', 15_000);
  assert.equal(head.outcome(1), 'cancelled');
  assert.deepEqual(head.holders('1#1'), ['n1']);
});

scenario('[A12] the old epoch keeps its claim until the node shows that it is gone', (head) => {
  lose(head, { cpuCount: 4 });
  head.submit({ cpuCount: 4, nodeNames: ['n1'] as NodeName[] });
  head.schedule();
  head.connect('n1', { held: head.heldBy('n1') });
  assert.deepEqual(head.orders('n1'), ['end 1#1']);
  assert.deepEqual(head.schedule(), [], 'its four cpus are taken');
  head.ended('1#1', { cause: 'ended', signal: 15 }, 'n1');
  assert.deepEqual(head.schedule(), ['2#1@n1']);
});

scenario('[S3] reports of an older epoch change no task', (head) => {
  lose(head, {});
  head.schedule();
  head.connect('n1', { held: head.heldBy('n1') });
  head.started('1#1', 'n1');
  head.suspended('1#1', 'n1');
  assert.deepEqual(kinds(head.ended('1#1', { code: 0 }, 'n1')), ['claim_dropped']);
  assert.deepEqual([head.task('1').state, head.task('1').epoch], ['starting', 2]);
  head.ended('1#2', { code: 4 });
  assert.equal(head.outcome(1), 'failed');
});

scenario('[N2] reports of an older session are ignored', (head) => {
  head.connect('n1');
  head.running();
  head.connect('n1', { held: head.heldBy('n1') });
  assert.equal(head.node('n1').session, 2);
  assert.deepEqual(head.report('n1', endReport('1#1', head.at), 1), []);
  const goodbye = { kind: 'disconnected', node: 'n1' as NodeName, session: 1 } as const;
  assert.deepEqual(head.perform(goodbye).events, []);
  assert.equal(head.ended('1#1').length, 3);
});

scenario('[N6] an order that never arrived is told again at the next hello', (head) => {
  head.connect('n1');
  head.submit();
  head.schedule();
  head.disconnect('n1');
  assert.deepEqual(kinds(head.connect('n1')), ['node_connected']);
  assert.deepEqual(head.orders('n1'), ['launch 1#1']);
  assert.equal(head.task('1').epoch, 1);
});

for (const change of [{ bootId: 'boot 2' }, { instance: 'instance 2' }]) {
  const what = Object.keys(change)[0];
  scenario(`[N7] a node that comes back with a new ${what} has lost what it held`, (head) => {
    head.connect('n1');
    head.running({ onNodeLoss: { kind: 'wait' } });
    head.submit();
    head.schedule();
    const events = head.connect('n1', change);
    const lost = ['part_ended', 'task_requeued'];
    assert.deepEqual(kinds(events), ['node_connected', ...lost, ...lost]);
    assert.deepEqual(head.schedule(), ['1#2@n1', '2#2@n1']);
    const requeued = events.find((event) => event.kind === 'task_requeued');
    const why = 'bootId' in change ? /n1 was restarted/ : /n1 came back without the task/;
    assert.match(requeued?.kind === 'task_requeued' ? requeued.because : '', why);
  });
}

scenario('[N7] a node that is back without an epoch that ran there has lost it', (head) => {
  head.connect('n1');
  head.running({ onNodeLoss: { kind: 'wait' } });
  head.connect('n1', { held: [] });
  assert.equal(head.task('1').crashes, 1);
  assert.deepEqual(head.schedule(), ['1#2@n1']);
});

scenario(
  '[N8] an epoch nobody wants is ended where it is still held, and takes its place',
  (head) => {
    head.connect('n1', { cpus: 4 });
    head.running({ cpuCount: 4 });
    const held = head.heldBy('n1');
    head.disconnect('n1');
    head.command(LOST('n1'));
    assert.deepEqual(head.holders('1#1'), []);
    head.connect('n1', { held });
    assert.deepEqual(head.orders('n1'), ['end 1#1']);
    assert.deepEqual(head.schedule(), []);
    head.connect('n1', { held });
    assert.deepEqual(head.orders('n1'), ['end 1#1'], 'on every session, until it is gone');
    head.connect('n1', { held: [] });
    assert.deepEqual(head.schedule(), ['1#2@n1']);
  },
);

scenario('[N1] a node can only claim its own resources, whatever it says it holds', (head) => {
  head.connect('n1');
  head.connect('n2', { cpus: 2 });
  const share = { node: 'n2' as NodeName, resources: head.node('n2').total, gpus: [] };
  const held = [{ epochId: '9#1' as EpochId, place: place('9'), epoch: 1, share }];
  head.connect('n1', { held });
  assert.deepEqual(head.holders('9#1'), ['n1']);
  assert.equal(head.node('n2').free.cpuCount, 2);
});

scenario('[N11] a silent node declared lost loses what it held', (head) => {
  lose(head, { onNodeLoss: { kind: 'wait' } });
  assert.equal(head.refused(LOST('n2')), 'node.reachable');
  assert.equal(head.refused(LOST('n9')), 'node.not_found');
  assert.equal(head.refused(LOST('n1'), ANN), 'auth.role_needed');
  assert.deepEqual(head.command(LOST('n1')), { kind: 'changed', count: 1 });
  assert.deepEqual(head.schedule(), ['1#2@n2']);
});

scenario('[N11] declaring a node lost ends the other parts of its tasks', (head) => {
  head.connect('n1');
  head.connect('n2');
  head.running({ nodeCount: 2, onNodeLoss: { kind: 'wait' } });
  head.disconnect('n1');
  head.command(LOST('n1'));
  assert.deepEqual(head.orders('n2'), ['end 1#1']);
  assert.equal(head.outcome(1), null);
  head.ended('1#1', { cause: 'ended', signal: 15 }, 'n2');
  assert.equal(head.task('1').state, 'pending');
});

scenario('[N1] only an enrolled node may connect', (head) => {
  head.connect('n1');
  const hello = { ...structuredClone(helloFrom(head)), node: 'n7' as NodeName };
  const { result } = head.perform({ kind: 'hello', hello });
  assert.ok(!result.ok && result.error.code === 'node.not_found');
});

function helloFrom(head: TestHead) {
  const connected = head.records.flatMap((record) => record.events);
  const event = connected.find((one) => one.kind === 'node_connected');
  assert.ok(event !== undefined);
  return event.hello;
}

scenario('a restarted head knows of no session, and ends no job', (head) => {
  head.connect('n1');
  head.running();
  head.perform({ kind: 'started' });
  assert.equal(head.node('n1').connected, false);
  assert.equal(head.task('1').state, 'running');
  head.connect('n1', { held: head.heldBy('n1') });
  head.ended('1#1');
  assert.equal(head.outcome(1), 'completed');
});

scenario(
  '[N16] a refusal of one node of several is why the epoch ends, and does not count',
  (head) => {
    for (const name of ['n1', 'n2']) head.connect(name);
    head.submit({ nodeCount: 2 });
    head.schedule();
    head.started('1#1', 'n2');
    head.ended('1#1', { cause: 'never_started', detail: 'disk full' }, 'n1');
    assert.deepEqual(head.orders('n2'), ['end 1#1']);
    const events = head.ended('1#1', { cause: 'ended', signal: 15 }, 'n2');
    const requeued = events.find(({ kind }) => kind === 'task_requeued');
    assert.ok(requeued?.kind === 'task_requeued');
    assert.deepEqual([requeued.because, requeued.counts], ['disk full', 'neither']);
    assert.equal(head.task('1').crashes, 0);
  },
);

scenario(
  '[N21] an operator cancels what waits for a dead node; its owner alone waits on',
  (head) => {
    lose(head, { onNodeLoss: { kind: 'wait' } });
    head.command({ kind: 'cancel_task', place: place('1') }, ANN);
    assert.equal(head.job(1).outcome, null, 'nobody knows that its processes are gone');
    head.command({ kind: 'cancel_task', place: place('1') }, OPERATOR);
    assert.equal(head.outcome(1), 'cancelled');
    assert.deepEqual(head.holders('1#1'), ['n1'], 'its claim stays until the node is heard');
    head.connect('n1', { held: head.heldBy('n1') });
    assert.deepEqual(head.orders('n1'), ['end 1#1']);
  },
);

scenario('[N12] a silent node goes with claims of what went on elsewhere', (head) => {
  lose(head, { onNodeLoss: { kind: 'requeue' } });
  assert.deepEqual(head.schedule(), ['1#2@n2']);
  assert.deepEqual(head.holders('1#1'), ['n1']);
  head.command({ kind: 'remove_node', node: 'n1' as NodeName }, OPERATOR);
  assert.equal(head.state.nodes.has('n1' as NodeName), false);
  head.ended('1#2', {}, 'n2');
  assert.equal(head.outcome(1), 'completed');
});
