// Pauses as the head sees them: told by the nodes, or asked of them by operators.

import assert from 'node:assert/strict';
import type { NodeName } from '../../../../../src/kernel/model/ids.ts';
import type { PauseReport } from '../../../../../src/kernel/model/orders.ts';
import type { Pause } from '../../../../../src/kernel/model/pause.ts';
import {
  ANN,
  kinds,
  OPERATOR,
  place,
  START_AT,
  scenario,
  type TestHead,
} from '../../../../support/controller.ts';
import { cancel, planned } from '../../../../support/maintenance.ts';

const HOUR_MS = 3_600_000;
const ALICES: Pause = {
  kind: 'owner',
  by: 'alice',
  since: START_AT,
  until: START_AT + HOUR_MS,
  requeue: false,
};
const N1 = 'n1' as NodeName;

function tell(head: TestHead, node: string, turn: number, pause: Pause | null, orderHeard = 0) {
  const report: PauseReport = { kind: 'node_pause', at: head.at, turn, orderHeard, pause };
  return kinds(head.report(node, report));
}

/** Both nodes hold task 1, and n1 is paused. */
function pausedOfTwo(head: TestHead): void {
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 2 });
  head.running({ nodeCount: 2, cpuCount: 2 });
  tell(head, 'n1', 1, ALICES);
  head.suspended('1#1', 'n1');
}

scenario('[O3] a paused node gets no work, and its tasks go on by themselves', (head) => {
  head.connect('n1', { cpus: 2 });
  head.running();
  assert.deepEqual(tell(head, 'n1', 1, ALICES), ['node_paused', 'suspend_asked']);
  assert.deepEqual(head.orders('n1'), [], 'the agent has stopped it already');
  head.suspended('1#1');
  head.submit();
  assert.deepEqual(head.schedule(), []);
  head.at += 60_000;
  assert.deepEqual(tell(head, 'n1', 2, null), ['node_unpaused', 'resume_asked']);
  head.resumed('1#1');
  assert.deepEqual(head.orders('n1'), []);
  assert.deepEqual(head.schedule(), ['2#1@n1']);
  assert.equal(head.task('1').pausedMs, 60_000, 'its time limit stood still');
});

scenario('[O3] a copy of a node counts its pauses on its own', (head) => {
  head.connect('n1', { bootId: 'b', machine: { board: 'copy' } });
  tell(head, 'n1', 15, ALICES);
  head.disconnect('n1');
  head.connect('n1', { bootId: 'a', machine: { board: 'original' } });
  assert.deepEqual(tell(head, 'n1', 13, null), ['node_unpaused']);
  assert.deepEqual(tell(head, 'n1', 13, null), []);
});

scenario("[O3] a node that is anybody's again counts its pauses as whoever it is", (head) => {
  head.connect('n1', { bootId: 'b', machine: { board: 'copy' } });
  tell(head, 'n1', 15, ALICES);
  head.disconnect('n1');
  head.silence('n1', 600_000);
  head.command({ kind: 'declare_node_lost', node: N1 }, OPERATOR);
  head.connect('n1', { bootId: 'a', machine: { board: 'original' } });
  assert.deepEqual(tell(head, 'n1', 13, null), ['node_unpaused']);
});

scenario(
  '[O3] the other nodes of a task stand still too, until the head hears of the end',
  (head) => {
    pausedOfTwo(head);
    assert.deepEqual(head.orders('n2'), ['suspend 1#1']);
    head.suspended('1#1', 'n2');
    assert.equal(head.task('1').state, 'suspended');
    tell(head, 'n1', 2, null);
    assert.deepEqual([...head.orders('n1'), ...head.orders('n2')], ['resume 1#1', 'resume 1#1']);
  },
);

scenario('[O3] a task of two paused nodes goes on when both pauses are over', (head) => {
  pausedOfTwo(head);
  tell(head, 'n2', 1, ALICES);
  head.suspended('1#1', 'n2');
  assert.deepEqual(head.orders('n1'), []);
  tell(head, 'n1', 2, null);
  assert.deepEqual(head.orders('n1'), []);
  assert.deepEqual(head.orders('n2'), ['resume 1#1'], 'of its own pause its agent knows better');
  head.crash();
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 2, held: head.heldBy(name) });
  tell(head, 'n2', 2, null);
  assert.deepEqual(head.orders('n1'), ['resume 1#1']);
});

scenario(
  '[O3] what its owner stops in a pause stays stopped after it, and the other way round',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running();
    tell(head, 'n1', 1, ALICES);
    head.suspended('1#1');
    head.command({ kind: 'suspend_task', place: place('1') }, ANN);
    assert.deepEqual(tell(head, 'n1', 2, null), ['node_unpaused', 'resume_asked']);
    assert.deepEqual(head.orders('n1'), []);
    tell(head, 'n1', 3, ALICES);
    head.command({ kind: 'resume_task', place: place('1') }, ANN);
    assert.deepEqual(head.orders('n1'), ['resume 1#1'], 'for when the pause is over');
    const again = { kind: 'resume_task', place: place('1') } as const;
    const { result } = head.perform({ kind: 'command', command: again, actor: ANN });
    assert.match(result.ok ? '' : (result.error.hint ?? ''), /the pause of n1; it resumes when/);
  },
);

