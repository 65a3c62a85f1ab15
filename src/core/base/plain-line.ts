// What a name or a reason may hold so that a terminal shows it as it is, on its one line.

/**
 * Controls, lone halves of a pair (no UTF-8), ends of lines and paragraphs, and the marks that turn
 * the direction in which the rest of the line is read.
 */
const HIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const ALL_HIDDEN = new RegExp(HIDDEN, 'gu');

/** True when all of it is seen. */
export function isPlainLine(text: string): boolean {
  return !HIDDEN.test(text);
}

/** The text without what is not seen. */
export function toPlainLine(text: string): string {
  return text.replace(ALL_HIDDEN, '');
}
