// Partitions whose starts another program decides: exactly one scheduler for each node.

import assert from 'node:assert/strict';
import type { Command } from '../../../../src/kernel/machine/declared.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { plainPartition, plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import {
  ANN,
  OPERATOR,
  place,
  SETTINGS,
  scenario,
  type TestHead,
} from '../../../support/controller.ts';
import { why } from '../../../support/why.ts';

const EXTERNAL = {
  ...plainPartition('theirs', 'external'),
  nodes: ['n1', 'n2'] as NodeName[],
};

const PLAIN = plainScheduling('first_fit');
const SCHEDULING = { ...PLAIN, partitions: { ...PLAIN.partitions, theirs: EXTERNAL } };
const SITE = { ...SETTINGS, scheduling: SCHEDULING };

function nodes(head: TestHead): void {
  for (const name of ['n1', 'n2', 'n3']) head.connect(name, { cpus: 2 });
}

function start(task: string, ...on: string[]): Command {
  return { kind: 'start_task', place: place(task), nodes: on as NodeName[] };
}

/** Why it does not start there, by the kind of the reason. */
function reasonOf(head: TestHead, command: Command): string {
  const reply = head.command(command, OPERATOR);
  assert.equal(reply.kind, 'not_started');
  return reply.kind === 'not_started' ? reply.reason.kind : '';
}

scenario(
  '[P14] the head starts nothing of an external partition, and says whose turn it is',
  (head) => {
    nodes(head);
    const id = head.submit({ partition: 'theirs' });
    assert.deepEqual(head.schedule(), []);
    assert.match(
      why(head, id),
      /^partition: there is room; partition theirs is run by an external/,
    );
    head.submit({ partition: 'theirs', cpuCount: 2, nodeCount: 2 });
    assert.deepEqual(head.schedule(), []);
  },
  SITE,
);

scenario(
  '[P14] on the nodes of an external partition the head starts nothing of any other',
  (head) => {
    nodes(head);
    const ids = [1, 2, 3].map(() => head.submit({ cpuCount: 2 }));
    assert.deepEqual(head.schedule(), ['1#1@n3']);
    assert.match(
      why(head, ids[1] ?? 0),
      /n3 is full.*, n1 and n2 are run by the external scheduler/,
    );
    // Named nodes and reservations are no way around it.
    const named = head.submit({ nodeNames: ['n1'] as NodeName[] });
    assert.deepEqual(head.schedule(), []);
    assert.match(why(head, named), /n1 is run by the external scheduler of partition theirs/);
  },
  SITE,
);

scenario(
  '[P14] once the partition is handed back, the head starts what waits',
  (head) => {
    nodes(head);
    head.submit({ partition: 'theirs' });
    const change = { policy: 'easy' } as const;
    head.command({ kind: 'change_partition', partition: 'theirs', change }, OPERATOR);
    assert.deepEqual(head.schedule(), ['1#1@n1']);
    assert.equal(head.refused(start('1', 'n1'), OPERATOR), 'start.not_external');
  },
  SITE,
);

scenario(
  '[P14] an external scheduler starts jobs on the nodes that it names, once',
  (head) => {
    nodes(head);
    const wide = head.submit({ partition: 'theirs', nodeCount: 2 });
    assert.deepEqual(head.command(start(`${wide}`, 'n2', 'n1'), OPERATOR), changed(1));
    assert.deepEqual(head.holders(`${wide}#1`).sort(), ['n1', 'n2']);
    assert.deepEqual(head.command(start(`${wide}`, 'n1', 'n2'), OPERATOR), changed(0), 'again');
    assert.equal(head.refused(start(`${wide}`, 'n1', 'n3'), OPERATOR), 'job.not_pending');
    head.started(`${wide}#1`);
    assert.deepEqual(head.command(start(`${wide}`, 'n1', 'n2'), OPERATOR), changed(0));
    head.ended(`${wide}#1`);
    assert.equal(head.refused(start(`${wide}`, 'n1', 'n2'), OPERATOR), 'job.already_done');
    assert.deepEqual(head.schedule(), []);
  },
  SITE,
);

