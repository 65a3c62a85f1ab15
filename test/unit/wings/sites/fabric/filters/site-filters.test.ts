// A site as its filters have it: rules over nodes, jobs and queues, with labels from sources.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type FilterRule,
  type FilterSource,
  ruleWarning,
  type SiteFilters,
} from '../../../../../../src/kernel/model/filter-rule.ts';
import type { SiteJob, SiteNode, SiteQueue } from '../../../../../../src/kernel/model/site.ts';
import { Filters } from '../../../../../../src/wings/sites/fabric/filters/site-filters.ts';
import { parseLabelData } from '../../../../../../src/wings/sites/fabric/filters/sources.ts';
import { PLAIN_SITE_NODE } from '../../../../../support/plain.ts';
import { VirtualClock } from '../../../../kernel/agent/fake-world.ts';

function rule(name: string, more: Partial<FilterRule> = {}): FilterRule {
  return { name, over: 'nodes', when: [], hide: false, add: [], queue: null, ...more };
}

const MONITORING: FilterSource = {
  name: 'monitoring',
  from: { kind: 'url', url: 'http://127.0.0.1/' },
  everyMs: 60_000,
  timeoutMs: 1000,
};

function node(name: string, more: Partial<SiteNode> = {}): SiteNode {
  return {
    ...PLAIN_SITE_NODE,
    name,
    ...more,
  };
}

const queue = (name: string): SiteQueue => {
  return { name, isOpen: true, isStarted: true, walltimeMaxMs: null, nodes: [] };
};

class World {
  readonly clock = new VirtualClock();
  written: SiteFilters | Error;
  said: string | Error = '{}';
  reads = 0;
  readonly filters: Filters;

  constructor(written: SiteFilters | Error) {
    this.written = written;
    this.filters = new Filters({
      clock: this.clock,
      reader: {
        read: () => {
          this.reads += 1;
          return this.said instanceof Error
            ? Promise.reject(this.said)
            : Promise.resolve(this.said);
        },
      },
      load: () => {
        if (this.written instanceof Error) throw this.written;
        return this.written;
      },
    });
  }
}

test('[G8] rules see what the site says of a node, and what a source does', async () => {
  const rules = [
    rule('hot', { data: 'monitoring', when: ['temp=hot'] }),
    rule('no-hot', { when: ['temp=hot & !queue=urgent'], hide: true }),
  ];
  const world = new World({ rules, sources: [MONITORING] });
  world.said = '{"n1": {"temp": "hot"}, "n2": ["temp=hot"], "n3": ["temp=cold"]}';
  await world.filters.look();
  assert.equal(world.filters.node(node('n1'))?.hiddenBy, 'no-hot');
  const kept = world.filters.node(node('n2', { queues: ['urgent'] }));
  assert.deepEqual([kept?.hiddenBy, kept?.labels], [null, ['temp=hot']]);
  assert.equal(world.filters.node(node('n3')), null);
});

test('[G8] the last good reading of a source is kept, with its age', async () => {
  const rules = [rule('data', { data: 'monitoring' })];
  const world = new World({ rules, sources: [MONITORING] });
  world.said = '{"n1": ["gpu"]}';
  await world.filters.look();
  await world.clock.advance(59_000);
  await world.filters.look();
  assert.equal(world.reads, 1, 'not before it is due');
  world.said = new Error('it answered with status 503');
  await world.clock.advance(1000);
  await world.filters.look();
  assert.deepEqual(world.filters.node(node('n1'))?.labels, ['gpu']);
  const listed = { nodes: [node('n1')], jobs: [], queues: [] };
  assert.deepEqual(world.filters.state(listed).sources, [
    { name: 'monitoring', ageMs: 60_000, problem: 'it answered with status 503' },
  ]);
  world.said = '{"n1": ["gpu", 7]}';
  await world.clock.advance(60_000);
  await world.filters.look();
  assert.match(world.filters.state(listed).sources[0]?.problem ?? '', /n1 has no label in 7/);
  assert.deepEqual(world.filters.node(node('n1'))?.labels, ['gpu']);
});

