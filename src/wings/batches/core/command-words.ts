// Words of a command for a shell script, in which some parts are known only when it runs.

import { quoteWord } from '../../../kernel/base/shell-word.ts';

/** What a script knows when it runs, by how it stands in the words of a command here. */
export const VARIABLES = {
  cpus: '\u0001cpus\u0001',
  image: '\u0001image\u0001',
  input: '\u0001WEFT_INPUT\u0001',
  save: '\u0001WEFT_SAVE\u0001',
  work: '\u0001work\u0001',
  name: '\u0001name\u0001',
  user: '\u0001user\u0001',
} as const;

/** A command line: everything quoted as it is, variables in double quotes. */
export function commandLine(argv: readonly string[]): string {
  return argv.map(shellWord).join(' ');
}

function shellWord(word: string): string {
  const parts = word.split('\u0001');
  if (parts.length === 1) return quoteWord(word);
  // Every second part is the name of a variable.
  const quoted = parts.map((part, at) => {
    if (at % 2 === 1) return `"$${part}"`;
    return part === '' ? '' : quoteWord(part);
  });
  return quoted.join('');
}
