// Adds up the events of Node's test runner, file by file: each test once, nothing that failed left
// out.

import path from 'node:path';
import type { EventData } from 'node:test';
import { inspect } from 'node:util';
import { ROOT } from '../tree.ts';
import { addResults, type StageResult, type TimedTest } from './result.ts';

/** Node tells it where a helper of the file has made the test. */
interface Entry {
  readonly entryFile?: string;
}
type Passed = EventData.TestPass & Entry;
type Failure = { readonly failureType?: unknown; readonly cause?: unknown };
type Failed = Pick<EventData.TestFail, 'name' | 'nesting' | 'file' | 'line' | 'skip' | 'todo'> &
  Entry & {
    readonly details: Omit<EventData.TestFail['details'], 'error'> & { readonly error: Failure };
  };
type Ended = Passed | Failed;

/** An event of the runner that counts, as another process sends it. */
export type Told =
  | { readonly type: 'test:pass'; readonly data: Passed }
  | { readonly type: 'test:fail'; readonly data: Failed }
  | { readonly type: 'test:summary'; readonly data: EventData.TestSummary };

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
  /** Files, by their absolute paths, whose shared process ended before they did. */
  readonly lost = new Set<string>();
  readonly #files = new Map<string, FileCount>();
  readonly #filtered: boolean;

  /** `filtered`: titles were selected, so a file in which no test ran is no mistake. */
  constructor(options: { filtered: boolean }) {
    this.#filtered = options.filtered;
  }

  take({ type, data }: Exclude<Told, { type: 'test:summary' }>): void {
    if (type === 'test:pass') this.pass(data);
    else this.fail(data);
  }

  /** A test, a suite or a whole file ended well, or was skipped. */
  pass(data: Passed): void {
    if (isSkipped(data)) this.#skip(data);
    else if (isFile(data)) this.#emptyFile(data);
    else if (data.details.type !== 'suite') {
      this.#of(fileOf(data)).passed += 1;
      this.#time(data);
    }
  }

  /** A test, a suite or a whole file failed. */
  fail(data: Failed): void {
    const { error, type } = data.details;
    const why = error.failureType;
    // A suite fails by its tests, which are counted, or by a hook, which nobody else counts.
    const counted = type === 'suite' && why === 'subtestsFailed';
    if (isSkipped(data)) this.#skip(data);
    else if (!counted) {
      this.#of(fileOf(data)).failures.push(data.name);
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

  /**
   * The process of these files, which it runs in this order, has ended too early: the file heard of
   * last may have more tests, and the next may be the one that ended it.
   */
  cutShort(files: readonly string[], how: string): void {
    const title = `the process of ${files.length} files ${how}`;
    const last = files.findLast((file) => this.#files.has(file));
    const left = files.filter((file) => file === last || !this.#files.has(file));
    for (const file of left) {
      this.#of(file).failures.push(title);
      this.lost.add(file);
    }
    const names = left.map((file) => path.relative(ROOT, file)).join(', ');
    console.log(`\nFAILED ${title}; it did not run to their ends ${names}\n`);
  }

  /** The process of these files has run them all, and its exit code speaks of a failure of none. */
  endedBadly(files: readonly string[], code: number | null): void {
    const title = `the process of ${files.length} files ended with ${code}, and no test says why`;
    this.#of(undefined).failures.push(title);
    console.log(`\nFAILED ${title}\n`);
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
    this.#of(fileOf(data)).skipped += 1;
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
    this.#of(fileOf(data)).tests.push({ title: data.name, durationMs: data.details.duration_ms });
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

function fileOf({ entryFile, file }: Ended): string | undefined {
  return entryFile ?? file;
}

function placeOf(data: Ended): string {
  if (data.file === undefined) return '';
  const place = `${path.relative(ROOT, data.file)}:${data.line ?? 1}`;
  const file = fileOf(data);
  return file === undefined || file === data.file
    ? place
    : `${path.relative(ROOT, file)} (${place})`;
}

/** The error a test threw; the runner wraps it as the cause of its own. */
export function explain(error: Failure): string {
  const cause = error.cause ?? error;
  return typeof cause === 'string' ? cause : inspect(cause, { depth: 8 });
}
