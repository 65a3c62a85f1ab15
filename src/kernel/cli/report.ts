// What a command says when it fails, and its exit code.

import { isSystemError, systemWords } from '../config/file-problem.ts';
import { EXIT_OWN_FAILURE, Failure } from '../model/failure.ts';
import type { Terminal } from './context.ts';
import { byOwnClock } from './output/prose.ts';
import { printable } from './output/table.ts';

interface Where {
  readonly program: string;
  readonly terminal: Terminal;
}

/** Instants of the head by the reader's clock; what was typed stays as it was. */
function toldAs({ code, message }: Failure): string {
  return code === 'argument.invalid' ? message : byOwnClock(message, Date.now());
}

/** Messages quote what was typed, and that may hold what moves the cursor or clears the screen. */
export function harmless(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Tells it on standard error; the exit code. */
export function reportFailure(error: unknown, { program, terminal }: Where): number {
  if (error instanceof Failure) {
    terminal.error(harmless(`${program}: ${toldAs(error)}\n`));
    if (error.hint !== null) terminal.error(harmless(`  ${error.hint}\n`));
    return error.exitCode;
  }
  if (isSystemError(error)) {
    terminal.error(harmless(`${program}: ${systemWords(error)}\n`));
    return EXIT_OWN_FAILURE;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.error(`${program}: a bug in this command: ${stack}\n`);
  return EXIT_OWN_FAILURE;
}
