// Answers of HTTP/1.1 (RFC 9112) out of the bytes of a connection, in whatever pieces they come.
// Knows no sockets.

export type Fields = Readonly<Record<string, string>>;

export interface AnswerHead {
  readonly statusCode: number;
  /** Names in lower case. */
  readonly headers: Fields;
}

export interface AnswerEvents {
  head(head: AnswerHead): void;
  body(piece: Buffer): void;
  /** Complete; what follows on this connection is the next answer. */
  end(trailers: Fields): void;
}

type State = 'status' | 'headers' | 'body' | 'chunk_size' | 'chunk_end' | 'trailers' | 'over';

/** Limit of one line, and of all lines before a body: Node.js sends and takes no more either. */
const HEAD_BYTES_MAX = 65_536;
const NEWLINE = 10;

/** One answer. Throws when the bytes are none. */
export class AnswerParser {
  readonly #events: AnswerEvents;
  #state: State = 'status';
  /** A line whose end has not come. */
  #pending: Buffer = Buffer.alloc(0);
  #headBytes = 0;
  #statusCode = 0;
  #fields: Record<string, string> = {};
  /** Bytes of the body, or of the chunk, that have not come. */
  #due = 0;
  #isChunked = false;

  constructor(events: AnswerEvents) {
    this.#events = events;
  }

  write(bytes: Buffer): void {
    let rest = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    this.#pending = rest.subarray(rest.length);
    while (rest.length > 0) {
      if (this.#state === 'body') {
        const piece = rest.subarray(0, this.#due);
        rest = rest.subarray(piece.length);
        this.#take(piece);
        continue;
      }
      const end = rest.indexOf(NEWLINE);
      this.#headBytes += end === -1 ? rest.length : end;
      if (this.#headBytes > HEAD_BYTES_MAX) throw wrong('its head is too long');
      if (end === -1) {
        this.#headBytes -= rest.length;
        this.#pending = rest;
        return;
      }
      const line = rest.toString('latin1', 0, end);
      rest = rest.subarray(end + 1);
      this.#line(line.endsWith('\r') ? line.slice(0, -1) : line);
    }
  }

  /** The connection has ended: false when the answer had not. */
  close(): boolean {
    if (this.#state === 'body' && this.#due === Number.POSITIVE_INFINITY) this.#over({});
    return this.#state === 'over';
  }

  #line(line: string): void {
    switch (this.#state) {
      case 'status':
        this.#statusCode = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(line)?.[1]);
        if (Number.isNaN(this.#statusCode)) throw wrong('it is no HTTP');
        this.#state = 'headers';
        return;
      case 'headers':
        if (line !== '') this.#field(line);
        else this.#beginBody();
        return;
      case 'chunk_size':
        this.#beginChunk(line);
        return;
      case 'chunk_end':
        if (line !== '') throw wrong('a chunk is longer than it says');
        this.#state = 'chunk_size';
        return;
      case 'trailers':
        if (line !== '') this.#field(line);
        else this.#over(this.#fields);
        return;
      default:
        throw wrong('bytes come after its end');
    }
  }

  #field(line: string): void {
    const at = line.indexOf(':');
    if (at < 1) throw wrong('a line of its head has no name');
    const name = line.slice(0, at).toLowerCase();
    const value = line.slice(at + 1).trim();
    const before = this.#fields[name];
    this.#fields[name] = before === undefined ? value : `${before}, ${value}`;
  }

  #beginBody(): void {
    const statusCode = this.#statusCode;
    const headers = this.#fields;
    this.#fields = {};
    if (statusCode < 200) {
      // Word that the answer is on its way.
      this.#state = 'status';
      return;
    }
    this.#events.head({ statusCode, headers });
    const { 'transfer-encoding': coding, 'content-length': length } = headers;
    this.#headBytes = 0;
    if (statusCode === 204 || statusCode === 304) return this.#over({});
    if (coding !== undefined) {
      if (coding.toLowerCase() !== 'chunked') throw wrong(`its coding is ${coding}`);
      this.#isChunked = true;
      this.#state = 'chunk_size';
      return;
    }
    if (length !== undefined && !/^\d{1,15}$/.test(length)) throw wrong('its length is no number');
    this.#due = length === undefined ? Number.POSITIVE_INFINITY : Number(length);
    this.#state = 'body';
    if (this.#due === 0) this.#over({});
  }

  #beginChunk(line: string): void {
    const size = /^([0-9a-fA-F]{1,12})\s*(?:;|$)/.exec(line)?.[1];
    if (size === undefined) throw wrong('a chunk has no size');
    this.#headBytes = 0;
    this.#due = Number.parseInt(size, 16);
    this.#state = this.#due === 0 ? 'trailers' : 'body';
  }

  #take(piece: Buffer): void {
    this.#due -= piece.length;
    this.#events.body(piece);
    if (this.#due > 0) return;
    if (this.#isChunked) this.#state = 'chunk_end';
    else this.#over({});
  }

  #over(trailers: Fields): void {
    this.#state = 'over';
    this.#events.end(trailers);
  }
}

function wrong(what: string): Error {
  return new Error(`the answer cannot be read: ${what}`);
}
