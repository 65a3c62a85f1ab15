// Lines of output that have a text somewhere, out of bytes as they come from a file. Of a line that
// never ends pieces are looked at, so that memory stays bounded whatever a program writes.

/** A line longer than this is looked at in pieces that overlap. */
const PIECE_BYTES = 65_536;
const OVERLAP_BYTES = 1024;
/** Told of a line. */
const SHOWN_BYTES = 4096;

const NEWLINE = 10;
const ESCAPE = 27;
/** Colours and other orders to a terminal: they stand between the letters of a word. */
const ESCAPES =
  /\u001b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-OQ-WYZ\\`-~])/g;

/** A line that has the text. */
export interface FoundLine {
  /** Where it begins, in bytes from the begin of the output. */
  readonly at: number;
  readonly text: string;
  /** Bytes of it that are left out. */
  readonly cut: number;
}

export class LineSearch {
  readonly #wanted: string;
  readonly #max: number;
  readonly #found: FoundLine[] = [];
  /** Begin of the line that has not ended yet, and what there is of it. */
  #from: number;
  #rest: Buffer = Buffer.alloc(0);

  /** `from`: where the first bytes stand. `max`: lines at most. */
  constructor(text: string, { from, max }: { readonly from: number; readonly max: number }) {
    this.#wanted = text.toLowerCase();
    this.#from = from;
    this.#max = max;
  }

  get found(): readonly FoundLine[] {
    return this.#found;
  }

  /** Where to go on: the begin of the first line that was not looked at whole. */
  get next(): number {
    return this.#from;
  }

  get isFull(): boolean {
    return this.#found.length >= this.#max;
  }

  /** The next bytes. */
  push(bytes: Uint8Array): void {
    const all = Buffer.concat([this.#rest, bytes]);
    const end = all.lastIndexOf(NEWLINE) + 1;
    const looked = this.#look(all.subarray(0, end));
    this.#from += looked;
    this.#rest = all.subarray(looked);
    while (!this.isFull && this.#rest.length > PIECE_BYTES) this.#lookAtPiece();
  }

  /** No more comes for now: the line without an end is looked at, and will be again. */
  end(): void {
    if (!this.isFull && this.#rest.length > 0) this.#try(this.#rest, this.#from);
  }

  /** Whole lines. Says how many bytes were looked at: fewer than all when enough is found. */
  #look(lines: Buffer): number {
    if (lines.length === 0 || this.isFull) return 0;
    // Mostly it is in none of them, and most output has no colours.
    if (!lines.includes(ESCAPE) && !this.#isIn(lines.toString())) return lines.length;
    let at = 0;
    while (at < lines.length && !this.isFull) {
      const end = lines.indexOf(NEWLINE, at);
      this.#try(lines.subarray(at, end), this.#from + at);
      at = end + 1;
    }
    return at;
  }

  #lookAtPiece(): void {
    this.#try(this.#rest.subarray(0, PIECE_BYTES), this.#from);
    this.#from += PIECE_BYTES - OVERLAP_BYTES;
    this.#rest = this.#rest.subarray(PIECE_BYTES - OVERLAP_BYTES);
  }

  #try(line: Buffer, at: number): void {
    if (!this.#isIn(line.toString().replace(ESCAPES, ''))) return;
    const text = line.subarray(0, SHOWN_BYTES).toString();
    this.#found.push({ at, text, cut: Math.max(0, line.length - SHOWN_BYTES) });
  }

  #isIn(text: string): boolean {
    return text.toLowerCase().includes(this.#wanted);
  }
}
