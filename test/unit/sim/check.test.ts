// What a check makes of its canaries: each is to be found, and by its own rule where it has one.
// And of its fresh seeds: none runs more often than it has to.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Count, partsOf, runPart } from '../../../sim/check.ts';
import { familyOf, type RunEnd } from '../../../sim/family.ts';
import { type Rule, Violation } from '../../../sim/violation.ts';

const end = (seed: number, rule: Rule | null): RunEnd => {
  const violation = rule === null ? null : new Violation(rule, 'planted');
  return { seed, weather: {}, hash: '', virtualMs: 0, violation };
};

const MEASURES = { freshSeeds: 0, freshMs: 0, twiceSeeds: 0, canarySeedsMax: 0 };

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
    measures: { ...MEASURES, canarySeedsMax: 2 },
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

/** The seeds that a check runs of a family, in order, and what it says of them. */
async function fresh(run: (seed: number) => RunEnd): Promise<[number[], string[]]> {
  const seeds: number[] = [];
  const family = familyOf({
    name: 'made-up',
    word: 'seed',
    run: ({ seed }) => {
      seeds.push(seed);
      return run(seed);
    },
    sizes: [],
    pinned: [],
    canaries: [],
    canarySeeds: {},
    measures: { ...MEASURES, freshSeeds: 3, freshMs: 60_000, twiceSeeds: 2 },
  });
  const lines: string[] = [];
  const count = new Count((line) => lines.push(line));
  for (const part of partsOf([family])) await runPart([family], part, { from: 7, count });
  return [seeds.sort((one, other) => one - other), lines.filter((line) => !/virtual/.test(line))];
}

test('the first fresh seeds run twice, and those after them once', async () => {
  assert.deepEqual(await fresh((seed) => end(seed, null)), [[7, 7, 8, 8, 9, 10, 11], []]);
});

test('what a seed that runs twice breaks is told like that of any other', async () => {
  const [, lines] = await fresh((seed) => end(seed, seed === 8 || seed === 10 ? 'S1' : null));
  assert.deepEqual(lines.map((line) => line.split('\n')[0]).sort(), [
    'made-up 10: S1: planted',
    'made-up 8: S1: planted',
  ]);
});

test('a seed is to be the same twice', async () => {
  let runs = 0;
  const [, lines] = await fresh((seed) => ({
    ...end(seed, null),
    hash: seed === 8 ? `${runs++}` : '',
  }));
  assert.deepEqual(lines, ['made-up 8 is not the same twice: 0, 1']);
});
