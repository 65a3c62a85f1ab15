// The simulator's runs about other clusters: fresh seeds, some twice, and the planted bugs.

import { FOREIGN_CANARIES } from './canaries.ts';
import type { ForeignCanary } from './canary.ts';
import { FOREIGN_CANARY_SEEDS, PINNED_FOREIGN } from './seeds.ts';
import { type ForeignRunResult, runForeignSeed } from './world.ts';

/** What came when the pinned seeds were there already. */
const BEFORE = { maintMs: null };
/** Fresh seeds of a check: so many, or as many as there is time for. */
const FRESH_SEEDS = 300;
const FRESH_MS = 12_000;
const TWICE_SEEDS = 3;
/** A canary that its own seed no longer finds is looked for among this many. */
const CANARY_SEEDS_MAX = 60;

interface Count {
  pass(): void;
  fail(words: string, exitCode: number): void;
}

/** Up to so many seeds, as long as there is time. */
export async function runForeignSeeds(
  count: Count,
  of: { readonly from: number; readonly seeds: number; readonly ms: number },
): Promise<void> {
  const startedAt = performance.now();
  let [seed, jobs, virtualMs] = [of.from, 0, 0];
  while (seed < of.from + of.seeds && performance.now() - startedAt < of.ms) {
    const result = tell(count, await runForeignSeed({ seed }));
    jobs += result.jobs;
    virtualMs += result.virtualMs;
    seed += 1;
  }
  const hours = (virtualMs / 3_600_000).toFixed(1);
  const seeds = `${seed - of.from} seeds about other clusters from ${of.from}`;
  console.log(`${seeds}: ${hours} virtual hours, ${jobs} jobs`);
}

function tell(count: Count, result: ForeignRunResult, why = ''): ForeignRunResult {
  const { seed, violation } = result;
  if (violation === null) count.pass();
  else {
    const words = `foreign ${seed}${why}: ${violation.rule}: ${violation.message}`;
    count.fail(`${words}\n  see it: npm run sim -- site ${seed} --trace`, violation.exitCode);
  }
  return result;
}

/** One seed, and with a trace everything that happened. */
export async function showForeignSeed(
  count: Count,
  seed: number,
  isTraced: boolean,
): Promise<void> {
  const trace = isTraced ? (line: string) => console.log(line) : undefined;
  const result = tell(count, await runForeignSeed({ seed, trace }));
  const { weather, violation, jobs, virtualMs, hash } = result;
  console.log(JSON.stringify(weather, null, 2));
  if (violation !== null) console.log(violation.cause ?? violation);
  console.log(`foreign ${seed}: ${jobs} jobs, ${virtualMs} ms, hash ${hash}`);
}

export async function runForeignCanaries(count: Count): Promise<void> {
  for (const canary of FOREIGN_CANARIES) {
    const found = await find(canary);
    if (found === null) {
      const words = `canary ${canary.name} (${canary.sentence}) is not found`;
      count.fail(`${words} by ${CANARY_SEEDS_MAX} seeds`, 129);
      continue;
    }
    count.pass();
    const seed = String(found.seed).padStart(4);
    console.log(`  ${canary.name.padEnd(28)} seed ${seed}  ${found.violation?.rule}`);
  }
}

async function find(canary: ForeignCanary): Promise<ForeignRunResult | null> {
  const own = FOREIGN_CANARY_SEEDS[canary.name] ?? 1;
  for (let at = 0; at <= CANARY_SEEDS_MAX; at += 1) {
    const result = await runForeignSeed({ seed: at === 0 ? own : at, canary });
    if (result.violation !== null) return result;
  }
  return null;
}

export async function checkForeign(count: Count, from: number): Promise<void> {
  for (const { seed, broke } of PINNED_FOREIGN) {
    tell(count, await runForeignSeed({ seed, weather: BEFORE }), ` (once: ${broke})`);
  }
  for (let seed = from; seed < from + TWICE_SEEDS; seed += 1) {
    const [first, second] = [await runForeignSeed({ seed }), await runForeignSeed({ seed })];
    if (first.hash === second.hash) count.pass();
    else count.fail(`foreign ${seed} is not the same twice: ${first.hash}, ${second.hash}`, 127);
  }
  await runForeignSeeds(count, { from, seeds: FRESH_SEEDS, ms: FRESH_MS });
}
