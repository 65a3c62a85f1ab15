// The test runner: all stages, row by row, and as its last line `N passed, N failed` over all of
// them.
//   npm test -- [--only STAGE[,STAGE]] [--grep TITLE] [--stop-at-first] [--no-install]
//               [--changed [--base BRANCH]]

import { existsSync } from 'node:fs';
import path from 'node:path';
import { installPackages, missingPackages } from './debian-packages.ts';
import { affectedTests, changedSince } from './testing/changed.ts';
import { flakyInARow } from './testing/flaky-streak.ts';
import { type Options, parseOptions } from './testing/options.ts';
import { addResults, type StageResult, slowest } from './testing/result.ts';
import { runProgram } from './testing/run-program.ts';
import { type FirstRun, runTests } from './testing/run-tests.ts';
import { BESIDE, inOrder, ROWS, STAGES, type Stage, strayTests } from './testing/stages.ts';
import { sweepGroups } from './testing/sweep-groups.ts';
import { filesBelow, ROOT } from './tree.ts';

const SLOWEST_SHOWN = 5;
const NOTHING: StageResult = { passed: 0, failed: 0, skipped: 0, tests: [] };
const ONE_FAILURE: StageResult = { ...NOTHING, failed: 1 };

/** Runs what the options select; the sum of all stages, and of the checks around them. */
async function runAll(options: Options): Promise<StageResult> {
  const stages = STAGES.filter((stage) => isSelected(stage, options) && hasWork(stage, options));
  const { beside, rows } = inTime(options);
  const selected = (some: readonly Stage[]) => some.filter((stage) => stages.includes(stage));
  const running = selected(beside).map((stage) => runStage(stage, options, false));
  const results = [checkStrays(), checkPackages(stages, options)];
  const left: FirstRun[] = [];
  let isBuilt = false;
  for (const row of rows.map(selected)) {
    if (options.stopAtFirst && addResults(results).failed > 0) break;
    const came = await Promise.all(row.map((stage) => runStage(stage, options, isBuilt)));
    if (options.stopAtFirst) results.push(...(await runAgain(came)));
    else left.push(...came);
    isBuilt ||= row.some(({ name }, at) => name === 'build' && came[at]?.result.failed === 0);
  }
  left.push(...(await Promise.all(running)));
  return addResults([...results, ...(await runAgain(left))]);
}

/** What runs beside all rows, unless the first row that fails is to be the last. */
function inTime({ stopAtFirst }: Options): {
  readonly beside: readonly Stage[];
  readonly rows: readonly (readonly Stage[])[];
} {
  return stopAtFirst ? { beside: [], rows: [...ROWS, BESIDE] } : { beside: BESIDE, rows: ROWS };
}

/** What failed, once more: one after the other, with nothing beside them. */
async function runAgain(first: readonly FirstRun[]): Promise<StageResult[]> {
  const results: StageResult[] = [];
  for (const { again } of first) results.push(await again());
  return results;
}

/** A pattern for titles selects tests, so with one no other program is run. */
function isSelected(stage: Stage, { only, grep }: Options): boolean {
  return only.includes(stage.name) && (grep === undefined || stage.kind === 'tests');
}

function checkStrays(): StageResult {
  const strays = strayTests(filesBelow('', '.test.ts'));
  for (const file of strays) console.log(`${file} is in the folder of no stage: nothing runs it.`);
  return { ...NOTHING, failed: strays.length };
}

function checkPackages(stages: readonly Stage[], options: Options): StageResult {
  const names = stages.map((stage) => stage.name);
  if (missingPackages(names).length === 0) return NOTHING;
  if (options.install) installPackages(missingPackages(names));
  const missing = missingPackages(names);
  for (const { name, neededFor } of missing) console.log(`missing: ${name} (${neededFor})`);
  // On a developer's machine the tests that need them skip themselves; CI must not lose any.
  return missing.length > 0 && process.env['CI'] === 'true' ? ONE_FAILURE : NOTHING;
}

function filesOf(stage: Stage, options: Options): string[] {
  const files = stage.kind === 'tests' ? inOrder(filesBelow(stage.folder, '.test.ts')) : [];
  if (options.changedSince === undefined || files.length === 0) return files;
  return affectedTests(files, changedSince(options.changedSince));
}

function hasWork(stage: Stage, options: Options): boolean {
  return stage.kind === 'tests'
    ? filesOf(stage, options).length > 0
    : existsSync(path.join(ROOT, stage.command[0]));
}

/** `isBuilt`: an earlier stage has built the programs. */
async function runStage(stage: Stage, options: Options, isBuilt: boolean): Promise<FirstRun> {
  console.log(`== ${stage.name}`);
  const startedAt = performance.now();
  const first = await runGuarded(stage, options, isBuilt);
  const { result } = first;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const { passed, failed, skipped } = result;
  const counts = `${passed} ok, ${failed} not ok, ${skipped} skipped, ${seconds} s`;
  console.log(`   ${stage.name}: ${counts}`);
  return first;
}

/** A stage that crashes is one failure; the others still run. */
async function runGuarded(stage: Stage, options: Options, isBuilt: boolean): Promise<FirstRun> {
  try {
    if (stage.kind === 'program') return once(await runProgram(stage));
    return await runTests(stage, { files: filesOf(stage, options), grep: options.grep, isBuilt });
  } catch (error) {
    console.log(`The stage ${stage.name} crashed:`, error);
    return once(ONE_FAILURE);
  }
}

/** What is not run again, whatever it came to. */
function once(result: StageResult): FirstRun {
  return { result, again: () => Promise.resolve(result) };
}

/** A file that passed only at its second try in this run and in the last ones is a failure. */
function checkFlaky(options: Options, flaky: readonly string[]): StageResult {
  // Not each of its files has run whole.
  if (options.grep !== undefined || options.stopAtFirst) return NOTHING;
  const stages = STAGES.filter((stage) => isSelected(stage, options));
  const files = flakyInARow({ files: stages.flatMap((stage) => filesOf(stage, options)), flaky });
  for (const file of files) console.log(`${file} was FLAKY in three runs in a row: it has failed.`);
  return { ...NOTHING, failed: files.length };
}

async function main(args: readonly string[]): Promise<void> {
  const options = parseOptions(args);
  const swept = sweepGroups();
  if (swept > 0) console.log(`${swept} cgroups of earlier tests that were killed are removed.`);
  let total = await runAll(options);
  if (total.tests.length > 0) console.log('\nSlowest tests:');
  for (const { title, durationMs } of slowest(total.tests, SLOWEST_SHOWN)) {
    console.log(`  ${(durationMs / 1000).toFixed(2)} s  ${title}`);
  }
  if (total.skipped > 0) console.log(`${total.skipped} skipped`);
  for (const title of total.flaky ?? []) console.log(`FLAKY ${title}`);
  total = addResults([total, checkFlaky(options, total.flaky ?? [])]);
  const ranNothing = total.passed + total.failed === 0;
  if (ranNothing) console.log('Nothing was selected that could run.');
  process.exitCode = total.failed > 0 || ranNothing ? 1 : 0;
  console.log(`${total.passed} passed, ${total.failed} failed`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  // A wrong flag: said in one line, as any other command does.
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
