// Adds up the events of Node's test runner: each test once, nothing that failed left out.

import path from 'node:path';
import type { EventData } from 'node:test';
import { inspect } from 'node:util';
import { ROOT } from '../tree.ts';
import type { StageResult, TimedTest } from './result.ts';

type Ended = EventData.TestPass | EventData.TestFail;

/** Takes the events of one run in any order; `result()` is what they came to. */
export class TestCounter {
  #passed = 0;
  #failed = 0;
  #skipped = 0;
  readonly #tests: TimedTest[] = [];
  readonly #filtered: boolean;

  /** `filtered`: titles were selected, so a file in which no test ran is no mistake. */
  constructor(options: { filtered: boolean }) {
    this.#filtered = options.filtered;
  }

  /** A test, a suite or a whole file ended well, or was skipped. */
  pass(data: EventData.TestPass): void {
    if (isSkipped(data)) this.#skip(data);
    else if (isFile(data)) this.#emptyFile(data);
    else if (data.details.type !== 'suite') {
      this.#passed += 1;
      this.#time(data);
    }
  }

  /** A test, a suite or a whole file failed. */
  fail(data: EventData.TestFail): void {
    const { error, type } = data.details;
    const why = 'failureType' in error ? error.failureType : undefined;
    // A suite fails by its tests, which are counted, or by a hook, which nobody else counts.
    const counted = type === 'suite' && why === 'subtestsFailed';
    if (isSkipped(data)) this.#skip(data);
    else if (!counted) {
      this.#failed += 1;
      this.#time(data);
      console.log(`\nFAILED ${placeOf(data)} ${data.name}\n${explain(error)}\n`);
    }
  }

  /** The runner's own count, of a file or at the end of all. */
  summary(data: EventData.TestSummary): void {
    if (data.file !== undefined) {
      const { passed, tests } = data.counts;
      if (this.#filtered && tests === 0) return;
      const file = path.relative(ROOT, data.file);
      console.log(`  ${file}: ${passed} of ${tests} (${Math.round(data.duration_ms)} ms)`);
    } else if (!data.success && this.#failed === 0) {
      console.log('The runner reports a failure that no test reported.');
      this.#failed += 1;
    }
  }

  /** The counts so far. */
  result(): StageResult {
    const counts = { passed: this.#passed, failed: this.#failed, skipped: this.#skipped };
    return { ...counts, tests: [...this.#tests] };
  }

  #skip(data: Ended): void {
    this.#skipped += 1;
    const reason = data.skip ?? data.todo;
    console.log(`  skipped: ${data.name}${typeof reason === 'string' ? ` (${reason})` : ''}`);
  }

  /** Node reports a file without tests as one test that passed. */
  #emptyFile(data: Ended): void {
    if (this.#filtered) return;
    this.#failed += 1;
    console.log(`\nFAILED ${placeOf(data)} holds no test\n`);
  }

  #time(data: Ended): void {
    this.#tests.push({ title: data.name, durationMs: data.details.duration_ms });
  }
}

function isSkipped(data: Ended): boolean {
  return data.skip !== undefined || data.todo !== undefined;
}

/** True for the event that stands for a whole file: its name is the file's path. */
function isFile(data: Ended): boolean {
  const { file, name, nesting } = data;
  return nesting === 0 && file !== undefined && path.resolve(ROOT, name) === file;
}

function placeOf(data: Ended): string {
  return data.file === undefined ? '' : `${path.relative(ROOT, data.file)}:${data.line ?? 1}`;
}

/** The error a test threw; the runner wraps it as the cause of its own. */
function explain(error: Error): string {
  const cause = error.cause ?? error;
  return typeof cause === 'string' ? cause : inspect(cause, { depth: 8 });
}
