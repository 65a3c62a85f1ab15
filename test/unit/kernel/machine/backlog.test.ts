// Tasks that are next on a node: what is given, what takes a place, what is recalled.

import assert from 'node:assert/strict';
import type { Command, Event } from '../../../../src/kernel/machine/declared.ts';
import { outstanding } from '../../../../src/kernel/machine/outstanding.ts';
import type { EpochId, NodeName } from '../../../../src/kernel/model/ids.ts';
import type { NodeFeature } from '../../../../src/kernel/model/node-features.ts';
import { beganBefore, type EndReport } from '../../../../src/kernel/model/orders.ts';
import { plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import type { Settings } from '../../../../src/kernel/model/settings.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import { latestEndOf } from '../../../../src/kernel/scheduler/room/lane.ts';
import {
  BOB,
  endReport,
  kinds,
  OPERATOR,
  place,
  SETTINGS,
  START_AT,
  scenario,
  type TestHead,
} from '../../../support/controller.ts';
import { type NodeOptions, resources } from '../../../support/nodes.ts';
import { HOUR, MINUTE, reserve } from '../../../support/reservations.ts';

const FEATURES: readonly NodeFeature[] = ['next'];

/** An array on one node of two cpus, of which four tasks have run for `ranMs`: two run now. */
function warm(
  head: TestHead,
  ranMs: number,
  wish: Partial<Submission> = {},
  node: NodeOptions = { features: FEATURES },
  width = 2,
): void {
  head.connect('n1', { cpus: 2, ...node });
  head.submit({ array: { indices: '0-99' }, ...wish });
  for (let index = 0; index < 4; index += width) {
    cycle(head);
    const row = Array.from({ length: width }, (_, at) => `1[${index + at}]#1`);
    for (const epoch of row) head.started(epoch);
    head.at += ranMs;
    for (const epoch of row) head.ended(epoch);
  }
}

/** What one cycle decides, in words. */
function cycle(head: TestHead): string[] {
  return head.perform({ kind: 'schedule' }).events.map(said);
}

function said(event: Event): string {
  switch (event.kind) {
    case 'task_allocated':
      return `${event.next ? 'next' : 'start'} ${event.place.index}`;
    case 'part_placed':
    case 'part_recalled':
      return `${event.kind} ${event.epochId}`;
    default:
      return event.kind;
  }
}

function nextOf(head: TestHead): EpochId[] {
  const all = [...head.node('n1').holding.values()];
  return all.filter(({ next }) => next !== null).map(({ epochId }) => epochId);
}

function endWith(head: TestHead, epoch: string, next: string): readonly Event[] {
  const report = endReport(epoch, head.at) as EndReport;
  return head.report('n1', { ...report, next: next as EpochId });
}

scenario('[A35] what is next on a node is pending, and holds nothing there', (head) => {
  warm(head, 100);
  const decided = cycle(head);
  assert.deepEqual(decided.slice(0, 3), ['start 4', 'start 5', 'next 6']);
  const next = nextOf(head);
  assert.equal(next.length, 10, 'two places, half a second ahead, 100 ms a task');
  assert.equal(head.job(1).entry.running, 2);
  assert.equal(head.node('n1').free.cpuCount, 0);
  assert.deepEqual(head.orders('n1').slice(0, 3), [
    'launch 1[4]#1',
    'launch 1[5]#1',
    'launch 1[6]#1',
  ]);
});

scenario('[A35] a place passes to the next task, as its node says', (head) => {
  warm(head, 100);
  cycle(head);
  const events = endWith(head, '1[4]#1', '1[6]#1');
  assert.deepEqual(kinds(events).slice(0, 3), ['part_ended', 'part_placed', 'task_done']);
  assert.equal(head.node('n1').free.cpuCount, 0, 'its place is taken');
  assert.equal(head.job(1).entry.running, 2);
  assert.deepEqual(cycle(head), [], 'nothing else gets the place');
  head.started('1[6]#1');
  assert.equal(head.task('1[6]').state, 'running');
  endWith(head, '1[6]#1', '1[7]#1');
  assert.equal(head.job(1).ended.get('completed')?.size, 6);
});

scenario('[A35] a node that had not heard of it is told that there is a place', (head) => {
  warm(head, 100);
  cycle(head);
  head.ended('1[4]#1');
  assert.deepEqual(cycle(head).slice(0, 1), ['part_placed 1[6]#1']);
  assert.ok(head.orders('n1').includes('launch 1[6]#1'));
});

scenario('[A35] a crash of the head loses neither what is next nor whose place it took', (head) => {
  warm(head, 100);
  cycle(head);
  endWith(head, '1[4]#1', '1[6]#1');
  head.started('1[5]#1');
  const before = nextOf(head);
  head.crash();
  assert.deepEqual(nextOf(head), before);
  const held = head.heldBy('n1').map((one) => {
    const isNext = nextOf(head).includes(one.epochId);
    return isNext && one.epochId !== '1[7]#1' ? { ...one, isNext: true as const } : one;
  });
  const gone = held.filter(({ epochId }) => epochId !== '1[5]#1');
  const events = head.connect('n1', { cpus: 2, held: gone, features: FEATURES });
  assert.deepEqual(events.map(said).slice(0, 4), [
    'node_connected',
    'part_ended',
    'task_requeued',
    'part_placed 1[7]#1',
  ]);
  assert.equal(head.node('n1').free.cpuCount, 0);
});

scenario('[A36] no more is next than half a second of work, and nothing of long tasks', (head) => {
  warm(head, 3000);
  assert.deepEqual(cycle(head), ['start 4', 'start 5']);
});

scenario(
  '[A39] what its node gives back waits in the queue again, and has had no start',
  (head) => {
    warm(head, 100);
    cycle(head);
    const [first] = nextOf(head);
    const report = endReport(`${first}`, head.at, { cause: 'never_started' });
    assert.deepEqual(kinds(head.report('n1', report)), ['part_ended', 'task_returned']);
    assert.equal(head.task('1[6]').crashes, 0);
    assert.ok(head.job(1).pending.has(6));
    assert.deepEqual(
      head.state.scratch.endedEpochs.filter(({ index }) => index === 6),
      [],
    );
  },
);

scenario('[A38] what was begun before the recall came goes on', (head) => {
  warm(head, 100);
  cycle(head);
  head.command({ kind: 'drain_node', node: 'n1' as NodeName, reason: 'fan' });
  cycle(head);
  assert.ok(head.orders('n1').includes('end 1[6]#1'));
  endWith(head, '1[4]#1', '1[6]#1');
  assert.ok(!head.orders('n1').includes('end 1[6]#1'));
  head.started('1[6]#1');
  head.ended('1[6]#1');
  assert.ok(head.job(1).ended.get('completed')?.has(6));
});

scenario(
  '[A37] labels are met as the plan meets them: by a directory above, by an expression',
  (head) => {
    const wish = {
      directory: { kind: 'shared', path: '/work/a' },
      labels: ['fast&!old'],
    } as const;
    warm(head, 100, wish, { features: FEATURES, shared: ['/work'], labels: ['fast'] });
    assert.deepEqual(cycle(head).slice(0, 3), ['start 4', 'start 5', 'next 6']);
  },
);

scenario('[A37] only the first in line has tasks that are next', (head) => {
  warm(head, 100, { nice: 5 });
  head.submit({ cpuCount: 2 }, { by: BOB });
  assert.deepEqual(cycle(head), ['start null'], 'the other job, and nothing behind it');
});

scenario('[A37] a node whose agent knows nothing of places has none that are next', (head) => {
  warm(head, 100, {}, { features: [] });
  assert.deepEqual(cycle(head), ['start 4', 'start 5']);
});

const TWO: Partial<NodeOptions> = { features: FEATURES };
for (const [name, wish, node] of [
  ['a running limit', { array: { indices: '0-99', runningMax: 2 } }, TWO],
  ['no second start', { requeue: false }, TWO],
  ['gpus', { gpuCount: 1 }, { ...TWO, gpus: 2 }],
  ['a label that its node has lost', { labels: ['fast'] }, { ...TWO, labels: ['fast'] }],
] as const) {
  scenario(`[A37] a job with ${name} has none that are next`, (head) => {
    warm(head, 100, wish, node);
    if ('labels' in wish) head.connect('n1', { cpus: 2, features: FEATURES });
    assert.deepEqual(
      cycle(head).filter((one) => one.startsWith('next')),
      [],
    );
  });
}

scenario('[A37] whole nodes have none that are next', (head) => {
  warm(head, 100, { exclusive: true }, TWO, 1);
  assert.deepEqual(cycle(head), ['start 4']);
});

scenario('[A37, A2] a node that has become smaller passes no place on', (head) => {
  warm(head, 100);
  cycle(head);
  const next = nextOf(head);
  const command = {
    kind: 'modify_node',
    node: 'n1' as NodeName,
    resources: resources({ cpus: 1 }),
  };
  head.command(command as Command);
  assert.deepEqual(
    cycle(head),
    next.map((epochId) => `part_recalled ${epochId}`),
  );
});

scenario('[A38, J11] a begin time that is moved recalls what is next', (head) => {
  warm(head, 100);
  cycle(head);
  const change = { beginAt: head.at + HOUR };
  head.command({ kind: 'change_job', jobId: head.job(1).id, change } as Command);
  assert.equal(cycle(head)[0], 'part_recalled 1[6]#1');
});

scenario('[A38] who comes first in line has the next place that is not passed on', (head) => {
  warm(head, 100, { nice: 5 });
  cycle(head);
  assert.ok(nextOf(head).length > 0);
  head.submit({}, { by: BOB });
  assert.equal(cycle(head)[0], 'part_recalled 1[6]#1');
  head.ended('1[4]#1');
  assert.deepEqual(cycle(head), ['start null']);
});

scenario('[A38] a drain asks for a cycle by itself', (head) => {
  warm(head, 100);
  cycle(head);
  head.state.scratch.scheduleDue = false;
  head.command({ kind: 'drain_node', node: 'n1' as NodeName, reason: 'fan' });
  assert.equal(head.state.scratch.scheduleDue, true);
});

scenario('[J12, A38] a job of which all that waits is next can be held', (head) => {
  warm(head, 20, { array: { indices: '0-20' } });
  cycle(head);
  assert.equal(head.job(1).pending.size, 0);
  const reply = head.command({ kind: 'hold_job', jobId: head.job(1).id });
  assert.deepEqual(reply, { kind: 'changed', count: 15 });
  assert.equal(cycle(head)[0], 'part_recalled 1[6]#1');
});

scenario(
  '[A35] the last tasks of an array stay next, though nothing of it is in the queue',
  (head) => {
    warm(head, 20, { array: { indices: '0-20' } });
    cycle(head);
    assert.equal(nextOf(head).length, 15);
    assert.deepEqual(cycle(head), []);
  },
);

scenario('[A39] a start that never began is none for its program', (head) => {
  warm(head, 100);
  cycle(head);
  head.report('n1', endReport('1[6]#1', head.at, { cause: 'never_started' }));
  for (const epoch of ['1[4]#1', '1[5]#1', ...nextOf(head)]) {
    head.ended(epoch, {
      cause: nextOf(head).includes(epoch as EpochId) ? 'never_started' : 'exited',
    });
  }
  cycle(head);
  const orders = outstanding(head.state, head.node('n1'), head.settings);
  const again = orders.find((order) => 'epochId' in order && order.epochId === '1[6]#2');
  assert.ok(again?.kind === 'launch');
  assert.equal(beganBefore(again), 0);
});

scenario('[P11] what is followed by others keeps its place among those that make room', (head) => {
  warm(head, 100, { walltimeMs: HOUR });
  cycle(head);
  head.started('1[4]#1');
  const [view] = head.state.indexes.pool;
  const running = [...(view?.running ?? [])].find(({ index }) => index === 4);
  assert.equal(running?.followed, true);
  assert.equal(running.startedAt, head.at);
  head.at += MINUTE;
  assert.equal(latestEndOf(running, head.at), head.at + HOUR);
});

scenario('[A38] a node that takes no work gives what is next back', (head) => {
  warm(head, 100);
  cycle(head);
  const next = nextOf(head);
  head.command({ kind: 'drain_node', node: 'n1' as NodeName, reason: 'fan' });
  assert.deepEqual(
    cycle(head),
    next.map((epochId) => `part_recalled ${epochId}`),
  );
});

scenario('[A38] a hold recalls what is next', (head) => {
  warm(head, 100);
  cycle(head);
  head.command({ kind: 'hold_job', jobId: head.job(1).id });
  assert.equal(cycle(head)[0], 'part_recalled 1[6]#1');
});

scenario('[A38] what is set aside on the node recalls what is next', (head) => {
  warm(head, 100, { walltimeMs: MINUTE });
  cycle(head);
  assert.ok(nextOf(head).length > 0);
  head.command(reserve({ at: START_AT + HOUR, nodes: ['n1'] }), OPERATOR);
  assert.deepEqual(cycle(head), [], 'all are over by then');
  head.at = START_AT + HOUR - MINUTE / 2;
  assert.equal(cycle(head)[0], 'part_recalled 1[6]#1');
});

scenario('[A39] on a lost node what was next counts no crash, and may have begun', (head) => {
  warm(head, 100, { onNodeLoss: { kind: 'wait' } });
  cycle(head);
  const next = nextOf(head);
  head.disconnect('n1');
  head.silence('n1', 60_000);
  head.state.scratch.endedEpochs.length = 0;
  const command = { kind: 'declare_node_lost', node: 'n1' as NodeName } as const;
  head.command(command);
  assert.equal(head.task('1[4]').crashes, 1);
  assert.equal(head.task('1[6]').crashes, 0);
  assert.equal(next.length, 10);
  const told = head.state.scratch.endedEpochs.map(({ index }) => index);
  assert.deepEqual(told, [4, 5, ...next.map((_, at) => 6 + at)]);
});

scenario('[A39] a task that waits for a silent node waits for it also as its next', (head) => {
  warm(head, 100, { onNodeLoss: { kind: 'wait' } });
  cycle(head);
  const next = nextOf(head);
  head.disconnect('n1');
  head.silence('n1', 60_000);
  assert.deepEqual(nextOf(head), next);
  assert.deepEqual(cycle(head).length, next.length, 'all are recalled, should it come back');
  assert.equal(head.job(1).pending.has(6), false);
});

scenario('[J13] cancelling the job ends what is next as soon as its node has let go', (head) => {
  warm(head, 100);
  cycle(head);
  const held = [...head.node('n1').holding.keys()];
  head.command({ kind: 'cancel_task', place: place('1') });
  for (const epoch of held) {
    const isNext = nextOf(head).includes(epoch);
    head.ended(epoch, { cause: isNext ? 'never_started' : 'ended', signal: 15 });
  }
  assert.equal(head.outcome(1), 'cancelled');
});

scenario(
  '[A13] a promise to another job keeps its node free of what is next',
  (head) => {
    warm(head, 100, { walltimeMs: MINUTE });
    head.submit({ cpuCount: 2, walltimeMs: MINUTE }, { by: BOB });
    const decided = cycle(head);
    assert.deepEqual(decided, ['start 4', 'start 5']);
  },
  { scheduling: plainScheduling('conservative') },
);

scenario(
  '[A13] what is next is recalled for a promise to who is last in line',
  (head) => {
    warm(head, 100, { array: { indices: '0-15' }, walltimeMs: MINUTE });
    cycle(head);
    assert.equal(head.job(1).pending.size, 0, 'all are given');
    head.submit({ cpuCount: 2, walltimeMs: MINUTE }, { by: BOB });
    assert.equal(cycle(head).filter((word) => word.startsWith('part_recalled')).length, 10);
  },
  { scheduling: plainScheduling('easy') },
);

scenario('[A39] what was next on a silent node may have begun: its start is kept', (head) => {
  warm(head, 100);
  cycle(head);
  head.disconnect('n1');
  head.state.scratch.endedEpochs.length = 0;
  const events = head.silence('n1', 60_000);
  assert.equal(kinds(events).filter((kind) => kind === 'task_requeued').length, 12);
  assert.ok(head.state.scratch.endedEpochs.some(({ index }) => index === 6));
  assert.equal(head.task('1[6]').crashes, 0);
  assert.equal(head.task('1[4]').crashes, 1);
});

scenario('[P17] a place that passes on counts for the group before more of it starts', (head) => {
  head.settings = labOf(3);
  warm(head, 100);
  cycle(head);
  head.connect('n2', { cpus: 4 });
  head.submit({}, { by: BOB });
  head.ended('1[4]#1');
  const decided = cycle(head);
  assert.deepEqual(decided.slice(0, 2), ['part_placed 1[6]#1', 'start 16']);
  assert.equal(head.job(1).entry.running, 3);
  assert.equal(head.job(2).entry.running, 0);
});

scenario('[A35] what the cycle started counts once against the caps', (head) => {
  const plain = plainScheduling('first_fit');
  head.settings = { ...SETTINGS, scheduling: { ...plain, caps: { running: 3 } } };
  warm(head, 100);
  assert.deepEqual(cycle(head).slice(0, 3), ['start 4', 'start 5', 'next 6']);
});

/** Ann and bob run no more tasks than this together. */
function labOf(running: number): Settings {
  const groupCaps = [{ group: 'lab', users: ['ann', 'bob'], caps: { running } }];
  return { ...SETTINGS, scheduling: { ...plainScheduling('first_fit'), groupCaps } };
}
