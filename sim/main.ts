// The simulator's command line.
//   check [--from S]            pinned seeds, canaries, seeds twice, fresh seeds: what CI runs
//   [--seeds N] [--from S]      N fresh seeds
//   seed S [--trace]            one seed: its weather, and with --trace everything that happened
//   twice N [--from S]          N seeds, each run twice, must be the same to the last message
//   canaries                    every planted bug must be found
//   calls [--seeds N] [--from S]  N fresh seeds about calls of functions
//   call S [--trace]            one of them
//   sites [--seeds N] [--from S]  N fresh seeds about other clusters
//   site S [--trace]            one of them
// The last line counts. Exit code: 0, or that of the last failure: 127 crash, 128 liveness, 129
// safety.

import { parseArgs } from 'node:util';
import { checkCalls, runCallCanaries, runCallSeeds, showCallSeed } from './calls/main.ts';
import { CANARIES } from './canaries.ts';
import type { Canary } from './canary.ts';
import {
  checkForeign,
  runForeignCanaries,
  runForeignSeeds,
  showForeignSeed,
} from './foreign/main.ts';
import { type RunResult, runSeed } from './run.ts';
import { CANARY_SEEDS, PINNED } from './seeds.ts';
import type { Weather } from './weather.ts';

/** Fresh seeds of a check: so many, or as many as there is time for. */
const FRESH_SEEDS = 500;
const FRESH_MS = 35_000;
const TWICE_SEEDS = 10;
/** A canary that its own seed no longer finds is looked for among this many. */
const CANARY_SEEDS_MAX = 200;

class Count {
  passed = 0;
  failed = 0;
  exitCode = 0;

  pass(): void {
    this.passed += 1;
  }

  fail(words: string, exitCode: number): void {
    this.failed += 1;
    this.exitCode = exitCode;
    console.log(words);
  }
}

async function runOne(
  count: Count,
  seed: number,
  { why = '', weather }: { readonly why?: string; readonly weather?: Partial<Weather> } = {},
): Promise<RunResult> {
  const result = await runSeed({ seed, weather });
  const { violation } = result;
  if (violation === null) count.pass();
  else {
    const words = `seed ${seed}${why}: ${violation.rule}: ${violation.message}`;
    count.fail(`${words}\n  see it: npm run sim -- seed ${seed} --trace`, violation.exitCode);
  }
  return result;
}

async function runFresh(count: Count, of: { from: number; seeds: number; ms: number }) {
  const startedAt = performance.now();
  let virtualMs = 0;
  let messages = 0;
  let seed = of.from;
  while (seed < of.from + of.seeds && performance.now() - startedAt < of.ms) {
    const result = await runOne(count, seed);
    virtualMs += result.virtualMs;
    messages += result.messages;
    seed += 1;
  }
  const hours = (virtualMs / 3_600_000).toFixed(1);
  console.log(
    `${seed - of.from} seeds from ${of.from}: ${hours} virtual hours, ${messages} messages`,
  );
}

async function runTwice(count: Count, from: number, seeds: number): Promise<void> {
  for (let seed = from; seed < from + seeds; seed += 1) {
    const first = await runSeed({ seed });
    const second = await runSeed({ seed });
    if (first.hash === second.hash) count.pass();
    else count.fail(`seed ${seed} is not the same twice: ${first.hash}, ${second.hash}`, 127);
  }
}

async function runCanaries(count: Count): Promise<void> {
  for (const canary of CANARIES) {
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
  runCallCanaries(count);
  await runForeignCanaries(count);
}

async function find(canary: Canary): Promise<RunResult | null> {
  const own = CANARY_SEEDS[canary.name] ?? 1;
  for (let at = 0; at <= CANARY_SEEDS_MAX; at += 1) {
    const result = await runSeed({ seed: at === 0 ? own : at, canary });
    if (result.violation !== null) return result;
  }
  return null;
}

async function showSeed(count: Count, seed: number, isTraced: boolean): Promise<void> {
  if (isTraced) await showTrace(seed);
  const result = await runOne(count, seed);
  if (!isTraced) console.log(JSON.stringify(result.weather, null, 2));
  const { hash, jobs, messages, virtualMs, violation } = result;
  if (violation !== null) console.log(violation.cause ?? violation);
  console.log(`seed ${seed}: ${jobs} jobs, ${messages} messages, ${virtualMs} ms, hash ${hash}`);
}

async function showTrace(seed: number): Promise<void> {
  const lines: string[] = [];
  const { weather } = await runSeed({ seed, trace: (line) => lines.push(line) });
  console.log(JSON.stringify(weather, null, 2));
  for (const line of lines) console.log(line);
}

async function check(count: Count, from: number): Promise<void> {
  for (const { seed, broke, weather } of PINNED) {
    await runOne(count, seed, { why: ` (once: ${broke})`, ...(weather && { weather }) });
  }
  await runCanaries(count);
  await runTwice(count, from, TWICE_SEEDS);
  checkCalls(count, from);
  await checkForeign(count, from);
  await runFresh(count, { from, seeds: FRESH_SEEDS, ms: FRESH_MS });
}

/** A base of its own for every day: each day's runs are new, and can be had again. */
function seedOfToday(): number {
  return Number(new Date().toISOString().slice(0, 10).replaceAll('-', '')) * 1000;
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seeds: { type: 'string', default: '100' },
      from: { type: 'string' },
      trace: { type: 'boolean', default: false },
    },
  });
  const [what = 'seeds', number = ''] = positionals;
  const from = values.from === undefined ? seedOfToday() : whole('--from', values.from);
  const count = new Count();
  if (what !== 'seed' && what !== 'canaries') console.log(`base seed ${from}`);
  const seeds = { from, seeds: whole('--seeds', values.seeds), ms: Number.POSITIVE_INFINITY };
  if (what === 'check') await check(count, from);
  else if (what === 'seeds') await runFresh(count, seeds);
  else if (what === 'seed') await showSeed(count, whole('the seed', number), values.trace);
  else if (what === 'twice') await runTwice(count, from, whole('the count', number));
  else if (what === 'canaries') await runCanaries(count);
  else if (what === 'calls') runCallSeeds(count, seeds);
  else if (what === 'call') showCallSeed(count, whole('the seed', number), values.trace);
  else if (what === 'sites') await runForeignSeeds(count, seeds);
  else if (what === 'site') await showForeignSeed(count, whole('the seed', number), values.trace);
  else
    throw new Error(`'${what}' is none of check, seed, twice, canaries, calls, call, sites, site`);
  console.log(`${count.passed} passed, ${count.failed} failed`);
  return count.exitCode;
}

function whole(what: string, text: string): number {
  const value = Number(text);
  if (text !== '' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${what} is a whole number, not '${text}'`);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
