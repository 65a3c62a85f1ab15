// Files of tests that passed only when they ran once more, alone: in how many runs one after the
// other that was so, on this machine. A race that comes again and again is a failure.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../tree.ts';

const IN_A_ROW_MAX = 2;
const KEPT = path.join(ROOT, '.build', 'flaky.json');

/** Runs in a row by file; a file that passed at once is not in it. */
export type Streaks = Readonly<Record<string, number>>;

/** What has run whole, and what of it passed at the second try, as `file: title`. */
export interface RunOfFiles {
  readonly files: readonly string[];
  readonly flaky: readonly string[];
}

/** The streaks after one more run; a file that did not run keeps its own. */
export function streaksAfter(before: Streaks, { files, flaky }: RunOfFiles): Streaks {
  const again = new Set(flaky.map((title) => title.slice(0, title.indexOf(': '))));
  const left = Object.entries(before).filter(([file]) => !files.includes(file));
  const grown = [...again].map((file): [string, number] => [file, (before[file] ?? 0) + 1]);
  return Object.fromEntries([...left, ...grown]);
}

/** Counts a run in the record of this checkout; the files that were flaky too often in a row. */
export function flakyInARow(run: RunOfFiles, kept = KEPT): string[] {
  const before = read(kept);
  const streaks = streaksAfter(before, run);
  if (JSON.stringify(streaks) !== JSON.stringify(before)) write(kept, streaks);
  return run.files.filter((file) => (streaks[file] ?? 0) > IN_A_ROW_MAX);
}

function read(kept: string): Streaks {
  try {
    return JSON.parse(readFileSync(kept, 'utf8')) as Streaks;
  } catch (error) {
    // None yet, or one that was cut short: counting begins anew.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT')
      return {};
    throw error;
  }
}

function write(kept: string, streaks: Streaks): void {
  mkdirSync(path.dirname(kept), { recursive: true });
  writeFileSync(`${kept}.new`, JSON.stringify(streaks));
  renameSync(`${kept}.new`, kept);
}
