// Adds up the events of Node's test runner, file by file: each test once, nothing that failed left
// out.

import path from 'node:path';
import type { EventData } from 'node:test';
import { inspect } from 'node:util';
import { ROOT } from '../tree.ts';
import { addResults, type StageResult, type TimedTest } from './result.ts';

type Ended = EventData.TestPass | EventData.TestFail;

/** What the tests of one file came to. */
interface FileCount {
  passed: number;
  skipped: number;
  readonly tests: TimedTest[];
  /** Titles of what failed; a hook or the whole file may be among them. */
  readonly failures: string[];
}

/** Stands for what the runner reports of no file. */
const NO_FILE = '';

/** Takes the events of one run in any order; `result()` is what they came to. */
export class TestCounter {
  readonly #files = new Map<string, FileCount>();
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
      this.#of(data.file).passed += 1;
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
      this.#of(data.file).failures.push(data.name);
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
    } else if (!data.success && this.failures().size === 0) {
      console.log('The runner reports a failure that no test reported.');
      this.#of(undefined).failures.push('the run as a whole');
    }
  }

  /** The counts so far. */
  result(): StageResult {
    return addResults(
      [...this.#files.values()].map(({ failures, ...counts }) => ({
        ...counts,
        failed: failures.length,
      })),
    );
  }

  /** Titles of what failed, by the absolute path of the file. */
  failures(): Map<string, readonly string[]> {
    const failed = [...this.#files].filter(([, { failures }]) => failures.length > 0);
    return new Map(failed.map(([file, { failures }]) => [file, failures]));
  }

  /** Takes another run's counts of one file instead of this run's. */
  replace(file: string, { passed, skipped, tests }: StageResult): void {
    this.#files.set(file, { passed, skipped, tests: [...tests], failures: [] });
  }

  #of(file: string | undefined): FileCount {
    const key = file ?? NO_FILE;
    const known = this.#files.get(key);
    if (known) return known;
    const count: FileCount = { passed: 0, skipped: 0, tests: [], failures: [] };
    this.#files.set(key, count);
    return count;
  }

  #skip(data: Ended): void {
    this.#of(data.file).skipped += 1;
    const reason = data.skip ?? data.todo;
    console.log(`  skipped: ${data.name}${typeof reason === 'string' ? ` (${reason})` : ''}`);
  }

  /** Node reports a file without tests as one test that passed. */
  #emptyFile(data: Ended): void {
    if (this.#filtered) return;
    this.#of(data.file).failures.push('holds no test');
    console.log(`\nFAILED ${placeOf(data)} holds no test\n`);
  }

  #time(data: Ended): void {
    this.#of(data.file).tests.push({ title: data.name, durationMs: data.details.duration_ms });
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
