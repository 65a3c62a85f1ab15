// Members of a gateway that was started again.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { labelsOf } from '../../../../../src/bin/agent-node.ts';
import { type SiteNode, shownName } from '../../../../../src/kernel/model/site.ts';
import type { Elsewhere } from '../../../../../src/kernel/wing.ts';
import {
  formerNames,
  instancesOfMembers,
  jobPrefix,
  memberNodes,
  membersOf,
  noteOwnName,
} from '../../../../../src/wings/sites/bin/site-members.ts';
import { PLAIN_SITE_NODE } from '../../../../support/plain.ts';

const folder = mkdtempSync(join(tmpdir(), 'weft-members-'));
after(() => rmSync(folder, { recursive: true }));

test('[G6] jobs of members are known before these are back, those of others are not', () => {
  for (const [name, instance] of Object.entries({ hpc: 'a', 'n1.hpc': 'b', 'n1.other': 'c' })) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'instance'), `${instance}\n`);
  }
  mkdirSync(join(folder, 'n2.hpc'));
  const gateway = { name: 'hpc', stateDir: join(folder, 'hpc') };
  const found = instancesOfMembers(gateway as Parameters<typeof instancesOfMembers>[0]);
  assert.deepEqual(found.map(jobPrefix), ['weft-b']);
});

type Gateway = Parameters<typeof membersOf>[0];

function siteNode(name: string, shown: string | null = null): SiteNode {
  const seen = { hiddenBy: null, labels: [], queue: null, partition: null, rules: ['call'] };
  return {
    ...PLAIN_SITE_NODE,
    name,
    ...(shown === null ? {} : { seen: { ...seen, name: shown } }),
  };
}

test('[G8] a member has the name that rules give it, and the site is asked by its own', () => {
  const site = { system: 'slurm' };
  const gateway = { name: 'lab', stateDir: join(folder, 'lab'), labels: [], site };
  const nodes = [siteNode('n1', 'fast'), siteNode('n2')];
  const members = membersOf(gateway as unknown as Gateway, nodes, null);
  assert.deepEqual(
    members.map(({ name, site: own, stateDir }) => [name, own?.member, stateDir]),
    [
      ['fast.lab', 'n1', join(folder, 'fast.lab')],
      ['n2.lab', 'n2', join(folder, 'n2.lab')],
    ],
  );
});

test('[G8] a member that has tasks is one still when rules call it otherwise', () => {
  const gateway = { name: 'lab', stateDir: join(folder, 'lab') } as Gateway;
  for (const [name, member] of Object.entries({ 'fast.lab': 'n1', 'idle.lab': 'n2' })) {
    const stateDir = join(folder, name);
    mkdirSync(join(stateDir, 'site'), { recursive: true });
    noteOwnName({ stateDir, site: { member } } as Gateway);
  }
  mkdirSync(join(folder, 'fast.lab', 'site', '7'));
  const former = formerNames(gateway);
  assert.deepEqual(former, [
    { shown: 'fast', own: 'n1', hasTasks: true },
    { shown: 'idle', own: 'n2', hasTasks: false },
  ]);
  const names = (...nodes: SiteNode[]) =>
    memberNodes(former, nodes).map((node) => `${node.name} as ${shownName(node)}`);
  const both = ['n1 as fast', 'n1 as n1', 'n2 as n2'];
  assert.deepEqual(names(siteNode('n1'), siteNode('n2')), both);
  assert.deepEqual(names(siteNode('n1', 'fast')), ['n1 as fast'], 'it has that name');
  assert.deepEqual(names(siteNode('n2')), ['n2 as n2'], 'the site has it no more');
  const late = ['n1 as fast', 'fast as fast', 'n1 as n1'];
  assert.deepEqual(names(siteNode('fast'), siteNode('n1')), late, 'who has tasks by it is first');
});

test('[G8] labels of the machine of the gateway are not those of its site', () => {
  const machine = { found: { labels: ['os=linux', 'arch=x64', 'gpu'] } };
  const runtimes = { labels: ['podman'] };
  const labels = ['site=lab', 'bigmem'];
  const elsewhere = {} as Elsewhere;
  assert.deepEqual(labelsOf({ labels, elsewhere }, machine, runtimes), labels);
  const own = labelsOf({ labels: ['bigmem'], elsewhere: null }, machine, runtimes);
  assert.deepEqual(own, ['os=linux', 'arch=x64', 'gpu', 'podman', 'bigmem']);
});
