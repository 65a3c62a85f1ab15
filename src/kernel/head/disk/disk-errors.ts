// What the errors of the disk below the blobs mean.

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** No room, for whatever reason the system has. */
export function isFull(error: unknown): boolean {
  return FULL.has(codeOf(error) ?? '');
}

/** A handler that takes "no such file" for `value` and passes everything else on. */
export function absent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (codeOf(error) === 'ENOENT') return value;
    throw error;
  };
}
