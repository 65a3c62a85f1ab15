// The head notices that somebody has set the wall clock, and takes a machine that slept for that.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepWords } from '../../../../src/kernel/head/clock-watch.ts';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { EngineBench } from '../../../support/engine.ts';

const DAY = 24 * 3_600_000;

/** A wall clock that can be set; the machine's own count goes on, also while it sleeps. */
class Machine {
  readonly bench = new EngineBench();
  setMs = 0;

  constructor() {
    const { clock } = this.bench;
    const bootedAt = clock.at - DAY;
    const now = clock.now.bind(clock);
    clock.now = () => now() + this.setMs;
    this.bench.more = {
      bootClock: { boot: 'b1', sinceMs: () => clock.at + clock.sleptMs - bootedAt },
    };
  }

  elapsedMs(): number {
    const { clock, engine } = this.bench;
    const task = engine.state.jobs.get(1 as JobId)?.active.get(0);
    return clock.now() - (task?.startedAt ?? 0);
  }

  steps(): number[] {
    return this.bench.engine.state.clockSteps.map(({ byMs }) => byMs);
  }

  async tick(): Promise<void> {
    this.bench.perform('tick', { kind: 'tick' });
    await this.bench.settle();
  }
}

async function running(): Promise<Machine> {
  const machine = new Machine();
  const { bench } = machine;
  await bench.start();
  await bench.connect('n1');
  bench.submit('j1');
  await bench.settle();
  const session = bench.engine.state.nodes.get('n1' as NodeName)?.session ?? 0;
  const started = { kind: 'task_started', epochId: '1#1', at: bench.clock.now(), limits: 'none' };
  const report = { kind: 'report', node: 'n1', session, report: started } as never;
  bench.perform('started', report);
  // The record of a start waits a moment for others.
  bench.clock.pass(1000);
  bench.clock.at -= 1000;
  await bench.settle();
  return machine;
}

test('[H1] a clock that is set counts for nothing, a machine that sleeps does', async () => {
  const machine = await running();
  const { bench } = machine;
  bench.clock.at += 5000;
  machine.setMs += DAY;
  await machine.tick();
  assert.equal(machine.elapsedMs(), 5000);
  bench.clock.sleptMs += 3_600_000;
  await machine.tick();
  assert.equal(machine.elapsedMs(), 3_605_000);
  machine.setMs -= DAY;
  await machine.tick();
  assert.equal(machine.elapsedMs(), 3_605_000);
  assert.deepEqual(machine.steps(), [DAY, -DAY]);
});

test('[H1] a head is up as long as it is, however its clock is set and its machine sleeps', async () => {
  const machine = await running();
  const { bench } = machine;
  const { clock } = bench;
  const upMs = () => clock.now() - bench.engine.startedAt;
  const before = upMs();
  clock.at += 5000;
  machine.setMs -= 400 * DAY;
  assert.equal(upMs() - before, 5000);
  clock.sleptMs += 3_600_000;
  machine.setMs += 800 * DAY;
  assert.equal(upMs() - before, 3_605_000);
});

test('[H1] what was set while the head was down is noticed at its start', async () => {
  const machine = await running();
  const { bench } = machine;
  bench.clock.at += 5000;
  machine.setMs -= DAY;
  await bench.crash();
  assert.equal(machine.elapsedMs(), 5000);
  assert.deepEqual(machine.steps(), [-DAY]);
  bench.clock.sleptMs += 1000;
  await bench.crash();
  assert.deepEqual(machine.steps(), [-DAY], 'and once only');
});

test('[H3] how the clock was set is said in one line', () => {
  assert.equal(stepWords({ byMs: DAY + 400 }), "the head's clock was set forward by 1d");
  assert.equal(stepWords({ byMs: -90_000 }), "the head's clock was set back by 1m30s");
});
