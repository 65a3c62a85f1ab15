// A node that the site's health check finds ill: it gets no new work until the check passes.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { CommandEnd } from '../../../../src/kernel/ports/commands.ts';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

const WELL = end(0, 'odd');
const ILL = end(1, 'sdb is failing');
const ILL_WORDS = 'unhealthy: sdb is failing';

let world = new FakeWorld();

afterEach(async () => {
  await world.kill();
});

function end(code: number, output: string): CommandEnd {
  const how = `exit code ${code}`;
  return { succeeded: code === 0, code, how, output, errors: '', isThere: () => false };
}

/** Answers one after the other; the last one again and again. */
function checking(...answers: CommandEnd[]): () => number {
  let runs = 0;
  world = new FakeWorld();
  world.commands = {
    run: () => {
      runs += 1;
      return Promise.resolve(answers[Math.min(runs, answers.length) - 1] as CommandEnd);
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
  let pass: (answer: CommandEnd) => void = () => undefined;
  checking();
  world.commands = { run: () => new Promise((resolve) => (pass = resolve)) };
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

test('[N17] the first line that says something is the reason, else how it ended', async () => {
  const said = [
    ['\n\u001b[1msdb is\tfailing\nmore', '[1msdb is failing'],
    ['', 'exit code 3'],
    ['x'.repeat(1000), 'x'.repeat(200)],
  ] as const;
  for (const [output, words] of said) {
    checking(end(3, output));
    await world.start();
    assert.equal(world.head.fault, `unhealthy: ${words}`);
    await world.kill();
  }
});

test('[N17] no check is run beside one of which something is left', async () => {
  let isThere = true;
  const runs = checking({ ...end(1, ''), how: 'it took too long', isThere: () => isThere }, WELL);
  await world.start();
  for (const _ of [1, 2, 3]) {
    await world.clock.advance(60_000);
    assert.equal(
      world.head.fault,
      'unhealthy: the previous health check still runs: it took too long',
    );
  }
  assert.equal(runs(), 1);
  isThere = false;
  await world.clock.advance(60_000);
  assert.deepEqual([runs(), world.head.fault], [2, undefined]);
});
