// Names and values of a submission that are no UTF-8: what Node gives of them has lost bytes.

import { usage } from '../../model/failure.ts';

/** What stands for bytes that are no UTF-8. */
const REPLACEMENT = '\uFFFD';

/** Throws when a part of a submission would reach the job as other bytes than it has here. */
export function refuseForeignBytes(parts: {
  readonly program: object;
  readonly environment: Readonly<Record<string, string>> | undefined;
  readonly directory: object | undefined;
}): void {
  const { program, environment = {}, directory } = parts;
  if (JSON.stringify(program).includes(REPLACEMENT)) {
    throw notPlain('an argument, or the script,', 'Write it in UTF-8.');
  }
  if (directory !== undefined && JSON.stringify(directory).includes(REPLACEMENT)) {
    throw notPlain(
      'the name of the working directory',
      'Rename it, or choose another with --chdir.',
    );
  }
  const variable = Object.entries(environment).find((entry) =>
    entry.join('').includes(REPLACEMENT),
  );
  if (variable === undefined) return;
  const [name] = variable;
  throw notPlain(
    `the environment variable ${name}`,
    `Unset it (env -u ${name} weft …), or give it in UTF-8.`,
  );
}

function notPlain(what: string, hint: string) {
  return usage(
    `${what} has bytes that are no UTF-8, which would not reach the job as they are`,
    hint,
  );
}
