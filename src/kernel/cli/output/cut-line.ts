// Lines cut to the width of a terminal, colours and all.

import { displayWidth } from './table.ts';

const COLOUR = /^\u001b\[\d*m/;

/** The line cut to so many columns; colours take none, and end with it. */
export function cutLine(line: string, columns: number): string {
  // No character takes more than two.
  if (line.length * 2 <= columns) return line;
  let kept = '';
  let width = 0;
  for (let at = 0; at < line.length; ) {
    const [colour] = COLOUR.exec(line.slice(at, at + 6)) ?? [];
    const piece = colour ?? String.fromCodePoint(line.codePointAt(at) as number);
    at += piece.length;
    if (colour === undefined) {
      width += displayWidth(piece);
      if (width > columns) return kept.includes('\x1b') ? `${kept}\x1b[39m` : kept;
    }
    kept += piece;
  }
  return kept;
}