scenario('[O3] a pause of which the head hears late is told in order', (head) => {
  head.connect('n1', { cpus: 2 });
  head.running();
  head.disconnect('n1');
  head.at += HOUR_MS;
  head.connect('n1', { cpus: 2, held: head.heldBy('n1') });
  assert.deepEqual(tell(head, 'n1', 1, ALICES), ['node_paused', 'suspend_asked']);
  const epochId = [...head.node('n1').holding.keys()][0]!;
  head.report('n1', { kind: 'task_suspended', epochId, at: START_AT, turn: 1 });
  assert.deepEqual(tell(head, 'n1', 2, null), ['node_unpaused', 'resume_asked']);
  head.report('n1', { kind: 'task_resumed', epochId, at: START_AT + 600_000, turn: 2 });
  assert.equal(head.task('1').pausedMs, 600_000);
  assert.deepEqual(tell(head, 'n1', 1, ALICES), [], 'from the past');
});

scenario('[O3] after a hello head and node agree about the pause', (head) => {
  const pause = { turn: 3, pause: ALICES };
  assert.deepEqual(kinds(head.connect('n1', { pause })), ['node_connected', 'node_paused']);
  head.disconnect('n1');
  assert.deepEqual(kinds(head.connect('n1', { pause })), ['node_connected']);
  assert.deepEqual(kinds(head.connect('n1', {})), ['node_connected'], 'its reports will tell');
  const fresh = { instance: 'instance 2', pause: { turn: 0, pause: null } };
  assert.deepEqual(kinds(head.connect('n1', fresh)), ['node_connected', 'node_unpaused']);
  assert.deepEqual(tell(head, 'n1', 1, ALICES), ['node_paused'], 'the new one counts anew');
});

scenario('[O4] a pause with requeue puts back what may be, and suspends the rest', (head) => {
  head.connect('n1', { cpus: 2 });
  head.running();
  head.running({ requeue: false });
  const requeueing = { ...ALICES, requeue: true };
  assert.deepEqual(tell(head, 'n1', 1, requeueing), ['node_paused', 'end_asked', 'suspend_asked']);
  assert.deepEqual(head.orders('n1'), ['end 1#1']);
  head.connect('n2', { cpus: 2 });
  head.ended('1#1', { cause: 'ended', signal: 15 });
  assert.deepEqual(head.schedule(), ['1#2@n2']);
  assert.deepEqual([head.task('1').failures, head.task('1').crashes], [0, 0]);
});

scenario('[O4] a pause that becomes one with requeue puts back what it had suspended', (head) => {
  head.connect('n1', { cpus: 2 });
  head.running();
  const yielding: Pause = { kind: 'yield', why: 'input', since: START_AT, requeue: false };
  tell(head, 'n1', 1, yielding);
  head.suspended('1#1');
  assert.deepEqual(tell(head, 'n1', 2, { ...yielding, requeue: true }), [
    'node_paused',
    'end_asked',
  ]);
});

scenario(
  '[O2] an operator asks by way of the head, and the node is told until it answers',
  (head) => {
    head.connect('n1', { cpus: 2 });
    const ask = { kind: 'pause_node', node: N1, durationMs: HOUR_MS, requeue: false } as const;
    const end = { kind: 'unpause_node', node: N1 } as const;
    assert.equal(head.refused(ask, ANN), 'auth.role_needed');
    assert.equal(head.refused({ ...ask, durationMs: 5 * HOUR_MS }, OPERATOR), 'pause.too_long');
    assert.equal(head.refused({ ...ask, durationMs: 10 }, OPERATOR), 'argument.invalid');
    assert.equal(head.refused({ ...ask, node: 'n9' as NodeName }, OPERATOR), 'node.not_found');
    assert.equal(head.refused(end, OPERATOR), 'node.not_paused');
    head.command(ask, OPERATOR);
    assert.deepEqual(head.orders('n1'), ['pause']);
    const serial = head.node('n1').pausing.serial;
    tell(head, 'n1', 1, { ...ALICES, by: 'olga' }, serial);
    assert.deepEqual(head.orders('n1'), []);
    head.command(end, OPERATOR);
    assert.deepEqual(head.orders('n1'), ['unpause']);
    tell(head, 'n1', 2, null, serial + 1);
    assert.deepEqual(head.orders('n1'), []);
    head.disconnect('n1');
    assert.equal(head.refused(ask, OPERATOR), 'node.not_connected');
  },
);

scenario('[O2] a wish that its node did not hear in its time is forgotten', (head) => {
  head.connect('n1', { cpus: 2 });
  head.command({ kind: 'pause_node', node: N1, durationMs: 60_000, requeue: false }, OPERATOR);
  head.disconnect('n1');
  assert.deepEqual(kinds(head.tick(59_999)), []);
  assert.deepEqual(kinds(head.tick(1)), ['node_pause_forgotten']);
  assert.deepEqual(head.orders('n1'), []);
});

scenario('[O2] nor is it told of it when it comes after that, before the next look', (head) => {
  head.connect('n1', { cpus: 2 });
  head.command({ kind: 'pause_node', node: N1, durationMs: 60_000, requeue: false }, OPERATOR);
  head.disconnect('n1');
  head.at += 60_000;
  head.connect('n1', { cpus: 2 });
  assert.deepEqual(head.orders('n1'), []);
});

scenario("[O1] a maintenance's program waits for the end of a pause", (head) => {
  head.connect('n1', { cpus: 2 });
  tell(head, 'n1', 1, ALICES);
  const program = { program: { kind: 'argv', argv: ['/bin/upgrade'] }, account: null } as const;
  const id = planned(head, {
    time: { kind: 'now' },
    nodes: [N1],
    program: { ...program, restarts: false },
  });
  head.tick(1000);
  assert.deepEqual(head.orders('n1'), []);
  tell(head, 'n1', 2, null);
  head.tick(1000);
  head.schedule();
  assert.deepEqual(head.orders('n1'), ['launch 1#1']);
  head.command(cancel(id), OPERATOR);
});
