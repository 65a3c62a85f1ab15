// What a check of a family does, in parts that can be done in any order and beside each other:
// pinned seeds, one canary after the other, seeds twice, fresh seeds.

import type { Family, RunEnd } from './family.ts';

/** What was right and wrong so far, and where it is said. */
export class Count {
  passed = 0;
  failed = 0;
  /** That of the last failure. */
  exitCode = 0;
  readonly say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.say = say;
  }

  pass(): void {
    this.passed += 1;
  }

  fail(words: string, exitCode: number): void {
    this.failed += 1;
    this.exitCode = exitCode;
    this.say(words);
  }

  add({ passed, failed, exitCode }: Pick<Count, 'passed' | 'failed' | 'exitCode'>): void {
    this.passed += passed;
    this.failed += failed;
    if (failed > 0) this.exitCode = exitCode;
  }
}

const KINDS = ['fresh', 'twice', 'pinned', 'canary'] as const;

/** A piece of a check; a plain value. */
export interface CheckPiece {
  /** Name of the family. */
  readonly family: string;
  readonly kind: (typeof KINDS)[number];
  /** Number of the pin or the canary; else 0. */
  readonly at: number;
}

/** What takes longest comes first. */
export function partsOf(
  families: readonly Family[],
  kinds: readonly CheckPiece['kind'][] = KINDS,
): CheckPiece[] {
  return kinds.flatMap((kind) => {
    return families.flatMap(({ name: family, pinned, canaries }) => {
      const count = { fresh: 1, twice: 1, pinned: pinned.length, canary: canaries.length }[kind];
      return Array.from({ length: count }, (_, at) => ({ family, kind, at }));
    });
  });
}

/** @param from the first of the fresh seeds: some run twice, those after them once */
export async function runPart(
  families: readonly Family[],
  { family: name, kind, at }: CheckPiece,
  { from, count }: { readonly from: number; readonly count: Count },
): Promise<void> {
  const family = families.find((one) => one.name === name);
  if (family === undefined) throw new Error(`no family of runs is called ${name}`);
  const { freshSeeds: seeds, freshMs: ms, twiceSeeds } = family.measures;
  switch (kind) {
    case 'fresh':
      return runFresh(family, count, { from: from + twiceSeeds, seeds, ms });
    case 'twice':
      return runTwice(family, count, { from, seeds: twiceSeeds });
    case 'canary':
      return runCanary(family, count, at);
    case 'pinned': {
      const pin = family.pinned[at];
      if (pin !== undefined) tell(family, count, await pin.run(), ` (once: ${pin.broke})`);
    }
  }
}

/**
 * Up to so many seeds, as long as there is time: of its thread, since others may need the
 * processor.
 */
export async function runFresh(
  family: Family,
  count: Count,
  { from, seeds, ms }: { readonly from: number; readonly seeds: number; readonly ms: number },
): Promise<void> {
  const since = process.threadCpuUsage();
  const sizes = new Map<string, number>();
  let [seed, virtualMs] = [from, 0];
  while (seed < from + seeds && usedMs(since) < ms) {
    const end = tell(family, count, await family.run(seed));
    virtualMs += end.virtualMs;
    for (const [what, size] of Object.entries(family.sizeOf(end))) {
      sizes.set(what, (sizes.get(what) ?? 0) + size);
    }
    seed += 1;
  }
  const hours = (virtualMs / 3_600_000).toFixed(1);
  const all = [...sizes].map(([what, size]) => `, ${size} ${what}`).join('');
  count.say(`${family.name}: ${seed - from} seeds from ${from}, ${hours} virtual hours${all}`);
}

function usedMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since);
  return (user + system) / 1000;
}

/** Runs each fresh seed twice: the first run is judged as any other, the second must equal it. */
export async function runTwice(
  family: Family,
  count: Count,
  { from, seeds }: { readonly from: number; readonly seeds: number },
): Promise<void> {
  const { name, run } = family;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const [first, second] = [tell(family, count, await run(seed)), await run(seed)];
    if (first.hash === second.hash) count.pass();
    else count.fail(`${name} ${seed} is not the same twice: ${first.hash}, ${second.hash}`, 127);
  }
}

async function runCanary({ canaries, measures }: Family, count: Count, at: number): Promise<void> {
  const canary = canaries[at];
  if (canary === undefined) return;
  const { name, sentence, rule, seed: own, run } = canary;
  const { canarySeedsMax } = measures;
  for (let seed = 0; seed <= canarySeedsMax; seed += 1) {
    const found = await run(seed === 0 ? own : seed);
    if (found.violation === null) continue;
    const by = found.violation.rule;
    if (by !== (rule ?? by)) {
      return count.fail(`canary ${name} is found by ${by}, not ${rule}`, 129);
    }
    count.pass();
    // Each seed tried in vain costs a run, and nobody would look.
    const stale = seed === 0 ? '' : `; put it in seeds.ts in place of ${own}, which finds nothing`;
    const words = `seed ${String(found.seed).padStart(4)}  ${by}${stale}`;
    return count.say(`  ${name.padEnd(28)} ${words}`);
  }
  count.fail(`canary ${name} (${sentence}) is not found by ${canarySeedsMax} seeds`, 129);
}

/** One seed: its weather, all that happened where it is traced, and what it came to. */
export async function showSeed(
  family: Family,
  count: Count,
  { seed, isTraced }: { readonly seed: number; readonly isTraced: boolean },
): Promise<void> {
  const lines: string[] = [];
  const end = await family.run(seed, isTraced ? (line) => lines.push(line) : undefined);
  count.say(JSON.stringify(end.weather, null, 2));
  for (const line of lines) count.say(line);
  tell(family, count, end);
  if (end.violation !== null) console.log(end.violation.cause ?? end.violation);
  const sizes = Object.entries(family.sizeOf(end)).map(([what, size]) => `${size} ${what}, `);
  count.say(`${family.name} ${seed}: ${sizes.join('')}${end.virtualMs} ms, hash ${end.hash}`);
}

function tell({ name, word }: Family, count: Count, end: RunEnd, why = ''): RunEnd {
  const { seed, violation } = end;
  if (violation === null) count.pass();
  else {
    const words = `${name} ${seed}${why}: ${violation.rule}: ${violation.message}`;
    count.fail(`${words}\n  see it: npm run sim -- ${word} ${seed} --trace`, violation.exitCode);
  }
  return end;
}
