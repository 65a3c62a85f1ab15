// Sentences from the head, as whoever sits at this terminal reads them: instants by their own
// clock, lines broken between words.

import { displayWidth, printable } from './table.ts';
import { formatInstant } from './words.ts';

/** The head writes instants in UTC, since it does not know where its words are read. */
const INSTANT = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

/** `…at 2026-01-01T10:00:00Z` as `…at 11:00:00`, in the way of the tables. */
export function byOwnClock(words: string, now: number): string {
  return words.replace(INSTANT, (text) => formatInstant(Date.parse(text), now));
}

const INDENT = '  ';
/** Narrower than this, lines are better broken by the terminal. */
const WIDTH_MIN = 30;

/** Sentences, a line each or more. */
export function prose(words: string, now: number, width: number | null): string[] {
  return wrapped(byOwnClock(words, now), width);
}

/** Lines no wider than the terminal, where that has a width; what goes on is indented. */
function wrapped(words: string, width: number | null): string[] {
  return words.split('\n').flatMap((line) => {
    const text = printable(line);
    return width === null || width < WIDTH_MIN ? [text] : wrapLine(text, width);
  });
}

/** One line broken between its words, however narrow. */
export function wrapLine(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line.trim() === '' || displayWidth(longer) <= width) {
      line = line === INDENT ? `${INDENT}${word}` : longer;
      continue;
    }
    lines.push(line);
    line = `${INDENT}${word}`;
  }
  return [...lines, line];
}
