// Searching as people type it: words, all of which stand somewhere, in whatever case.

/** Lower case; none: everything is found. */
export function searchWordsOf(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/** `words`: as `wordsOf` gives them. */
export function hasWords(text: string, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}
