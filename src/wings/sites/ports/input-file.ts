// Input that a client sends to a site's job while it runs, as a file: its first line has the length
// of all that follows, or blanks as long as nobody knows it.

/** Bytes of the first line with its end. */
export const INPUT_HEAD_BYTES = 17;

/** @param length bytes of all input; null: there may be more */
export function inputHead(length: number | null): string {
  return `${(length ?? '').toString().padEnd(INPUT_HEAD_BYTES - 1)}\n`;
}

/** Null: there may be more. */
export function parseInputHead(head: string): number | null {
  const found = /^(\d+) *\n$/.exec(head);
  return found === null ? null : Number(found[1]);
}
