// What is kept of a task that did not say what it wants kept: everything, as long as that is
// little.

export interface Sized {
  readonly path: string;
  readonly size: number;
}

/**
 * The smallest first: of much output, what tells how it went is little. Each is in one of the two.
 */
export function splitBySize<T extends Sized>(
  files: readonly T[],
  bytesMax: number,
): { readonly kept: T[]; readonly tooMuch: T[] } {
  const bySize = [...files].sort((a, b) => a.size - b.size || (a.path < b.path ? -1 : 1));
  let left = bytesMax;
  const kept = new Set<T>();
  for (const file of bySize) {
    if (file.size > left) break;
    left -= file.size;
    kept.add(file);
  }
  return {
    kept: files.filter((file) => kept.has(file)),
    tooMuch: files.filter((file) => !kept.has(file)),
  };
}
