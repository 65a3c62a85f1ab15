// What a check makes of its canaries: each is to be found, and by its own rule where it has one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Count, runPart } from '../../../sim/check.ts';
import { familyOf, type RunEnd } from '../../../sim/family.ts';
import { type Rule, Violation } from '../../../sim/violation.ts';

const end = (seed: number, rule: Rule | null): RunEnd => {
  const violation = rule === null ? null : new Violation(rule, 'planted');
  return { seed, weather: {}, hash: '', virtualMs: 0, violation };
};

async function checked(found: Rule | null, rule?: string): Promise<[number, string[]]> {
  const lines: string[] = [];
  const family = familyOf({
    name: 'made-up',
    word: 'seed',
    run: ({ seed }) => end(seed, found),
    sizes: [],
    pinned: [],
    canaries: [{ name: 'bug', sentence: 'it is wrong', ...(rule === undefined ? {} : { rule }) }],
    canarySeeds: {},
    measures: { freshSeeds: 0, freshMs: 0, twiceSeeds: 0, canarySeedsMax: 2 },
  });
  const count = new Count((line) => lines.push(line));
  const part = { family: 'made-up', kind: 'canary', at: 0 } as const;
  await runPart([family], part, { from: 1, count });
  return [count.failed, lines];
}

test('a canary is found by its own rule, or by any where it has none', async () => {
  assert.deepEqual((await checked('X1', 'X1'))[0], 0);
  assert.deepEqual((await checked('X1'))[0], 0);
  assert.deepEqual(await checked('X2', 'X1'), [1, ['canary bug is found by X2, not X1']]);
  const [failed, lines] = await checked(null);
  assert.equal(failed, 1);
  assert.match(lines.join(), /bug \(it is wrong\) is not found by 2 seeds/);
});