scenario(
  '[P14] tasks of an array start one by one',
  (head) => {
    nodes(head);
    const id = head.submit({ partition: 'theirs', array: { indices: '0-2', runningMax: 1 } });
    assert.equal(head.refused(start(`${id}`, 'n1'), OPERATOR), 'job.is_array');
    assert.equal(head.refused(start(`${id}[7]`, 'n1'), OPERATOR), 'job.not_found');
    assert.deepEqual(head.command(start(`${id}[1]`, 'n1'), OPERATOR), changed(1));
    assert.equal(reasonOf(head, start(`${id}[2]`, 'n2')), 'quota', 'one at once');
    head.started(`${id}[1]#1`);
    head.ended(`${id}[1]#1`);
    assert.equal(head.refused(start(`${id}[1]`, 'n1'), OPERATOR), 'job.already_done');
    assert.deepEqual(head.command(start(`${id}[2]`, 'n2'), OPERATOR), changed(1));
  },
  SITE,
);

scenario(
  '[P14] a start that may not be is refused, and nothing happens',
  (head) => {
    nodes(head);
    const held = head.submit({ partition: 'theirs', held: true });
    assert.equal(reasonOf(head, start(`${held}`, 'n1')), 'held');
    const later = head.submit({
      partition: 'theirs',
      dependencies: [{ jobId: held, condition: 'ok' }],
    });
    assert.equal(reasonOf(head, start(`${later}`, 'n1')), 'dependency');
    const big = head.submit({ partition: 'theirs', cpuCount: 2 });
    const small = head.submit({ partition: 'theirs' });
    head.command(start(`${small}`, 'n1'), OPERATOR);
    assert.equal(reasonOf(head, start(`${big}`, 'n1')), 'resources');
    assert.equal(head.refused(start(`${big}`, 'n1', 'n2'), OPERATOR), 'argument.invalid');
    assert.equal(head.refused(start(`${big}`, 'n3'), OPERATOR), 'argument.invalid');
    assert.equal(head.refused(start(`${big}`, 'n9'), OPERATOR), 'node.not_found');
    assert.equal(head.refused(start('99', 'n1'), OPERATOR), 'job.not_found');
    assert.equal(head.refused(start(`${big}`, 'n2'), ANN), 'auth.role_needed');
    assert.equal(head.refused(start(`${head.submit()}`, 'n2'), OPERATOR), 'start.not_external');
    head.command({ kind: 'drain_node', node: 'n2' as NodeName, reason: 'a fan' }, OPERATOR);
    assert.equal(reasonOf(head, start(`${big}`, 'n2')), 'resources', 'drained');
  },
  SITE,
);

scenario(
  '[P14] no start runs into maintenance, whoever decides it',
  (head) => {
    nodes(head);
    const hour = 3_600_000;
    const time = { kind: 'fixed', from: head.at + hour } as const;
    const wish = { nodes: ['n1'] as NodeName[], labels: [], time, durationMs: hour };
    head.command(
      {
        kind: 'plan_maintenance',
        ...wish,
        running: 'wait',
        reason: 'a fan',
        warning: null,
        program: null,
      },
      OPERATOR,
    );
    const long = head.submit({ partition: 'theirs', walltimeMs: 2 * hour });
    const short = head.submit({ partition: 'theirs', walltimeMs: hour / 2 });
    assert.equal(reasonOf(head, start(`${long}`, 'n1')), 'maintenance');
    assert.deepEqual(head.command(start(`${short}`, 'n1'), OPERATOR), changed(1));
    assert.deepEqual(head.command(start(`${long}`, 'n2'), OPERATOR), changed(1));
  },
  SITE,
);

function changed(count: number) {
  return { kind: 'changed', count };
}
