// What is told of a node: of a site's node only what its site says.

import assert from 'node:assert/strict';
import { viewNode } from '../../../../../src/kernel/head/answers/node-view.ts';
import { plainPartition } from '../../../../../src/kernel/model/scheduling.ts';
import { wikiNodes } from '../../../../../src/wings/wiki/head/wiki-nodes.ts';
import { scenario, type TestHead } from '../../../../support/controller.ts';

const OF_THE_MACHINE = ['OS', 'ARCH', 'CDISK', 'ADISK', 'CPULOAD'];
const LOAD = { load1: 3, memoryFreeBytes: 0, diskFreeBytes: 0 };

function fieldsOf(head: TestHead, name: string): string[] {
  const partitions = [plainPartition('default', 'first_fit')];
  const [record] = [...wikiNodes(head.state, partitions, () => LOAD, [])].filter(
    ({ id }) => id === name,
  );
  return record?.fields.map(([field]) => field) ?? [];
}

/** Features of the nodes, as they are matched: letter by letter. */
function featuresOf(head: TestHead): Record<string, unknown> {
  const partitions = [plainPartition('default', 'first_fit')];
  const records = [...wikiNodes(head.state, partitions, () => LOAD, [])];
  return Object.fromEntries(
    records.map(({ id, fields }) => [id, fields.find(([name]) => name === 'FEATURE')?.[1]]),
  );
}

scenario('[D1] a directory that a waiting job needs is a feature of all that share it', (head) => {
  head.connect('n1', { shared: ['/'] });
  head.connect('n2', { shared: ['/data'] });
  head.submit({ labels: ['shared=/data/ann', '!old'] });
  head.submit({ labels: ['shared=/scratch'] });
  assert.deepEqual(featuresOf(head), {
    n1: ['shared_/', 'shared_/data/ann', 'shared_/scratch'],
    n2: ['shared_/data', 'shared_/data/ann'],
  });
});

scenario('[G18] nothing of the machine of its gateway is told of a node of a site', (head) => {
  head.connect('n1');
  head.connect('hpc', { cpus: 0, site: 'hpc' });
  head.connect('n1.hpc', { cpus: 2, site: 'hpc' });
  const own = fieldsOf(head, 'n1');
  assert.deepEqual(
    own.filter((field) => OF_THE_MACHINE.includes(field)),
    OF_THE_MACHINE,
  );
  assert.deepEqual(
    fieldsOf(head, 'n1.hpc'),
    own.filter((field) => !OF_THE_MACHINE.includes(field)),
  );
  const live = { load: null, clockOffsetMs: null, presence: null, heardAt: 0 };
  const factsOf = (name: string) => viewNode(head.state, head.node(name), live).facts ?? {};
  assert.deepEqual(Object.keys(factsOf('n1.hpc')).sort(), [
    ...['agentVersion', 'site', 'switchesUser', 'user'],
  ]);
  for (const name of ['n1', 'hpc']) assert.equal(factsOf(name)['os'], 'linux');
});
