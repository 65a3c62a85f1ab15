// Exit codes by which a supervisor of a head or an agent tells "start it again" from "a person has
// to look" (docs/recovery.md): those of sysexits(3).

/** Only after `io` and `temporary` another try may do; after the others a person has to look. */
export const DAEMON_EXITS = {
  /** EX_DATAERR: what lies in the state directory is damaged, missing or not ours. */
  data: 65,
  /** EX_SOFTWARE: a bug, and the same data would meet it again. */
  bug: 70,
  /** EX_NOPERM: owner, mode or mount. */
  permission: 77,
  /** EX_IOERR: the disk may answer next time. */
  io: 74,
  /** EX_TEMPFAIL: a busy port, another daemon, a full disk. */
  temporary: 75,
} as const;

const BY_ERRNO: Readonly<Record<string, number>> = {
  EACCES: DAEMON_EXITS.permission,
  EPERM: DAEMON_EXITS.permission,
  EROFS: DAEMON_EXITS.permission,
  EISDIR: DAEMON_EXITS.data,
  ENOTDIR: DAEMON_EXITS.data,
  EADDRINUSE: DAEMON_EXITS.temporary,
  EADDRNOTAVAIL: DAEMON_EXITS.temporary,
  EAI_AGAIN: DAEMON_EXITS.temporary,
  EDQUOT: DAEMON_EXITS.temporary,
  EMFILE: DAEMON_EXITS.temporary,
  ENFILE: DAEMON_EXITS.temporary,
  ENOMEM: DAEMON_EXITS.temporary,
  ENOSPC: DAEMON_EXITS.temporary,
};

/** The exit code of a daemon to which the system has refused something. */
export function exitOfErrno(code: string | undefined): number {
  return BY_ERRNO[code ?? ''] ?? DAEMON_EXITS.io;
}
