// What a stage of the tests came to.

/** The outcome of one stage; an unknown name in a runner's output is never counted as passed. */
export interface StageResult {
  readonly passed: number;
  readonly failed: number;
  /** Tests that said they cannot run on this machine. */
  readonly skipped: number;
  readonly tests: readonly TimedTest[];
  /** What failed beside others and passed when its file ran alone: `file: title`. */
  readonly flaky?: readonly string[];
}

/** One test that ran, for the list of the slowest. */
export interface TimedTest {
  readonly title: string;
  readonly durationMs: number;
}

/** The sum of several results. */
export function addResults(results: readonly StageResult[]): StageResult {
  const sum = (key: 'passed' | 'failed' | 'skipped') =>
    results.reduce((total, result) => total + result[key], 0);
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    tests: results.flatMap((result) => result.tests),
    flaky: results.flatMap((result) => result.flaky ?? []),
  };
}

/** The slowest tests first, at most `count`. */
export function slowest(tests: readonly TimedTest[], count: number): TimedTest[] {
  return [...tests].sort((a, b) => b.durationMs - a.durationMs).slice(0, count);
}
