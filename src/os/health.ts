// The site's health command on this node: bounded, and its first line is what is wrong.

import type { HealthCheck } from '../ports/health.ts';
import { type CommandEnd, runBounded } from './bounded-command.ts';

export interface HealthOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
}

/** Of the output: more than a table shows of a line. */
const LINE_LENGTH = 200;
/** Kept to find the first line that says something. */
const HEAD_LENGTH = 2000;

/** Exit code 0 is the only good news. None is run beside one that could not be ended. */
export function systemHealth({ command, timeoutMs }: HealthOptions): HealthCheck {
  let last: CommandEnd | null = null;
  return {
    async run() {
      if (last?.isThere())
        return { isWell: false, words: `the last check still runs: ${last.how}` };
      last = await runBounded({
        ...{ command, timeoutMs },
        keep: (kept, text) => `${kept}${text}`.slice(0, HEAD_LENGTH),
      });
      const { succeeded, how, output } = last;
      return { isWell: succeeded, words: succeeded ? '' : firstLine(output) || how };
    },
  };
}

/** Signs that steer terminals are left out: the line is shown to people. */
function firstLine(output: string): string {
  const lines = output.split('\n').map((line) => line.replaceAll(/\p{Cc}/gu, ' ').trim());
  return (lines.find((line) => line !== '') ?? '').slice(0, LINE_LENGTH);
}
