// docs/errors.md, made from the codes and the help on them.

import { CODES, type Code, KINDS } from '../../src/kernel/model/errors.ts';
import { ERROR_HELP } from './error-help.ts';

/** The whole text of the page. */
export function errorsText(): string {
  const kinds = Object.entries(KINDS).map(
    ([kind, { http, exit, retry }]) => `| \`${kind}\` | ${http} | ${exit} | ${retry} |`,
  );
  const parts = [
    '# Errors',
    'Every refusal has a kind, which decides the HTTP status, the exit code and whether to try again,\n' +
      'and a code, which names the case. Programs switch on these, never on the text.',
    ['| kind | HTTP | exit code | try again |', '|---|---|---|---|', ...kinds].join('\n'),
    '`run --wait`, `submit --wait` and `wait` end with the exit code of the job, 128 + n for signal n;\n' +
      '124 when it ran into its time limit, 125 when we cannot tell or for a failure of our own, 126 and\n' +
      '127 when its program could not be started, 137 when it ran out of memory, 143 when cancelled, 123',
    'when its node was lost, or its build or its files failed it. While the head is away they wait on.',
    '## Codes',
    ...(Object.keys(CODES) as Code[]).map(section),
  ];
  return `${parts.join('\n\n')}\n`;
}

function section(code: Code): string {
  const { kind, text } = CODES[code];
  const { means, next } = ERROR_HELP[code];
  return [`### ${code}`, '', `\`${kind}\`: “${text}”`, '', `${means}`, `**Next:** ${next}`].join(
    '\n',
  );
}
