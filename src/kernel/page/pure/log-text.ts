// Output of jobs as lines of coloured pieces. Whatever a program writes, it is shown as text:
// colours are understood, other escapes left out, what is not seen is made visible, long lines are
// cut.

/** A piece of a line in one look. */
export interface Piece {
  readonly text: string;
  /** Names of classes: `fg1` … `fg15`, `bold`, `faint`, `underline`. */
  readonly look: string;
}

export interface LogLine {
  readonly pieces: readonly Piece[];
  /** Characters that are not shown. */
  readonly cut: number;
}

/** Characters of a line that are shown. */
export const LINE_MAX = 4000;

const ESCAPE =
  /\u001b(?:\[([0-9;:?]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[ -/]*[0-OQ-WYZ\\`-~])/g;
/** Marks of direction, controls, halves of pairs: seen as their number. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/g;

interface Look {
  colour: number | null;
  bold: boolean;
  faint: boolean;
  underline: boolean;
}

/** Reads text as it comes; a line that has no end yet is given as `rest`. */
export class LogReader {
  readonly #look: Look = { colour: null, bold: false, faint: false, underline: false };
  #rest = '';
  /** Left out of the line that has no end yet. */
  #restCut = 0;

  /** Lines that are whole now. */
  push(text: string): LogLine[] {
    const all = (this.#rest + text).split('\n');
    const rest = all.pop() ?? '';
    const lines = all.map((line, at) => this.#read(line, at === 0 ? this.#restCut : 0));
    if (all.length > 0) this.#restCut = 0;
    // A line that never ends must not fill the memory.
    const kept = rest.slice(0, 4 * LINE_MAX);
    this.#restCut += rest.length - kept.length;
    this.#rest = kept;
    return lines;
  }

  /** The line that has no end yet; null when there is none. */
  get rest(): LogLine | null {
    if (this.#rest === '') return null;
    const look = { ...this.#look };
    const line = this.#read(this.#rest, this.#restCut);
    Object.assign(this.#look, look);
    return line;
  }

  #read(whole: string, cutBefore: number): LogLine {
    // What a carriage return has written over is gone on a terminal, too.
    const line = whole.replace(/\r+$/, '').split('\r').at(-1) ?? '';
    const pieces: Piece[] = [];
    let left = LINE_MAX;
    let cut = cutBefore;
    const add = (text: string): void => {
      if (text === '') return;
      const seen = visible(text.slice(0, left));
      cut += Math.max(0, text.length - left);
      left = Math.max(0, left - text.length);
      if (seen !== '') pieces.push({ text: seen, look: lookWords(this.#look) });
    };
    let from = 0;
    for (const match of line.matchAll(ESCAPE)) {
      add(line.slice(from, match.index));
      from = match.index + match[0].length;
      if (match[2] === 'm') this.#paint(match[1] ?? '');
    }
    add(line.slice(from));
    return { pieces, cut };
  }

  #paint(codes: string): void {
    const all = codes.split(/[;:]/).map(Number);
    for (let at = 0; at < all.length; at += 1) {
      const code = all[at] ?? 0;
      if (code === 0)
        Object.assign(this.#look, { colour: null, bold: false, faint: false, underline: false });
      else if (code === 1) this.#look.bold = true;
      else if (code === 2) this.#look.faint = true;
      else if (code === 4) this.#look.underline = true;
      else if (code === 22) Object.assign(this.#look, { bold: false, faint: false });
      else if (code === 24) this.#look.underline = false;
      else if (code >= 30 && code <= 37) this.#look.colour = code - 30;
      else if (code >= 90 && code <= 97) this.#look.colour = code - 82;
      else if (code === 39) this.#look.colour = null;
      else if (code === 38 || code === 48) at += all[at + 1] === 2 ? 4 : 2;
    }
  }
}

/** The text with what is not seen written out, `\u202e` as `⟨202e⟩`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (one) => `⟨${one.charCodeAt(0).toString(16).padStart(2, '0')}⟩`);
}

export function plainText({ pieces }: LogLine): string {
  return pieces.map(({ text }) => text).join('');
}

function lookWords({ colour, bold, faint, underline }: Look): string {
  const words = [colour === null ? '' : `fg${colour}`, bold ? 'bold' : '', faint ? 'faint' : ''];
  return [...words, underline ? 'underline' : ''].filter((word) => word !== '').join(' ');
}
