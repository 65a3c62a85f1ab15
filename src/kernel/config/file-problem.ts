// Why a file that somebody named cannot be read or written, in words without the system's codes.

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of its path is not a directory',
  EISDIR: 'it is a directory',
  EEXIST: 'a file has that name',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EBADF: 'it is not open for that',
  EDQUOT: 'the quota is used up',
  EFBIG: 'the file would be larger than is allowed here',
  EIO: 'the disk cannot be read or written',
  ELOOP: 'its links go round in a circle',
  EMFILE: 'this process has too many files open',
  ENAMETOOLONG: 'the name is too long',
  ENFILE: 'this machine has too many files open',
  ENOMEM: 'there is not enough memory',
  ETXTBSY: 'it is being run',
};

/** Whether the system refused something: what surrounds a program is so, the program is right. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  const { code, syscall } = error as Partial<NodeJS.ErrnoException>;
  return error instanceof Error && typeof syscall === 'string' && /^E[A-Z0-9]+$/.test(code ?? '');
}

/** What the system refused, as one line for people. */
export function systemWords(error: NodeJS.ErrnoException): string {
  const { syscall = '', path } = error;
  if (syscall === 'uv_cwd') return NO_FOLDER;
  return `${path ?? syscall}: ${fileProblem(error)}`;
}

export const NO_FOLDER =
  'the directory that this command was started in is gone, or cannot be looked at; cd to another one';

/** The path is not in it: whoever tells it has named that. */
export function fileProblem(cause: unknown): string {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  return WORDS[code] ?? message;
}

/** Writes a file, and names it in the system's error: that of a full disk names none. */
export function namingFile(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (isSystemError(error)) error.path ??= path;
    throw error;
  }
}
