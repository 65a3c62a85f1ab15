// Puts a label before each line, so that the output of several processes can be told apart.

const NEWLINE = 10;

export class LineLabeller {
  readonly #label: Buffer;
  readonly #sink: (bytes: Uint8Array) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(label: string, sink: (bytes: Uint8Array) => void) {
    this.#label = Buffer.from(label);
    this.#sink = sink;
  }

  /** Passes on whole lines only; half a line waits for its end. */
  write(bytes: Uint8Array): void {
    let rest = Buffer.concat([this.#rest, bytes]);
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      this.#sink(Buffer.concat([this.#label, rest.subarray(0, end + 1)]));
      rest = rest.subarray(end + 1);
    }
    this.#rest = rest;
  }

  /** The last line, when it has no end. */
  end(): void {
    if (this.#rest.length > 0)
      this.#sink(Buffer.concat([this.#label, this.#rest, Buffer.from('\n')]));
    this.#rest = Buffer.alloc(0);
  }
}
