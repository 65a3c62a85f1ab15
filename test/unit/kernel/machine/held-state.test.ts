// What a node says at its hello of the starts that it holds, to a head that has lost its records.

import assert from 'node:assert/strict';
import { outstanding } from '../../../../src/kernel/machine/outstanding.ts';
import type { HeldEpoch, HeldState, Order } from '../../../../src/kernel/model/orders.ts';
import { ANN, kinds, place, scenario, type TestHead } from '../../../support/controller.ts';

const MINUTE = 60_000;
/** The node's clock is not the head's. */
const AHEAD_MS = 3_600_000;

/** What the node holds, standing as given; it started ten minutes ago. */
function held(head: TestHead, stands: Partial<HeldState>): HeldEpoch[] {
  const at = head.at + AHEAD_MS;
  const whole = {
    at,
    startedAt: at - 10 * MINUTE,
    turnHeard: 0,
    turnTold: 0,
    suspended: false,
    storing: false,
    ...stands,
  };
  return head.heldBy('n1').map((one) => ({ ...one, stands: whole }));
}

function come(head: TestHead, stands: Partial<HeldState>): string[] {
  return kinds(head.connect('n1', { held: held(head, stands), features: ['answers'] }));
}

function ordersOf(head: TestHead): Order[] {
  return outstanding(head.state, head.node('n1'), head.settings);
}

function ordered(head: TestHead): void {
  head.connect('n1');
  head.submit();
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  head.at += 20 * MINUTE;
}

scenario('[S15] a start of which the head has no record runs, since when the node says', (head) => {
  ordered(head);
  assert.deepEqual(come(head, {}), ['node_connected', 'part_started']);
  const task = head.task('1');
  assert.deepEqual([task.state, task.startedAt], ['running', head.at - 10 * MINUTE]);
  head.at += MINUTE;
  head.ended('1#1');
  const [epoch] = head.state.scratch.endedEpochs;
  assert.equal(epoch?.startedAt, task.startedAt);
  assert.deepEqual(come(head, {}), ['node_connected'], 'to others it is nothing new');
});

scenario('[S15] what a lost order stopped is told to go on, and heeds it', (head) => {
  ordered(head);
  const said = come(head, { turnHeard: 3, turnTold: 3, suspended: true });
  const learned = ['part_started', 'part_turns_heard', 'part_suspended'];
  assert.deepEqual(said, ['node_connected', ...learned]);
  assert.equal(head.task('1').state, 'suspended');
  const [order, ...others] = ordersOf(head);
  assert.deepEqual(order, { kind: 'resume', epochId: '1#1', turn: 3 });
  assert.deepEqual(others, []);
});

scenario('[S15] what a lost order woke is told to stop again', (head) => {
  head.connect('n1');
  head.running();
  head.command({ kind: 'suspend_task', place: place('1') }, ANN);
  head.suspended('1#1');
  const said = come(head, { turnHeard: 2, turnTold: 2, suspended: false });
  assert.deepEqual(said, ['node_connected', 'part_turns_heard', 'part_resumed']);
  assert.deepEqual(ordersOf(head), [{ kind: 'suspend', epochId: '1#1', turn: 2 }]);
});

scenario('[S15] a start whose files are being kept is shown so', (head) => {
  ordered(head);
  const said = come(head, { storing: true });
  assert.deepEqual(said, ['node_connected', 'part_started', 'part_storing']);
  assert.equal(head.task('1').parts.values().next().value?.state, 'storing');
});

scenario('[S15] a hello of a node that says it all already changes nothing', (head) => {
  head.connect('n1');
  head.running();
  head.command({ kind: 'suspend_task', place: place('1') }, ANN);
  head.suspended('1#1');
  const { suspendTurn } = head.task('1');
  const stands = { turnHeard: suspendTurn, turnTold: 1, suspended: true };
  assert.deepEqual(come(head, stands), ['node_connected']);
});

scenario('[S15] what was cancelled in lost records stays so, what made room runs again', (head) => {
  head.connect('n1');
  head.running();
  head.ended('1#1', { cause: 'ended', signal: 15, detail: 'cancel' });
  assert.equal(head.outcome(1), 'cancelled');
  assert.match(head.job(1).outcome?.detail ?? '', /lost with records of the head/);
  head.running();
  head.ended('2#1', { cause: 'ended', signal: 15, detail: 'requeue' });
  assert.deepEqual([head.task('2').state, head.task('2').crashes], ['pending', 0]);
});

scenario('[S15] so it is where one node of several was told, and the others after it', (head) => {
  for (const [id, told, outcome] of [
    ['1', 'cancel', 'cancelled'],
    ['2', 'requeue', null],
  ] as const) {
    head.connect('n1');
    head.connect('n2');
    head.running({ nodeCount: 2 });
    head.ended(`${id}#1`, { cause: 'ended', signal: 15, detail: told }, 'n2');
    head.ended(`${id}#1`, { cause: 'ended', signal: 15, detail: 'sibling' }, 'n1');
    assert.equal(head.outcome(Number(id)), outcome);
  }
  assert.deepEqual([head.task('2').state, head.task('2').crashes], ['pending', 0]);
});
