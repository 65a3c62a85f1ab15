// A node that the site's health check finds ill: it gets no new work until the check passes.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { HealthAnswer } from '../../../src/ports/health.ts';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

const WELL: HealthAnswer = { isWell: true, words: '' };
const ILL: HealthAnswer = { isWell: false, words: 'sdb is failing' };
const ILL_WORDS = 'unhealthy: sdb is failing';

let world = new FakeWorld();

afterEach(async () => {
  await world.kill();
});

/** Answers one after the other; the last one again and again. */
function checking(...answers: HealthAnswer[]): () => number {
  let runs = 0;
  world = new FakeWorld();
  world.health = {
    run: () => {
      runs += 1;
      return Promise.resolve(answers[Math.min(runs, answers.length) - 1] as HealthAnswer);
    },
  };
  return () => runs;
}

test('[N17] a node that fails its check says why, starts nothing new, and takes work when it passes', async () => {
  const runs = checking(WELL, ILL, ILL, WELL);
  await world.start();
  assert.equal(world.head.fault, undefined);
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  await world.clock.advance(60_000);
  assert.deepEqual([runs(), world.head.fault], [2, ILL_WORDS]);
  world.head.order(launch(2, shell('x')));
  await world.clock.settle();
  const { cause, nodeFault, detail } = world.head.endOf(idOf(2)) ?? {};
  assert.deepEqual([cause, nodeFault, detail], ['never_started', false, ILL_WORDS]);
  assert.equal(world.head.endOf(idOf(1)), undefined, 'what runs goes on');
  await world.clock.advance(60_000);
  assert.equal(world.head.fault, ILL_WORDS);
  await world.clock.advance(60_000);
  assert.deepEqual([runs(), world.head.fault], [4, undefined]);
});

test('[N17] until the first check has passed the node gets no work', async () => {
  let pass: (answer: HealthAnswer) => void = () => undefined;
  checking();
  world.health = { run: () => new Promise((resolve) => (pass = resolve)) };
  await world.start();
  assert.equal(world.head.hellos[0]?.fault, 'not checked yet');
  pass(WELL);
  await world.clock.settle();
  assert.equal(world.head.fault, undefined);
});

test('a stopped agent checks no more', async () => {
  const runs = checking(WELL);
  await world.start();
  await world.kill();
  await world.clock.advance(600_000);
  assert.equal(runs(), 1);
});
