// Words of others inside our own: they may or may not end with a full stop already.

/** With one mark at its end, and no second one. */
export function asSentence(words: string): string {
  const trimmed = words.trimEnd();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** Without the full stop at its end: our own words go on after it. */
export function asClause(words: string): string {
  return words.trimEnd().replace(/(?<![.])[.]$/, '');
}
