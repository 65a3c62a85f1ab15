// Who gets what of a node: exclusive tasks, gpus by index, counted resources.

import assert from 'node:assert/strict';
import type { Command } from '../../../../src/kernel/machine/declared.ts';
import { isCycleDue } from '../../../../src/kernel/machine/schedule.ts';
import { formatRefusal } from '../../../../src/kernel/model/errors.ts';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { plainPartition, plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import {
  ANN,
  kinds,
  place,
  SETTINGS,
  scenario,
  submission,
  type TestHead,
} from '../../../support/controller.ts';
import { GIB } from '../../../support/nodes.ts';
import { why } from '../../../support/why.ts';

function gpusOf(head: TestHead, task: string): readonly number[] {
  return [...head.task(task).parts.values()].flatMap((part) => part.share.gpus);
}

scenario('[A3] an exclusive task gets whole, idle nodes and shares them with nobody', (head) => {
  head.connect('n1');
  head.connect('n2', { gpus: 2 });
  head.submit({ cpuCount: 1 });
  head.submit({ exclusive: true });
  head.submit({ cpuCount: 1, nodeNames: ['n2'] as NodeName[] });
  head.submit({ cpuCount: 0, nodeNames: ['n2'] as NodeName[] });
  assert.deepEqual(head.schedule(), ['1#1@n1', '2#1@n2']);
  assert.deepEqual(head.node('n2').free.cpuCount, 0);
  head.ended('2#1');
  const [whole] = head.state.scratch.endedEpochs;
  const { cpuCount, memoryBytes } = head.node('n2').total;
  assert.deepEqual(whole?.whole, { cpuCount, memoryBytes }, 'all that it held is in the history');
  assert.deepEqual(head.schedule(), ['3#1@n2', '4#1@n2']);
  head.ended('3#1');
  assert.equal(head.state.scratch.endedEpochs.at(-1)?.whole, null);
});

scenario('[A3] a site that a task has by itself is not what the task held', (head) => {
  head.connect('hpc', { cpus: 400, site: 'hpc' });
  head.submit({ cpuCount: 1, exclusive: true });
  assert.deepEqual(head.schedule(), ['1#1@hpc']);
  head.started('1#1');
  head.ended('1#1');
  assert.deepEqual(
    head.state.scratch.endedEpochs.map(({ whole }) => whole),
    [null],
  );
});

const SIZES = [
  { cpuCount: 2, memoryBytes: GIB },
  { cpuCount: 1, memoryBytes: 4 * GIB },
];

scenario('[G11] no task is given to a site that none of its nodes could hold', (head) => {
  head.connect('hpc', { cpus: 4, memory: 6 * GIB, site: 'hpc', sizes: SIZES });
  const words = (wish: Parameters<typeof submission>[0]): string => {
    const { result } = head.perform({ kind: 'command', command: submission(wish), actor: ANN });
    return result.ok ? 'taken' : formatRefusal(result.error);
  };
  assert.match(words({ cpuCount: 4 }), /largest node of site hpc has 2 cpus.*lacks 2 cpus/);
  assert.match(words({ cpuCount: 2, memoryBytes: 2 * GIB }), /largest node of site hpc/);
  head.submit({ cpuCount: 2 });
  head.submit({ cpuCount: 1, memoryBytes: 4 * GIB });
  assert.deepEqual(head.schedule(), ['1#1@hpc', '2#1@hpc']);
});

scenario('[G11] what became too large for the nodes of a site waits, and why says it', (head) => {
  head.connect('hpc', { cpus: 4, site: 'hpc' });
  head.submit({ cpuCount: 4 });
  head.connect('hpc', { cpus: 4, site: 'hpc', sizes: SIZES, bootId: 'boot 2' });
  assert.deepEqual(head.schedule(), []);
  assert.match(why(head, 1), /no node is large enough; the largest node of site hpc has 2 cpus/);
});

scenario('[A4] tasks get gpus of their own, by index', (head) => {
  head.connect('n1', { cpus: 8, gpus: 4 });
  head.submit({ gpuCount: 1 });
  head.submit({ gpuCount: 2 });
  head.submit({ gpuCount: 2 });
  head.schedule();
  assert.deepEqual([gpusOf(head, '1'), gpusOf(head, '2')], [[0], [1, 2]]);
  head.ended('1#1');
  assert.deepEqual(head.schedule(), ['3#1@n1']);
  assert.deepEqual(gpusOf(head, '3'), [0, 3]);
});

scenario('[A4] a gpu that is gone after a reboot is not given out again', (head) => {
  head.connect('n1', { cpus: 8, gpus: 2 });
  head.submit({ gpuCount: 1 });
  head.submit({ gpuCount: 1 });
  head.schedule();
  head.connect('n1', { cpus: 8, gpus: 1, held: head.heldBy('n1') });
  head.ended('1#1');
  head.ended('2#1');
  head.submit({ gpuCount: 1 });
  head.submit({ gpuCount: 1, nodeNames: ['n1'] as NodeName[] });
  assert.deepEqual(head.schedule(), ['3#1@n1']);
  assert.deepEqual(gpusOf(head, '3'), [0]);
});

scenario('[A2] counted resources are counted', (head) => {
  head.connect('n1', { counted: { licence: 3 } });
  const first = head.submit({ counted: { licence: 2 } });
  head.submit({ counted: { licence: 2 } });
  head.submit({ counted: { licence: 1 } });
  assert.deepEqual(head.schedule(), ['1#1@n1', '3#1@n1']);
  head.ended(`${first}#1`);
  assert.deepEqual(head.schedule(), ['2#1@n1']);
  const more = submission({ counted: { licence: 4 } });
  assert.equal(head.refused(more, ANN), 'resources.unsatisfiable');
});

scenario('[S2] a node that comes back smaller is given nothing until it has room', (head) => {
  head.connect('n1', { cpus: 4, memory: 8 * GIB });
  head.submit({ cpuCount: 4 });
  head.submit({ cpuCount: 1 });
  head.schedule();
  head.connect('n1', { cpus: 2, held: head.heldBy('n1') });
  assert.equal(head.node('n1').free.cpuCount, -2);
  assert.deepEqual(head.schedule(), []);
  head.ended('1#1');
  assert.deepEqual(head.schedule(), ['2#1@n1']);
});

scenario('[L4] what fits starts in the next cycle, whatever has just been freed', (head) => {
  head.connect('n1', { cpus: 1 });
  head.running();
  head.submit();
  assert.equal(head.state.scratch.scheduleDue, true);
  head.schedule();
  assert.equal(head.state.scratch.scheduleDue, false);
  head.command({ kind: 'cancel_task', place: place('1') }, ANN);
  head.ended('1#1', { cause: 'ended' });
  assert.equal(head.state.scratch.scheduleDue, true);
  assert.deepEqual(head.schedule(), ['2#1@n1']);
});

const fifo = plainScheduling('fifo');

for (const kind of ['cancel_task', 'hold_job'] as const) {
  scenario(
    `[L4] under fifo those behind are looked at when the first one is gone by ${kind}`,
    (head) => {
      head.connect('n1', { cpus: 2 });
      head.running();
      head.submit({ cpuCount: 2 });
      head.submit();
      assert.deepEqual(head.schedule(), []);
      head.command({ kind, place: place('2'), jobId: 2 as JobId } as Command, ANN);
      assert.equal(head.state.scratch.scheduleDue, true);
      assert.deepEqual(head.schedule(), ['3#1@n1']);
    },
    { ...SETTINGS, scheduling: fifo },
  );
}

const other = { ...plainPartition('other'), policy: 'first_fit' as const };

/**
 * Cycles of a round, each as short as can be; `between` comes when they are past the place of job
 * 5.
 */
function roundOf(head: TestHead, isHeld: boolean, between: Command): string[] {
  head.connect('n1', { cpus: 2, memory: 8 * GIB });
  head.running();
  const others = (...memory: number[]): void => {
    for (const gib of memory) {
      head.submit({ cpuCount: 2, partition: 'other', memoryBytes: gib * GIB });
    }
  };
  others(1, 2, 3);
  head.submit({ cpuCount: 2, held: isHeld });
  others(4, 5, 6);
  head.submit();
  const started: string[] = [];
  const left = [between];
  for (let cycle = 0; cycle === 0 || isCycleDue(head.state); cycle += 1) {
    assert.ok(cycle < 50, 'cycles end');
    const { events } = head.once({ kind: 'schedule', looksMax: 1 });
    started.push(...kinds(events));
    const command = head.state.scratch.chain?.rest?.mark.jobId === 6 ? left.pop() : undefined;
    if (command !== undefined) head.command(command, ANN);
  }
  return started;
}

const MIXED = { ...SETTINGS, scheduling: { ...fifo, partitions: { ...fifo.partitions, other } } };

scenario(
  '[L4] under fifo they are also when the first one goes in the middle of a round',
  (head) => {
    const cancel: Command = { kind: 'cancel_task', place: place('5') };
    assert.deepEqual(roundOf(head, false, cancel), ['task_allocated']);
    assert.equal(head.task('9').state, 'starting');
  },
  MIXED,
);

scenario(
  '[A10] under fifo nobody passes a task that comes to its place in the middle of a round',
  (head) => {
    assert.deepEqual(roundOf(head, true, { kind: 'release_job', jobId: 5 as JobId }), []);
  },
  MIXED,
);

const shared = { ...fifo, weights: { ...fifo.weights, fairShare: 1000 } };

scenario(
  '[L4] who is first by fair share is looked at again although nothing has happened',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running();
    head.submit({ cpuCount: 2 });
    head.schedule();
    assert.equal(head.state.scratch.scheduleDue, false);
    head.perform({ kind: 'tick' });
    assert.equal(head.state.scratch.scheduleDue, true);
  },
  { ...SETTINGS, scheduling: shared },
);

