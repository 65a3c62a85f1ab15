// Failures of a head that cannot start or go on: their words, and the exit code it ends with.

import { ForeignDirectory } from '../kernel/head/auth/local-login.ts';
import { DAEMON_EXITS, exitOfErrno } from '../kernel/model/daemon-exits.ts';
import { formatRefusal, kindOf, refuse } from '../kernel/model/errors.ts';
import { Failure } from '../kernel/model/failure.ts';
import { StoreFailure } from '../kernel/ports/store.ts';

export const EXIT_BUG = DAEMON_EXITS.bug;

const BY_REASON: Readonly<Record<StoreFailure['reason'], number>> = {
  corrupt: DAEMON_EXITS.data,
  foreign: DAEMON_EXITS.data,
  lost: DAEMON_EXITS.data,
  newer: DAEMON_EXITS.data,
  read_only: DAEMON_EXITS.permission,
  full: DAEMON_EXITS.temporary,
  locked: DAEMON_EXITS.temporary,
  io: DAEMON_EXITS.io,
};

/** From whatever ended a head to words for the terminal and an exit code. */
export function headFailure(error: unknown, when: 'start' | 'run'): Failure {
  if (error instanceof Failure) return error;
  const what = when === 'start' ? 'cannot start' : 'had to stop';
  const { exit, cause } = explained(error);
  const refusal = refuse('head.failed', { what, cause });
  const { code } = refusal;
  return new Failure({ code, kind: kindOf(code), message: formatRefusal(refusal), exit });
}

/** State that is there in part or damaged: it must not be made anew unasked. */
export function unusableState(cause: string, hint: string): Failure {
  const refusal = refuse('head.failed', { what: 'cannot start', cause });
  const { code } = refusal;
  const message = formatRefusal(refusal);
  return new Failure({ code, kind: kindOf(code), message, hint, exit: DAEMON_EXITS.data });
}

function explained(error: unknown): { readonly exit: number; readonly cause: string } {
  if (error instanceof StoreFailure) return { exit: BY_REASON[error.reason], cause: error.message };
  if (error instanceof ForeignDirectory)
    return { exit: DAEMON_EXITS.permission, cause: error.message };
  if (!(error instanceof Error)) return { exit: DAEMON_EXITS.bug, cause: String(error) };
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) {
    const words = 'a bug in this program; its log has the details';
    return { exit: DAEMON_EXITS.bug, cause: `${error.message} (${words})` };
  }
  return { exit: exitOfErrno(code), cause: systemWords(error) };
}

function systemWords(error: NodeJS.ErrnoException & { address?: string; port?: number }): string {
  const { code, address, port, message } = error;
  const where = port === undefined || port < 0 ? address : `${address}:${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return `another program uses the port ${where} (EADDRINUSE). End it, or set head.listen to another address.`;
    case 'EADDRNOTAVAIL':
      return `this machine does not have the address ${where} (EADDRNOTAVAIL). Set head.listen to one it has.`;
    case 'EACCES':
      if (address === undefined || port === undefined || port < 0) return message;
      return `this user may not open the port ${where} (EACCES). Set head.listen to a port above 1023.`;
    default:
      return message;
  }
}
