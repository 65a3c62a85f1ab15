// Runs the test files of one stage with Node's own runner; prints a line per file and every failure
// in full. Files that only compute share a few processes, each other has one of its own. Once more,
// alone and when nothing else runs any more, runs a file with real processes that failed, and one
// whose shared process ended too early.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { ROOT } from '../tree.ts';
import { COMPILED_ONCE } from './compiled-once.ts';
import { TestCounter, type Told } from './count-tests.ts';
import { endHung, endSilent } from './end-hung.ts';
import type { StageResult } from './result.ts';
import { sharesProcess, type TestStage, usesRealProcesses } from './stages.ts';

/** What to run: paths from the top of the repository, and a pattern for titles. */
export interface Selection {
  readonly files: readonly string[];
  readonly grep?: RegExp | undefined;
  /** This run has built the programs just now. */
  readonly isBuilt?: boolean;
}

/** Racy files of a stage that may fail and run again: more are no race. Lost ones all run again. */
const FILES_AGAIN_MAX = 12;

/** What the files came to beside others, and what runs those that failed once more. */
export interface FirstRun {
  readonly result: StageResult;
  /** To be called when nothing else runs any more; the result with what the second runs came to. */
  readonly again: () => Promise<StageResult>;
}

/** Runs the files. One that crashes, hangs or holds no test counts as failed. */
export async function runTests(
  stage: TestStage,
  selection: Selection,
  isRacy: (file: string) => boolean = usesRealProcesses,
): Promise<FirstRun> {
  const counter = new TestCounter({ filtered: selection.grep !== undefined });
  const { true: shared = [], false: apart = [] } = Object.groupBy(selection.files, (file) => {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    return sharesProcess(file, text, isRacy) ? 'true' : 'false';
  });
  await Promise.all([
    runApart(stage, { ...selection, files: apart }, counter),
    ...dealt(shared, stage.concurrency).map((files) =>
      runTogether(stage, { ...selection, files }, counter),
    ),
  ]);
  const again = () => runAgain(counter, stage, selection, isRacy);
  return { result: counter.result(), again };
}

/** One process has its turn among many of other files: it alone would be the last to end. */
function dealt(files: readonly string[], count: number): string[][] {
  return Array.from({ length: count }, (_, hand) =>
    files.filter((_file, at) => at % count === hand),
  );
}

/** Runs each racy or lost file once more; one that fails again is a failure. */
async function runAgain(
  counter: TestCounter,
  stage: TestStage,
  selection: Selection,
  isRacy: (file: string) => boolean,
): Promise<StageResult> {
  const failures = [...counter.failures()];
  const lost = failures.filter(([file]) => counter.lost.has(file));
  const racy = failures.filter(
    ([file]) => !counter.lost.has(file) && isRacy(path.relative(ROOT, file)),
  );
  const failed = racy.length > FILES_AGAIN_MAX ? lost : [...lost, ...racy];
  const flaky: string[] = [];
  for (const [file, titles] of failed) {
    const name = path.relative(ROOT, file);
    console.log(`  ${name} failed: it runs once more, alone`);
    const alone = new TestCounter({ filtered: selection.grep !== undefined });
    await runApart({ ...stage, concurrency: 1 }, { ...selection, files: [name] }, alone);
    const ranNothing = selection.grep === undefined && alone.result().passed === 0;
    if (alone.failures().size > 0 || ranNothing) continue;
    counter.replace(file, alone.result());
    flaky.push(...titles.map((title) => `${name}: ${title}`));
  }
  return { ...counter.result(), flaky };
}

/** With what was built, short commands start in half the time (bin/start.cjs). */
function environmentOf({ isBuilt = false }: Selection): NodeJS.ProcessEnv {
  const own = { ...process.env, ...COMPILED_ONCE };
  return isBuilt ? { ...own, NODE_TESTS_BUILT_WEFT: ROOT } : own;
}

/** Each file in a process of its own, as many at a time as the stage says. */
async function runApart(
  stage: TestStage,
  selection: Selection,
  counter: TestCounter,
): Promise<void> {
  if (selection.files.length === 0) return;
  const files = selection.files.map((file) => path.join(ROOT, file));
  const stopWatching = endHung(files, { fileMs: stage.fileTimeoutMs });
  const stream = run({
    cwd: ROOT,
    files,
    concurrency: stage.concurrency,
    timeout: stage.fileTimeoutMs,
    env: environmentOf(selection),
    ...(selection.grep === undefined ? {} : { testNamePatterns: selection.grep }),
  });
  for await (const event of stream) {
    if (event.type === 'test:pass') counter.pass(event.data);
    else if (event.type === 'test:fail') counter.fail(event.data);
    else if (event.type === 'test:stderr') process.stderr.write(event.data.message);
    else if (event.type === 'test:summary') counter.summary(event.data);
  }
  stopWatching();
}

const TOGETHER = path.join(import.meta.dirname, 'together.ts');

/**
 * All files in one process: most of what a small file costs is the start of its process, which
 * loads once more what the others have loaded.
 */
async function runTogether(
  stage: TestStage,
  selection: Selection,
  counter: TestCounter,
): Promise<void> {
  if (selection.files.length < 2) return runApart(stage, selection, counter);
  const files = selection.files.map((file) => path.join(ROOT, file));
  const child = fork(TOGETHER, [selection.grep?.source ?? '', ...files], {
    cwd: ROOT,
    env: environmentOf(selection),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // So many files may take their time: only one that says nothing for so long hangs.
  const watch = endSilent(child, { silentMs: stage.fileTimeoutMs });
  let isWhole = false;
  let hasFailed = false;
  child.on('message', (told: Told) => {
    watch.heard();
    if (told.type !== 'test:summary') {
      counter.take(told);
      hasFailed ||= told.type === 'test:fail' && told.data.todo === undefined;
      return;
    }
    isWhole = true;
    const { counts, duration_ms: ms } = told.data;
    if (counts.tests === 0 && selection.grep !== undefined) return;
    const sum = `${counts.passed} of ${counts.tests} (${Math.round(ms)} ms)`;
    console.log(`  ${files.length} files in one process: ${sum}`);
  });
  const [code, signal] = await once(child, 'close');
  watch.stop();
  if (!isWhole || signal !== null) counter.cutShort(files, `ended with ${signal ?? code}`);
  else if (code !== 0 && !(hasFailed && code === 1)) counter.endedBadly(files, code);
}
