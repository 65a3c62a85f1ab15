// Words as a POSIX shell reads them back.

const PLAIN = /^[\w@%+=:,./-]+$/;

/** One word for a shell: quoted only when it must be. */
export function quoteWord(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
