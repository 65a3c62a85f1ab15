// The simulator's runs about calls: fresh seeds, some twice, and the planted bugs.

import { CALL_CANARIES } from './canaries.ts';
import type { CallCanary } from './canary.ts';
import { PINNED_CALLS } from './seeds.ts';
import { type CallRunResult, runCallSeed } from './world.ts';

/** Fresh seeds of a check: so many, or as many as there is time for. */
const FRESH_SEEDS = 300;
const FRESH_MS = 15_000;
const TWICE_SEEDS = 5;
/** A canary is looked for among this many. */
const CANARY_SEEDS_MAX = 100;

interface Count {
  pass(): void;
  fail(words: string, exitCode: number): void;
}

/** Up to so many seeds, as long as there is time. */
export function runCallSeeds(
  count: Count,
  of: { readonly from: number; readonly seeds: number; readonly ms: number },
): void {
  const startedAt = performance.now();
  let seed = of.from;
  let calls = 0;
  while (seed < of.from + of.seeds && performance.now() - startedAt < of.ms) {
    calls += tell(count, runCallSeed({ seed })).calls;
    seed += 1;
  }
  console.log(`${seed - of.from} seeds about calls from ${of.from}: ${calls} calls`);
}

function tell(count: Count, result: CallRunResult, why = ''): CallRunResult {
  const { seed, violation } = result;
  if (violation === null) count.pass();
  else {
    const words = `calls ${seed}${why}: ${violation.rule}: ${violation.message}`;
    count.fail(`${words}\n  see it: npm run sim -- call ${seed} --trace`, violation.exitCode);
  }
  return result;
}

/** One seed, and with a trace everything that happened. */
export function showCallSeed(count: Count, seed: number, isTraced: boolean): void {
  const trace = isTraced ? (line: string) => console.log(line) : undefined;
  const result = tell(count, runCallSeed({ seed, trace }));
  const { weather, violation, calls, virtualMs, hash } = result;
  console.log(JSON.stringify(weather, null, 2));
  if (violation !== null) console.log(violation.cause ?? violation);
  console.log(`calls ${seed}: ${calls} calls, ${virtualMs} ms, hash ${hash}`);
}

export function runCallCanaries(count: Count): void {
  for (const canary of CALL_CANARIES) {
    const found = find(canary);
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

function find(canary: CallCanary): CallRunResult | null {
  for (let seed = 1; seed <= CANARY_SEEDS_MAX; seed += 1) {
    const result = runCallSeed({ seed, canary });
    if (result.violation !== null) return result;
  }
  return null;
}

export function checkCalls(count: Count, from: number): void {
  for (const { seed, broke } of PINNED_CALLS) {
    tell(count, runCallSeed({ seed }), ` (once: ${broke})`);
  }
  for (let seed = from; seed < from + TWICE_SEEDS; seed += 1) {
    const [first, second] = [runCallSeed({ seed }), runCallSeed({ seed })];
    if (first.hash === second.hash) count.pass();
    else count.fail(`calls ${seed} is not the same twice: ${first.hash}, ${second.hash}`, 127);
  }
  runCallSeeds(count, { from, seeds: FRESH_SEEDS, ms: FRESH_MS });
}
