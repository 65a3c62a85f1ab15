// A step on a machine that failed; what was done before stays, and the next run goes on from there.

import type { Problem } from '../core/plan.ts';

export class Stopped extends Error {
  readonly problem: Problem;

  constructor(what: string, remedy: string) {
    super(what);
    this.problem = { what, remedy };
  }
}

/** What a command said last: of an error, mostly the why. */
export const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? '';
