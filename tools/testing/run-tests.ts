// Runs the test files of one stage with Node's own runner, each file in a process of its own;
// prints a line per file and every failure in full.

import path from 'node:path';
import { run } from 'node:test';
import { ROOT } from '../tree.ts';
import { TestCounter } from './count-tests.ts';
import type { StageResult } from './result.ts';
import type { TestStage } from './stages.ts';

/** What to run: paths from the top of the repository, and a pattern for titles. */
export interface Selection {
  readonly files: readonly string[];
  readonly grep?: RegExp | undefined;
}

/** Runs the files. One that crashes, hangs or holds no test counts as failed. */
export async function runTests(stage: TestStage, selection: Selection): Promise<StageResult> {
  const counter = new TestCounter({ filtered: selection.grep !== undefined });
  const stream = run({
    cwd: ROOT,
    files: selection.files.map((file) => path.join(ROOT, file)),
    concurrency: stage.concurrency,
    timeout: stage.fileTimeoutMs,
    ...(selection.grep === undefined ? {} : { testNamePatterns: selection.grep }),
  });
  for await (const event of stream) {
    if (event.type === 'test:pass') counter.pass(event.data);
    else if (event.type === 'test:fail') counter.fail(event.data);
    else if (event.type === 'test:stderr') process.stderr.write(event.data.message);
    else if (event.type === 'test:summary') counter.summary(event.data);
  }
  return counter.result();
}
