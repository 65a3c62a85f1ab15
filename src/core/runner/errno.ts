// Linux error numbers in words, for the reasons why a process could not be started.

const ERRNO: Readonly<Record<number, readonly [name: string, text: string]>> = {
  1: ['EPERM', 'Operation not permitted'],
  2: ['ENOENT', 'No such file or directory'],
  5: ['EIO', 'Input/output error'],
  7: ['E2BIG', 'Argument list too long'],
  8: ['ENOEXEC', 'Exec format error'],
  11: ['EAGAIN', 'Resource temporarily unavailable'],
  12: ['ENOMEM', 'Cannot allocate memory'],
  13: ['EACCES', 'Permission denied'],
  17: ['EEXIST', 'File exists'],
  20: ['ENOTDIR', 'Not a directory'],
  21: ['EISDIR', 'Is a directory'],
  22: ['EINVAL', 'Invalid argument'],
  23: ['ENFILE', 'Too many open files in system'],
  24: ['EMFILE', 'Too many open files'],
  26: ['ETXTBSY', 'Text file busy'],
  28: ['ENOSPC', 'No space left on device'],
  30: ['EROFS', 'Read-only file system'],
  36: ['ENAMETOOLONG', 'File name too long'],
  40: ['ELOOP', 'Too many levels of symbolic links'],
  93: ['EPROTONOSUPPORT', 'Protocol not supported'],
  116: ['ESTALE', 'Stale file handle'],
  122: ['EDQUOT', 'Disk quota exceeded'],
};

/** `No such file or directory (ENOENT)`, or `error 99` for a number not in the list. */
export function formatErrno(errno: number): string {
  const known = ERRNO[errno];
  return known === undefined ? `error ${errno}` : `${known[1]} (${known[0]})`;
}
