// Goals from an HTTP address: the last good ones stay in force, also over a restart of the head.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GoalClass } from '../../../../src/core/goals/goal.ts';
import { GoalSource } from '../../../../src/head/goals/source.ts';
import { VirtualClock } from '../../agent/fake-world.ts';

const URL = 'http://127.0.0.1/goals.yaml';

function classOf(name: string): GoalClass {
  return {
    ...{ name, nodes: null, labels: [], atOnce: 1, withinMs: 1, durationMs: 1 },
    ...{ running: 'wait', restarts: false, goals: [] },
  };
}

class World {
  readonly clock = new VirtualClock();
  said: string | Error = 'a';
  kept: { text: string; readAt: number } | null = null;
  reads = 0;

  source(): GoalSource {
    const reader = {
      read: () => {
        this.reads += 1;
        return this.said instanceof Error ? Promise.reject(this.said) : Promise.resolve(this.said);
      },
    };
    const kept = {
      load: () => this.kept,
      save: (text: string) => {
        this.kept = { text, readAt: this.clock.now() };
      },
    };
    const parse = (text: string): GoalClass[] => {
      if (text === 'rubbish') throw new Error('line 1: rubbish');
      return [classOf(text)];
    };
    return new GoalSource({ reader, clock: this.clock, kept, parse }, URL, 60_000);
  }
}

test('[M23] goals are read when they are due, and told when they have changed', async () => {
  const world = new World();
  const source = world.source();
  assert.deepEqual(source.start(), []);
  assert.equal(source.state.readAt, null);
  assert.deepEqual(
    (await source.look())?.map(({ name }) => name),
    ['a'],
  );
  assert.equal(await source.look(), null);
  assert.equal(world.reads, 1, 'not before it is due');
  await world.clock.advance(60_000);
  assert.equal(await source.look(), null, 'they are the same');
  assert.equal(source.state.readAt, world.clock.now());
});

test('[M23] the last good goals are kept with their time, over failures and restarts', async () => {
  const world = new World();
  const source = world.source();
  await source.look();
  const readAt = world.clock.now();
  for (const said of [new Error('it answered with status 503'), 'rubbish']) {
    world.said = said;
    await world.clock.advance(60_000);
    assert.equal(await source.look(), null);
    assert.equal(source.state.readAt, readAt);
    assert.match(source.state.problem ?? '', /503|rubbish/);
  }
  const next = world.source();
  assert.deepEqual(
    next.start().map(({ name }) => name),
    ['a'],
  );
  assert.deepEqual(next.state, { url: URL, readAt, problem: null });
});
