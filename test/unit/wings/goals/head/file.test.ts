// Goals of a file: what is written there is in force without a reload, whatever an editor does to
// write it.

import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { GoalFile } from '../../../../../src/wings/goals/bin/goal-file.ts';
import { followFile, readGoals } from '../../../../../src/wings/goals/bin/head.ts';
import type { GoalOptions } from '../../../../../src/wings/goals/head/world.ts';
import { VirtualClock } from '../../../kernel/agent/fake-world.ts';

const text = (cls: string) => `classes:\n  ${cls}:\n    goals: {health: {fact: fault, is: none}}\n`;

class World implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'weft-goals-'));
  readonly file = join(this.folder, 'goals.yaml');
  readonly said: string[] = [];
  options: GoalOptions;
  readonly goals: GoalFile;

  constructor() {
    writeFileSync(this.file, text('a'));
    const from = { kind: 'file', file: this.file } as const;
    this.options = readGoals({ from, everyMs: 5000, repairs: true, refreshMs: 1000 });
    const say = (_: unknown, words: string) => void this.said.push(words);
    const log = { debug: say, info: say, warn: say, error: say };
    this.goals = new GoalFile({ clock: new VirtualClock(), log }, this.file);
  }

  change(to: GoalOptions): void {
    this.options = to;
  }

  /** Names of the classes in force after as many looks. */
  async look(count = 2): Promise<string> {
    for (let look = 0; look < count; look += 1) await followFile(this.goals, this);
    return this.options.classes.map(({ name }) => name).join();
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}

test('[M23] a changed goal file is in force, written in place or replaced', async () => {
  using world = new World();
  assert.equal(await world.look(3), 'a');
  assert.deepEqual(world.said, [], 'nothing has changed');
  writeFileSync(world.file, text('b'));
  assert.equal(await world.look(1), 'a', 'somebody may be writing it');
  assert.equal(await world.look(1), 'b');
  writeFileSync(`${world.file}~`, text('c'));
  renameSync(`${world.file}~`, world.file);
  assert.equal(await world.look(), 'c');
  assert.deepEqual(world.said, Array(2).fill('the goals were read again'));
});

test('[M23] while a goal file cannot be read the goals before stay, and why is shown', async () => {
  using world = new World();
  await world.look();
  writeFileSync(world.file, 'rubbish: 1\n');
  assert.equal(await world.look(4), 'a');
  assert.match(world.goals.state?.problem ?? '', /rubbish/);
  rmSync(world.file);
  assert.equal(await world.look(), 'a');
  assert.match(world.goals.state?.problem ?? '', /cannot be read/);
  assert.equal(world.said.length, 2, 'each is said once');
  writeFileSync(world.file, text('a'));
  assert.equal(await world.look(), 'a');
  assert.equal(world.goals.state, null);
});

test('[M23] once a reload has left a goal file it changes nothing', async () => {
  using world = new World();
  writeFileSync(world.file, text('b'));
  await world.look(1);
  const left = { classes: [], everyMs: 0, repairs: false };
  world.options = left;
  await world.look();
  assert.deepEqual(world.options, left);
});
