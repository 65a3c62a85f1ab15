// A program as one line, for tables and the history.

import { quoteWord } from '../core/base/shell-word.ts';
import type { Program } from '../core/model/job.ts';

/** The program in a form that a shell would read back; scripts are shown by their first line. */
export function formatProgram(program: Program): string {
  if (program.kind === 'shell') return program.line;
  if (program.kind === 'argv') return program.argv.map(quoteWord).join(' ');
  const first = program.text.split('\n', 1)[0] ?? '';
  return [`script (${first.slice(0, 60)})`, ...program.args.map(quoteWord)].join(' ');
}
