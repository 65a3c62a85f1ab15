// A state directory belongs to one living process, whoever races for it and however it ends.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { claim } from '../../../../src/kernel/os/claim.ts';

const RACES = 50;
const RACER = join(import.meta.dirname, 'support', 'racer.ts');

function directory(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'weft-claim-'));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

/** A process that claims what it is told of and answers with `won` or why not. */
class Racer {
  readonly child: ChildProcess = spawn(process.execPath, [RACER], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });

  async ask(word: string): Promise<string> {
    this.child.send(word);
    const [answer] = await once(this.child, 'message');
    return String(answer);
  }

  async end(): Promise<void> {
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null && this.child.signalCode === null) {
      await once(this.child, 'exit');
    }
  }
}

function racer(t: TestContext): Racer {
  const made = new Racer();
  t.after(() => made.end());
  return made;
}

test('of two processes that claim a directory at the same instant one gets it', async (t) => {
  const made = directory(t);
  const racers = [racer(t), racer(t)];
  await Promise.all(racers.map((one) => one.ask('ready')));
  for (let race = 0; race < RACES; race += 1) {
    // Every other race is for a directory that was claimed before.
    const path = join(made, `agent-${race >> 1}`);
    const answers = await Promise.all(racers.map((one) => one.ask(path)));
    const won = answers.filter((answer) => answer === 'won');
    assert.equal(won.length, 1, `race ${race}: ${answers.join(' / ')}`);
    assert.match(answers.find((answer) => answer !== 'won') ?? '', /^it already runs, as process/);
    await Promise.all(racers.map((one) => one.ask('release')));
  }
});

test('a claim names its holder, and ends with it however it ends', async (t) => {
  const path = join(directory(t), 'agent.pid');
  const holder = racer(t);
  assert.equal(await holder.ask(path), 'won');
  const words = new RegExp(`it already runs, as process ${holder.child.pid}$`);
  assert.throws(() => claim(path, 'it'), words);
  await holder.end();
  claim(path, 'it').release();
  claim(path, 'it').release();
});
