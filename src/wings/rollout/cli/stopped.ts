// A step on a machine that failed; what was done before stays, and the next run goes on from there.

import type { Problem } from '../core/plan.ts';

export class Stopped extends Error {
  readonly problem: Problem;

  constructor(what: string, remedy: string) {
    super(what);
    this.problem = { what, remedy };
  }
}

/** The words after which other programs only sum up. */
const CAUSE = /No space left on device|quota exceeded|Read-only file system/i;

/** What a command said last: of an error, mostly the why. */
export function lastLine(text: string): string {
  const lines = text.trim().split('\n');
  return (lines.find((line) => CAUSE.test(line)) ?? lines.at(-1) ?? '').trim();
}