scenario(
  '[J31] a job asks for few kinds of resources, and its labels are short together',
  (head) => {
    head.connect('n1');
    const many = (amount: number) =>
      Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`a${at}`, amount]));
    head.submit({ counted: many(0) });
    assert.deepEqual(head.job(1).spec.request.perNode.counted, {});
    assert.equal(head.refused(submission({ counted: many(1) }), ANN), 'argument.invalid');
    const labels = Array.from({ length: 10 }, () => 'x'.repeat(500));
    assert.equal(head.refused(submission({ labels }), ANN), 'argument.invalid');
  },
);

scenario('a job that waits for a node by name is told when the cluster has it no more', (head) => {
  for (const name of ['n1', 'n2', 'n3']) head.connect(name);
  head.submit({ nodeNames: ['n2'] as NodeName[], held: true });
  head.submit({ nodeNames: ['n1', 'n2', 'n3'] as NodeName[], nodeCount: 3, held: true });
  for (const node of ['n2', 'n3'] as NodeName[]) head.command({ kind: 'remove_node', node });
  for (const job of [1, 2]) head.command({ kind: 'release_job', jobId: job as JobId }, ANN);
  assert.match(
    why(head, 1),
    /^no_node_can: needs 1 node of n2 .*; n2 is not in the cluster any more$/,
  );
  assert.match(why(head, 2), /; n2, n3 are not in the cluster any more$/);
  head.connect('n2');
  assert.deepEqual(head.schedule(), ['1#1@n2']);
});
