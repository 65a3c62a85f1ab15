// Splits a line into words as a POSIX shell would, quotes included but nothing expanded, and joins
// words back so that a shell reads the same ones.

import { err, ok, type Result } from '../../base/result.ts';

export interface Word {
  readonly text: string;
  /** From 1, in the line. */
  readonly column: number;
}

/** Words of a line; `#` at the start of a word begins a comment. */
export function splitWords(line: string): Result<Word[], { column: number; what: string }> {
  const words: Word[] = [];
  let at = 0;
  for (;;) {
    while (/\s/.test(line[at] ?? '')) at += 1;
    if (at >= line.length || line[at] === '#') return ok(words);
    const word = readWord(line, at);
    if (!word.ok) return word;
    words.push({ text: word.value.text, column: at + 1 });
    at = word.value.end;
  }
}

type Piece = Result<{ text: string; end: number }, { column: number; what: string }>;

function readWord(line: string, start: number): Piece {
  let text = '';
  let at = start;
  while (at < line.length && !/\s/.test(line[at] as string)) {
    const character = line[at] as string;
    if (character === "'" || character === '"') {
      const quoted = readQuoted(line, at, character);
      if (!quoted.ok) return quoted;
      text += quoted.value.text;
      at = quoted.value.end;
    } else if (character === '\\' && at + 1 < line.length) {
      text += line[at + 1];
      at += 2;
    } else {
      text += character;
      at += 1;
    }
  }
  return ok({ text, end: at });
}

function readQuoted(line: string, start: number, quote: string): Piece {
  let text = '';
  for (let at = start + 1; at < line.length; at += 1) {
    const character = line[at] as string;
    if (character === quote) return ok({ text, end: at + 1 });
    const escaped = quote === '"' && character === '\\' && /["\\$`]/.test(line[at + 1] ?? '');
    if (escaped) at += 1;
    text += line[at];
  }
  return err({ column: start + 1, what: `the quote ${quote} is never closed` });
}