test('[G8] a change of the file counts at once, and one that cannot be read changes nothing', async () => {
  const world = new World({ rules: [rule('all', { hide: true })], sources: [] });
  await world.filters.look();
  assert.equal(world.filters.node(node('n1'))?.hiddenBy, 'all');
  world.written = new Error('filters.yaml:1:1: rules: no');
  await world.filters.look();
  assert.equal(world.filters.node(node('n1'))?.hiddenBy, 'all');
  const listed = { nodes: [], jobs: [], queues: [] };
  assert.equal(world.filters.state(listed).problem, 'filters.yaml:1:1: rules: no');
  world.written = { rules: [], sources: [] };
  await world.filters.look();
  assert.equal(world.filters.node(node('n1')), null);
  assert.equal(world.filters.state(listed).problem, null);
});

test('[G8] what is hidden is not known before the file, and what hiding needs, were read once', async () => {
  const world = new World(new Error('no such file'));
  assert.match(world.filters.unread ?? '', /not yet/);
  await world.filters.look();
  assert.equal(world.filters.unread, 'its filters cannot be read: no such file');
  world.said = new Error('it answered with status 503');
  const brings = rule('temp', { data: 'monitoring' });
  const hides = rule('hot', { when: ['temp=hot'], hide: true });
  world.written = { rules: [brings, hides], sources: [MONITORING] };
  await world.filters.look();
  assert.match(world.filters.unread ?? '', /^source monitoring, .* never read: .* 503$/);
  // One that only gives labels holds up nothing.
  for (const rules of [[brings], [hides, brings], [brings, { ...hides, over: 'jobs' as const }]]) {
    world.written = { rules, sources: [MONITORING] };
    await world.filters.look();
    assert.equal(world.filters.unread, null);
  }
  world.written = { rules: [{ ...hides, data: 'monitoring' }], sources: [MONITORING] };
  await world.filters.look();
  assert.match(world.filters.unread ?? '', /^source monitoring/);
  world.said = '{"n1": ["temp=hot"]}';
  // Its site waits for it: it is asked again before it is due.
  await world.clock.advance(10_000);
  await world.filters.look();
  assert.equal(world.filters.unread, null);
  world.said = new Error('it answered with status 503');
  await world.clock.advance(60_000);
  await world.filters.look();
  assert.equal(world.filters.unread, null, 'what it said last is in force');
});

test('[G8] queues have other names, and jobs other queues and partitions', async () => {
  const job = { owner: 'ann', name: 'work', state: 'waiting', queue: 'batch', id: '7' } as SiteJob;
  const rules = [
    rule('main', { over: 'queues', when: ['queue=batch'], rename: { from: '*', to: 'main' } }),
    rule('debug', { over: 'queues', when: ['queue=debug'], hide: true }),
    rule('ann', {
      over: 'jobs',
      when: ['user=ann'],
      partition: 'big',
      queue: 'main',
      add: ['gpu'],
    }),
  ];
  const { filters } = new World({ rules, sources: [] });
  await filters.look();
  assert.deepEqual(
    ['batch', 'debug', 'x'].map((one) => filters.queueName(one)),
    ['main', null, 'x'],
  );
  const seen = filters.job(job);
  assert.deepEqual([seen?.partition, seen?.queue, seen?.labels], ['big', 'main', ['gpu']]);
  assert.equal(filters.job({ ...job, owner: 'eve' }), null);
});

test('[G9] a rule that matches nothing, or everything, is suspicious', async () => {
  const rules = [
    rule('none', { when: ['old'] }),
    rule('all', { add: ['x'] }),
    rule('some', { when: ['node=n1'] }),
    rule('queue', { over: 'queues' }),
    rule('jobs', { over: 'jobs' }),
  ];
  const { filters } = new World({ rules, sources: [] });
  await filters.look();
  const listed = { nodes: [node('n1'), node('n2')], jobs: [], queues: [queue('batch')] };
  assert.deepEqual(filters.state(listed).rules.map(ruleWarning), [
    'matches none of 2 nodes',
    'matches all 2 nodes',
    null,
    null,
    null,
  ]);
});

test('data of a source is labels by name, or is refused whole', () => {
  const read = parseLabelData(
    '{"n1": {"rack": 3, "gpu": true, "old": false, "x": null}, "n2": []}',
  );
  assert.deepEqual(
    [...read],
    [
      ['n1', ['rack=3', 'gpu']],
      ['n2', []],
    ],
  );
  for (const [text, words] of [
    ['<html>', /no JSON/],
    ['[]', /no object of names/],
    ['{"n1": "gpu"}', /n1 is neither a list nor an object/],
    ['{"n1": ["a b"]}', /n1 has no label in "a b"/],
  ] as const) {
    assert.throws(() => parseLabelData(text), words);
  }
});
