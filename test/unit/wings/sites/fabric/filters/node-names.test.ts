// Other names for the nodes of a site: each is its node's alone, and leads back to the site's own
// name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteNode } from '../../../../../../src/kernel/model/site.ts';
import { NodeNames } from '../../../../../../src/wings/sites/fabric/filters/node-names.ts';
import { PLAIN_SITE_NODE } from '../../../../../support/plain.ts';

function node(name: string, shown: string | null = null): SiteNode {
  const own: SiteNode = {
    ...PLAIN_SITE_NODE,
    name,
  };
  const seen = { hiddenBy: null, labels: [], queue: null, partition: null, rules: ['add', 'call'] };
  return shown === null ? own : { ...own, seen: { ...seen, name: shown } };
}

function look(names: NodeNames, ...nodes: readonly SiteNode[]): string[] {
  const seen = names.look(nodes, new Set(['call', 'other']));
  return seen.map((one) => `${one.seen?.name ?? one.name}${one.seen?.hiddenBy ? ' hidden' : ''}`);
}

test('[G8] a name leads back to that of the site, also when it is an old one', () => {
  const names = new NodeNames();
  assert.deepEqual(look(names, node('n1', 'fast'), node('n2')), ['fast', 'n2']);
  assert.deepEqual(
    ['fast', 'n1', 'n2', 'x'].map((one) => names.ownOf(one)),
    [...['n1', 'n1', 'n2', 'x']],
  );
  assert.deepEqual(look(names, node('n1', 'slow'), node('n2')), ['slow', 'n2']);
  assert.deepEqual(
    ['fast', 'slow'].map((one) => names.ownOf(one)),
    ['n1', 'n1'],
  );
  assert.equal(names.problem, null);
});

test('[G8] nodes that would be called the same are hidden, and one error says so', () => {
  const names = new NodeNames();
  const listed = [node('n1', 'fast'), node('n2', 'fast'), node('n3', 'slow'), node('n4')];
  assert.deepEqual(look(names, ...listed), ['fast hidden', 'fast hidden', 'slow', 'n4']);
  const words = 'they are not shown until each has a name of its own';
  assert.equal(names.problem, `rule call: n1, n2 would all be called fast; ${words}`);
  assert.equal(names.ownOf('fast'), 'fast', 'nobody has the name');
  assert.deepEqual(look(names, node('n1', 'fast'), node('n2')), ['fast', 'n2']);
  assert.equal(names.problem, null);
});

test('[G8] a node that would get a name that none can have is hidden, and an error says so', () => {
  const names = new NodeNames();
  assert.deepEqual(look(names, node('cluster-1', '-1'), node('n2')), ['-1 hidden', 'n2']);
  assert.match(names.problem ?? '', /^rule call: cluster-1 cannot be called -1, which is no node /);
});

test("[G8] the site's own names stay with their nodes: two cannot swap them", () => {
  const names = new NodeNames();
  const swapped = look(names, node('n1', 'n2'), node('n2', 'n1'), node('n3', 'n3'));
  assert.deepEqual(swapped, ['n2 hidden', 'n1 hidden', 'n3']);
  assert.match(names.problem ?? '', /n1 cannot be called n2, as another node is \(and 1 more\)/);
});

test('[G8] a name is not given on while tasks may be known by it', () => {
  const names = new NodeNames();
  look(names, node('n1', 'fast'), node('n2'));
  assert.deepEqual(look(names, node('n1'), node('n2', 'fast')), ['n1', 'fast hidden']);
  assert.match(names.problem ?? '', /n2 cannot be called fast, as n1 was; start the gateway again/);
  assert.equal(names.ownOf('fast'), 'n1');
  // The gateway after this one knows of tasks by what lies in the folder of a node.
  const next = new NodeNames();
  next.keep({ shown: 'fast', own: 'n1', hasTasks: true });
  assert.deepEqual(look(next, node('n1'), node('n2', 'fast')), ['n1', 'fast hidden']);
  const idle = new NodeNames();
  idle.keep({ shown: 'fast', own: 'n1', hasTasks: false });
  // The head may ask for a stopped node before the site has listed any.
  assert.equal(idle.ownOf('fast'), 'n1');
  assert.deepEqual(look(idle, node('n1'), node('n2', 'fast')), ['n1', 'fast']);
  assert.equal(idle.ownOf('fast'), 'n2');
});
