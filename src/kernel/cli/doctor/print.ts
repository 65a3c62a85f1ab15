// Findings on the terminal: a line each, and below it what to do.

import type { Context } from '../context.ts';
import { displayWidth, printable } from '../output/table.ts';
import type { Finding } from './finding.ts';

const MARKS = { ok: 'ok  ', note: 'note', bad: 'BAD ' } as const;

/** Returns the exit code: 1 where one of them is bad. */
export function printFindings(
  context: Context,
  findings: readonly (Finding & { readonly name: string })[],
  format: string | undefined,
): number {
  if (format === 'json') context.print(JSON.stringify(findings, null, 2));
  else {
    const width = Math.max(...findings.map(({ name }) => displayWidth(name)));
    for (const { name, state, text, remedy } of findings) {
      context.print(`${MARKS[state]}  ${name.padEnd(width)}  ${printable(text)}`);
      if (remedy !== undefined) context.print(`${' '.repeat(width + 8)}${remedy}`);
    }
  }
  return findings.some(({ state }) => state === 'bad') ? 1 : 0;
}
