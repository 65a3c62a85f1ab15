// The tools of drivers as they are run: stand-ins print what a scenario says, and the cards of a
// machine come of it.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { CardSource } from '../../src/wings/gpus/agent/card-source.ts';
import { inOrder, nodeGpus } from '../../src/wings/gpus/core/node-cards.ts';
import { EMPTY, watchCards } from '../../src/wings/gpus/core/watch.ts';
import { systemView } from '../../src/wings/gpus/os/machine-view.ts';

const TOOLS = path.join(import.meta.dirname, '..', 'support', 'gpu');
const RULES = { outsideBytesMin: 2 ** 30, freeAfterMs: 60_000 };

/** Each card as `label type state`, and what is remarked. */
async function seen(scenario: string): Promise<{ cards: string[]; remark: string | null }> {
  const before = process.env['PATH'];
  process.env['PATH'] = `${path.join(TOOLS, 'bin')}:${before}`;
  process.env['FAKE_GPUS'] = path.join(TOOLS, 'scenarios', `${scenario}.json`);
  try {
    const answers = await new CardSource(systemView()).look();
    const look = {
      answers,
      owners: new Map([[1, { user: 'root', isOurs: false }]]),
      given: new Set<string>(),
      holders: new Map(),
      isContained: false,
      now: { at: 0, monotonic: 0 },
    };
    const machine = watchCards(EMPTY, look, RULES);
    const uuids = inOrder(machine).map(({ uuid }) => uuid);
    const { cards, remark } = nodeGpus({ uuids, count: null }, machine, RULES, {
      before: null,
      at: 0,
    });
    return {
      cards: cards.map(({ index, label, type, state, why }) => {
        return `${label ?? index} ${type} ${why ?? state}`;
      }),
      remark,
    };
  } finally {
    process.env['PATH'] = before;
    delete process.env['FAKE_GPUS'];
  }
}

test('[V1] cards of unlike types are found, and a compositor keeps nobody out', async () => {
  assert.deepEqual(await seen('workstation'), {
    cards: ['0 rtx4090 free', '1 rtx3090 free', '2 a6000 free'],
    remark: null,
  });
});

test('[V3, V5] an old driver is asked for what it knows, and says which page is pending', async () => {
  assert.deepEqual(await seen('old-driver'), {
    cards: ['0 v100-32g ill: a memory page is retired at the next reset', '1 v100-32g free'],
    remark: null,
  });
});

test('[V1, V2] slices are cards of their own, and a process is on its slice', async () => {
  const used = 'used outside Weft by root (solver, 6.8G, since 1970-01-01T00:00:00Z)';
  assert.deepEqual(await seen('slices'), {
    cards: ['0:0 a100-3g.40g free', `0:1 a100-1g.10g ${used}`, '1 a100-80g free'],
    remark: null,
  });
});

test('[V1, V2] cards of two makers in one machine are told apart', async () => {
  const used = 'used outside Weft by root (ollama, 8.7G, since 1970-01-01T00:00:00Z)';
  assert.deepEqual(await seen('two-makers'), {
    cards: ['nvidia:0 l40s free', `amd:0 mi210 ${used}`],
    remark: null,
  });
});

test('[V3] one lost card leaves the others, and is remarked by its address', async () => {
  assert.deepEqual(await seen('lost'), {
    cards: ['0 h100-80g free', '2 h100-80g ill: GPU requires reset; recovery action: Reset'],
    remark: 'nvidia: the card at 0000:1b:00.0: GPU is lost.  Reboot the system to recover this GPU',
  });
});

test('[V5] a driver that does not work and a tool that talks nonsense are remarked', async () => {
  const mismatch = await seen('mismatch');
  assert.deepEqual(mismatch.cards, []);
  assert.match(mismatch.remark ?? '', /^nvidia: Failed to initialize NVML: Driver\/library/);
  const garbage = await seen('garbage');
  assert.deepEqual(garbage.cards, []);
  assert.match(garbage.remark ?? '', /nvidia-smi \(exit code 0\) says: \?\? \.\.\. , GPU-, 12/);
});
