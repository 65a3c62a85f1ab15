// Puts a label before each line, so that the output of several processes can be told apart.

const NEWLINE = 10;

export class LineLabeller {
  readonly #label: Buffer;
  readonly #sink: (bytes: Uint8Array) => void;
  /** The line whose end has not come, in the pieces in which it came. */
  #unfinished: Uint8Array[] = [];

  constructor(label: string, sink: (bytes: Uint8Array) => void) {
    this.#label = Buffer.from(label);
    this.#sink = sink;
  }

  /** Passes on whole lines only; half a line waits for its end. */
  write(bytes: Uint8Array): void {
    const pieces: Uint8Array[] = [];
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      pieces.push(this.#label, ...this.#unfinished.splice(0), bytes.subarray(from, end + 1));
      from = end + 1;
    }
    if (from < bytes.length) this.#unfinished.push(bytes.subarray(from));
    if (pieces.length > 0) this.#sink(Buffer.concat(pieces));
  }

  /** The last line, when it has no end. */
  end(): void {
    if (this.#unfinished.length > 0) this.write(Buffer.from('\n'));
  }
}
