// Heads whose disk is put back, in the simulator: seeds that must pass, and bugs that must be found.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replaceMethod } from '../../../sim/canary.ts';
import { type RestoredBug, runRestored } from '../../../sim/restored/world.ts';
import { Engine } from '../../../src/agent/engine.ts';
import type { RunnerInput } from '../../../src/core/runner/inputs.ts';

const SEEDS = 12;

/** Agents that do not take some of their inputs. */
function deaf(isLost: (engine: Engine, input: RunnerInput) => boolean): RestoredBug {
  return {
    plant: () =>
      replaceMethod(Engine.prototype, 'step', (original) => {
        return function step(this: Engine, input: RunnerInput): void {
          if (!isLost(this, input)) original.call(this, input);
        };
      }),
  };
}

/** What they did before orders about what is over were answered. */
function isAboutFinished({ state }: Engine, input: RunnerInput): boolean {
  if (input.kind !== 'order' || !('epochId' in input.order)) return false;
  const { epochId } = input.order;
  return state.finished.has(epochId) || state.epochs.get(epochId)?.acknowledged === true;
}

const BUGS: Readonly<Record<string, RestoredBug>> = {
  'lives are not counted': { countsLives: false },
  'agents forget what they heard': deaf((_, input) => input.kind === 'stamp'),
  'agents are silent about what is over': deaf(isAboutFinished),
};

test('[S14] a head that was put back does no harm, and all that it knows ends', async () => {
  let lost = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const end = await runRestored(seed);
    assert.equal(end.violation, null, `seed ${seed}: ${end.violation?.message}`);
    lost += end.lost;
  }
  assert.ok(lost > SEEDS, 'the copies lack jobs');
});

for (const [name, bug] of Object.entries(BUGS)) {
  test(`[S13] [S14] planted, and found: ${name}`, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      if ((await runRestored(seed, bug)).violation !== null) return;
    }
    assert.fail(`not within ${SEEDS} seeds`);
  });
}
