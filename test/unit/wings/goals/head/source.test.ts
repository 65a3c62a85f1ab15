// Goals from an HTTP address: the last good ones stay in force, also over a restart of the head.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { followSource } from '../../../../../src/wings/goals/bin/head.ts';
import { keptIn } from '../../../../../src/wings/goals/bin/kept-goals.ts';
import type { GoalClass } from '../../../../../src/wings/goals/core/goal.ts';
import { GoalSource } from '../../../../../src/wings/goals/head/source.ts';
import type { GoalOptions } from '../../../../../src/wings/goals/head/world.ts';
import { VirtualClock } from '../../../kernel/agent/fake-world.ts';

const ADDRESS = 'http://127.0.0.1/goals.yaml';

function classOf(name: string): GoalClass {
  return {
    name,
    nodes: null,
    labels: [],
    atOnce: 1,
    withinMs: 1,
    durationMs: 1,
    running: 'wait',
    restarts: false,
    goals: [],
  };
}

class World {
  readonly clock = new VirtualClock();
  said: string | Error = 'a';
  kept: { url: string; text: string; readAt: number } | null = null;
  reads = 0;

  source(url = ADDRESS): GoalSource {
    const reader = {
      read: () => {
        this.reads += 1;
        return this.said instanceof Error ? Promise.reject(this.said) : Promise.resolve(this.said);
      },
    };
    const kept = {
      load: () => this.kept,
      save: (said: { url: string; text: string }) => {
        this.kept = { ...said, readAt: this.clock.now() };
      },
    };
    const parse = (text: string): GoalClass[] => {
      if (text === 'rubbish') throw new Error('line 1: rubbish');
      return [classOf(text.split(' #')[0] ?? '')];
    };
    return new GoalSource({ reader, clock: this.clock, kept, parse }, url, 60_000);
  }
}

test('[M23] goals are read when they are due, and told when they have changed', async () => {
  const world = new World();
  const source = world.source();
  assert.deepEqual(source.start(), []);
  assert.equal(source.state.readAt, null);
  assert.deepEqual(
    (await source.look([]))?.map(({ name }) => name),
    ['a'],
  );
  assert.equal(await source.look([]), null);
  assert.equal(world.reads, 1, 'not before it is due');
  await world.clock.advance(60_000);
  world.said = 'a # with a comment';
  assert.equal(await source.look([classOf('a')]), null, 'they are the same');
  assert.equal(source.state.readAt, world.clock.now());
});

test('[M23] the last good goals are kept with their time, over failures and restarts', async () => {
  const world = new World();
  const source = world.source();
  await source.look([]);
  const readAt = world.clock.now();
  for (const said of [new Error('it answered with status 503'), 'rubbish']) {
    world.said = said;
    await world.clock.advance(60_000);
    assert.equal(await source.look([]), null);
    assert.equal(source.state.readAt, readAt);
    assert.match(source.state.problem ?? '', /503|rubbish/);
  }
  const next = world.source();
  assert.deepEqual(
    next.start().map(({ name }) => name),
    ['a'],
  );
  assert.deepEqual(next.state, { url: ADDRESS, readAt, problem: null });
});

test('[M23] goals kept of one address are none of another', async () => {
  const world = new World();
  await world.source('https://test.example.org/').look([]);
  assert.deepEqual(world.source().start(), []);
  assert.equal(world.source('https://test.example.org/').start().length, 1);
});

test('[M23] what is kept says of which address it is, and what does not say so is not used', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-kept-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'goals.kept');
  const kept = keptIn(file);
  assert.equal(kept.load(), null);
  kept.save({ url: ADDRESS, text: 'a' });
  assert.deepEqual(kept.load(), { url: ADDRESS, text: 'a', readAt: statSync(file).mtimeMs });
  assert.deepEqual(readdirSync(folder), ['goals.kept']);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  for (const [text, words] of [
    ['classes: {}', /what was kept of it: /],
    ['{"text": "a"}', /does not say which address/],
  ] as const) {
    writeFileSync(file, text);
    const world = { reader: { read: () => assert.fail() }, clock: new VirtualClock(), kept };
    const source = new GoalSource({ ...world, parse: () => [classOf('a')] }, ADDRESS, 1000);
    assert.deepEqual(source.start(), []);
    assert.match(source.state.problem ?? '', words);
  }
});

test('[M23] once a reload has left an address its goals change nothing, also those on their way', async () => {
  const world = new World();
  const source = world.source();
  let options: GoalOptions = { classes: [], everyMs: 5000, repairs: true, url: ADDRESS };
  const changes: GoalOptions[] = [];
  const keeper = {
    get options() {
      return options;
    },
    change: (to: GoalOptions) => {
      changes.push(to);
      options = to;
    },
  };
  await followSource(source, keeper);
  assert.deepEqual(changes, [{ ...options, classes: [classOf('a')] }]);
  const left = { classes: [], everyMs: 0, repairs: false };
  world.said = 'b';
  await world.clock.advance(60_000);
  const onItsWay = followSource(source, keeper);
  options = left;
  await onItsWay;
  await world.clock.advance(60_000);
  await followSource(source, keeper);
  assert.deepEqual([changes.length, world.reads, options], [1, 2, left]);
  // Back at it: what is in force then is none of its goals.
  options = { ...left, url: ADDRESS };
  await followSource(source, keeper);
  assert.deepEqual(changes.at(-1)?.classes, [classOf('b')]);
});

test('an address is shown without what only its server is to read', () => {
  const source = new World().source('https://x.org/goals.yaml?key=secret#part');
  assert.equal(source.state.url, 'https://x.org/goals.yaml');
});
