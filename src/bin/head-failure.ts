// What a head says when it cannot start or go on, and the exit codes by which a supervisor tells
// "start it again" from "a person has to look" (docs/recovery.md).

import { ForeignDirectory } from '../kernel/head/auth/local-login.ts';
import { formatRefusal, kindOf, refuse } from '../kernel/model/errors.ts';
import { Failure } from '../kernel/model/failure.ts';
import { StoreFailure } from '../kernel/ports/store.ts';

/** Exit codes of sysexits(3). Those below `temporary` are not worth another try. */
const EXITS = {
  /** EX_DATAERR: what lies in the state directory is damaged, missing or not ours. */
  data: 65,
  /** EX_SOFTWARE: a bug, and the same data would meet it again. */
  bug: 70,
  /** EX_NOPERM: owner, mode or mount. */
  permission: 77,
  /** EX_IOERR: the disk may answer next time. */
  io: 74,
  /** EX_TEMPFAIL: a busy port, another head, a full disk. */
  temporary: 75,
} as const;

export const EXIT_BUG = EXITS.bug;

const BY_REASON: Readonly<Record<StoreFailure['reason'], number>> = {
  corrupt: EXITS.data,
  foreign: EXITS.data,
  lost: EXITS.data,
  newer: EXITS.data,
  read_only: EXITS.permission,
  full: EXITS.temporary,
  locked: EXITS.temporary,
  io: EXITS.io,
};

const BY_ERRNO: Readonly<Record<string, number>> = {
  EACCES: EXITS.permission,
  EPERM: EXITS.permission,
  EROFS: EXITS.permission,
  EISDIR: EXITS.data,
  ENOTDIR: EXITS.data,
  EADDRINUSE: EXITS.temporary,
  EADDRNOTAVAIL: EXITS.temporary,
  EAI_AGAIN: EXITS.temporary,
  EDQUOT: EXITS.temporary,
  EMFILE: EXITS.temporary,
  ENFILE: EXITS.temporary,
  ENOMEM: EXITS.temporary,
  ENOSPC: EXITS.temporary,
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
  return new Failure({ code, kind: kindOf(code), message, hint, exit: EXITS.data });
}

function explained(error: unknown): { readonly exit: number; readonly cause: string } {
  if (error instanceof StoreFailure) return { exit: BY_REASON[error.reason], cause: error.message };
  if (error instanceof ForeignDirectory) return { exit: EXITS.permission, cause: error.message };
  if (!(error instanceof Error)) return { exit: EXITS.bug, cause: String(error) };
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) {
    const words = 'a bug in this program; its log has the details';
    return { exit: EXITS.bug, cause: `${error.message} (${words})` };
  }
  return { exit: BY_ERRNO[code] ?? EXITS.io, cause: systemWords(error) };
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
