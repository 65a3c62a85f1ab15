// What the owner's file says reaches the head, at once and when it changes; what runs goes on.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { localTime } from '../../../../../src/kernel/os/local-time.ts';
import { ownerPart } from '../../../../../src/wings/owner/agent/part.ts';
import { parseOwnerRules } from '../../../../../src/wings/owner/config/owner-file.ts';
import type { OwnerFile } from '../../../../../src/wings/owner/model/owner-file.ts';
import { FakeWorld } from '../../../kernel/agent/fake-world.ts';
import { idOf, launch, shell } from '../../../kernel/agent/orders.ts';

let world = new FakeWorld();
let text: string | null = null;

afterEach(async () => {
  await world.kill();
});

function read(): OwnerFile {
  if (text === null) return { rules: null, problem: null };
  const parsed = parseOwnerRules(text, 'owner.yaml');
  return parsed.ok
    ? { rules: parsed.value, problem: null }
    : { rules: null, problem: parsed.error };
}

async function started(said: string | null): Promise<void> {
  text = said;
  world = new FakeWorld();
  const detectors = { look: () => [], close: () => undefined };
  const times = { resumeAfterMs: 1000, vacateAfterMs: null };
  const over = () => ({
    rules: { idleBelowMs: null, sessions: false, loadAbove: null, hours: null, ...times },
    detectors,
    localTime,
  });
  world.parts = [ownerPart({ yielding: null, rules: { read, over } })];
  await world.start();
  await world.clock.settle();
}

const said = () => {
  const { resources, facts, fault } = world.head.hellos.at(-1) ?? {};
  return { cpus: resources?.cpuCount, users: facts?.takesFrom, fault };
};

test('[O10] the first word of the node has what its owner keeps, and of whom it takes jobs', async () => {
  await started(null);
  const { cpus = 0 } = said();
  await world.kill();
  await started('users: ann\ncpus: 1\n');
  assert.deepEqual(said(), { cpus: cpus - 1, users: ['ann'], fault: undefined });
});

test('[O10] a file that changes is followed within seconds, and what runs goes on', async () => {
  await started(null);
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  text = 'users: ann\n';
  await world.clock.advance(15_000);
  assert.deepEqual(said().users, ['ann']);
  text = null;
  await world.clock.advance(15_000);
  assert.equal(said().users, undefined);
  assert.equal(world.head.hellos.length, 3);
  assert.equal(world.head.endOf(idOf(1)), undefined);
});

test('[O11] while the file cannot be followed the node takes nothing new, and says why', async () => {
  await started('users: ann\n');
  text = 'users: \n';
  await world.clock.advance(15_000);
  assert.match(said().fault ?? '', /^owner's file: owner.yaml:1: users: name somebody/);
  world.head.order(launch(1, shell('x')));
  await world.clock.advance(1000);
  assert.equal(world.head.endOf(idOf(1))?.cause, 'never_started');
  text = 'users: ben\n';
  await world.clock.advance(15_000);
  assert.deepEqual([said().users, said().fault], [['ben'], undefined]);
});

test('[O10] a file that is empty or away for one look changes nothing', async () => {
  await started('users: ann\n');
  const { length } = world.head.hellos;
  for (const gone of ['', null]) {
    text = gone;
    await world.clock.advance(5_000);
    text = 'users: ann\n';
    await world.clock.advance(15_000);
  }
  assert.equal(world.head.hellos.length, length);
});
