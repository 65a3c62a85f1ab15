// A program as one line, for tables and the history.

import type { Program } from '../core/model/job.ts';

const PLAIN = /^[\w@%+=:,./-]+$/;

/** As a shell would read it back; scripts are shown by their first line. */
export function formatProgram(program: Program): string {
  if (program.kind === 'shell') return program.line;
  if (program.kind === 'argv') return program.argv.map(quote).join(' ');
  const first = program.text.split('\n', 1)[0] ?? '';
  return [`script (${first.slice(0, 60)})`, ...program.args.map(quote)].join(' ');
}

function quote(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
