// Which nodes of a site are where a user of the site wants a job to run.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteNode, SiteWhere } from '../../../../../src/kernel/model/site.ts';
import { nodesThere } from '../../../../../src/wings/sites/model/site-where.ts';
import { PLAIN_SITE_NODE } from '../../../../support/plain.ts';

function siteNode(name: string, queues: readonly string[]): SiteNode {
  return {
    ...PLAIN_SITE_NODE,
    name,
    queues,
  };
}

function fit(where: SiteWhere, nodes: readonly SiteNode[]) {
  const found = nodesThere({ where, nodeCount: 1 }, nodes);
  return typeof found === 'string' ? found : found.map(({ name }) => name);
}

test('[G16] a queue with nodes of its own is on those, and others are not on them', () => {
  const nodes = [siteNode('n1', ['long']), siteNode('n2', []), siteNode('n3', [])];
  assert.deepEqual(fit({ queues: ['long'] }, nodes), ['n1']);
  assert.deepEqual(fit({ queues: ['short'] }, nodes), ['n2', 'n3']);
  assert.deepEqual(fit({ queues: ['short', 'long'] }, nodes), ['n1']);
  assert.deepEqual(fit({}, nodes), ['n1', 'n2', 'n3']);
  assert.equal(
    fit({ queues: ['short'] }, [siteNode('n1', ['long'])]),
    'no node of its site is where it is to run',
  );
  const silent = [siteNode('n1', []), siteNode('n2', [])];
  assert.deepEqual(fit({ queues: ['long'] }, silent), ['n1', 'n2']);
});
