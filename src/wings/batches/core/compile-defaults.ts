// What holds for every job of a batch that does not say it itself: `defaults`, and what a job asks
// for where it stands at the top of the file.

import type { Findings } from '../../../kernel/files/findings.ts';
import type { ProblemPath } from '../../../kernel/files/problem.ts';
import { ASK_KEYS, checkAsk } from './compile-ask.ts';
import type { WrittenAsk, WrittenBatch, WrittenDefaults } from './written.ts';

export interface Defaults {
  readonly values: WrittenDefaults;
  /** Where one of them was written. */
  at(key: keyof WrittenDefaults): ProblemPath;
}

export function compileDefaults(written: WrittenBatch, findings: Findings): Defaults {
  const { defaults = {} } = written;
  const topKeys = ASK_KEYS.filter((key) => written[key] !== undefined);
  const top: WrittenAsk = Object.fromEntries(topKeys.map((key) => [key, written[key]]));
  checkAsk(top, [], findings);
  checkAsk(defaults, ['defaults'], findings);
  for (const key of topKeys.filter((one) => defaults[one] !== undefined)) {
    findings.problem([key], `stands in defaults, too; write it in one of the two places`, 'key');
  }
  return {
    values: { ...top, ...defaults },
    at: (key) => (topKeys.some((one) => one === key) ? [key] : ['defaults', key]),
  };
}
