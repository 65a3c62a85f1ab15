// What memory a job gets that asks for none: its cpus' part of their node's.

import assert from 'node:assert/strict';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { plainPartition, plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import { SETTINGS, scenario, type TestHead } from '../../../support/controller.ts';
import { GIB } from '../../../support/nodes.ts';

const small = { ...plainPartition('small'), nodes: ['n1'] as NodeName[] };
const capped = {
  ...plainPartition('capped'),
  limits: { ...small.limits, memoryPerNodeBytes: GIB },
};
const scheduling = {
  ...plainScheduling('easy'),
  partitions: { default: plainPartition('default'), small, capped },
};
const { defaults } = SETTINGS;
const IN_PROPORTION = {
  defaults: { ...defaults, perNode: { ...defaults.perNode, memoryBytes: null } },
  scheduling,
};

const gibOf = (head: TestHead, id: JobId) => head.job(id).spec.request.perNode.memoryBytes / GIB;

scenario(
  'a job that asks for no memory gets as much as its cpus are of the node',
  (head) => {
    head.connect('n1', { cpus: 8, memory: 16 * GIB });
    assert.equal(gibOf(head, head.submit({ cpuCount: 1 })), 2);
    assert.equal(gibOf(head, head.submit({ cpuCount: 3 })), 6);
    assert.equal(gibOf(head, head.submit({ cpuCount: 0 })), 2);
    assert.equal(gibOf(head, head.submit({ cpuCount: 2, memoryBytes: GIB })), 1);
    assert.equal(gibOf(head, head.submit({ memoryOtherwiseBytes: GIB / 2 })), 0.5);
    assert.equal(gibOf(head, head.submit({ cpuCount: 4, partition: 'capped' })), 1);
  },
  IN_PROPORTION,
);

scenario(
  'where nodes differ, the least of those that could hold the job counts, also while they are away',
  (head) => {
    head.connect('n1', { cpus: 8, memory: 32 * GIB });
    head.connect('n2', { cpus: 4, memory: 8 * GIB, labels: ['old'] });
    assert.equal(gibOf(head, head.submit({ cpuCount: 1 })), 2);
    assert.equal(gibOf(head, head.submit({ cpuCount: 5 })), 20, 'n2 could not hold 5 cpus');
    assert.equal(gibOf(head, head.submit({ labels: ['!old'] })), 4);
    assert.equal(gibOf(head, head.submit({ nodeNames: ['n1'] as NodeName[] })), 4);
    assert.equal(gibOf(head, head.submit({ partition: 'small' })), 4);
    head.disconnect('n2');
    assert.equal(gibOf(head, head.submit({ cpuCount: 1 })), 2, 'n2 may come back');
    head.command({ kind: 'remove_node', node: 'n2' as NodeName });
    assert.equal(gibOf(head, head.submit({ cpuCount: 1 })), 4);
  },
  IN_PROPORTION,
);

scenario(
  'memory of jobs that ask for none keeps no cpu idle, and equal requests are one shape',
  (head) => {
    head.connect('n1', { cpus: 4, memory: 9 * GIB });
    head.connect('n2', { cpus: 2, memory: 4 * GIB });
    for (let at = 0; at < 6; at += 1) head.submit({ cpuCount: 1 });
    assert.equal([...head.state.indexes.queue.groups].length, 1);
    assert.equal(head.schedule().length, 6);
  },
  IN_PROPORTION,
);

scenario(
  'a request that no node could hold is refused without words about memory',
  (head) => {
    head.connect('n1', { cpus: 4, memory: 8 * GIB });
    const submission = { program: { kind: 'argv', argv: ['x'] }, cpuCount: 9 } as const;
    const command = { kind: 'submit_job', submission, key: null, retired: {} } as const;
    const actor = { kind: 'user', name: 'ann', uid: 1000, role: 'user' } as never;
    const { result } = head.perform({ kind: 'command', command, actor });
    assert.ok(!result.ok);
    assert.equal(result.error.details['request'], '1 node with 9 cpus');
  },
  IN_PROPORTION,
);

scenario('the words about a task that ran out of memory name its limit and the option', (head) => {
  head.connect('n1', { cpus: 4, memory: 8 * GIB });
  const id = head.running({ memoryBytes: GIB });
  head.ended(`${id}#1`, { cause: 'out_of_memory', signal: 9 });
  const { detail } = head.job(id).outcome ?? {};
  assert.equal(detail, 'exceeded its limit of 1G on n1; ask for more with --memory');
});
