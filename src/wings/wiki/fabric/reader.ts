// A request as its bytes come in. Memory grows with what has come, not with what a header promises.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { WikiProblem } from './codes.ts';
import { readWikiHeader, WIKI_HEADER_BYTES } from './packet.ts';

export class WikiReader {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #size: number | null = null;

  /** The payload once it is there; null: more must come. What follows it nobody reads. */
  push(chunk: Uint8Array): Result<Uint8Array | null, WikiProblem> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#size === null) {
      if (this.#bytes < WIKI_HEADER_BYTES) return ok(null);
      const size = readWikiHeader(this.#joined().subarray(0, WIKI_HEADER_BYTES));
      if (!size.ok) return err(size.error);
      this.#size = size.value;
    }
    const end = WIKI_HEADER_BYTES + this.#size;
    if (this.#bytes < end) return ok(null);
    return ok(this.#joined().subarray(WIKI_HEADER_BYTES, end));
  }

  /** In words how far it got, for whoever fell silent. */
  get progress(): string {
    if (this.#size === null) return `${this.#bytes} of ${WIKI_HEADER_BYTES} bytes of the header`;
    return `${this.#bytes - WIKI_HEADER_BYTES} of ${this.#size} bytes of the request`;
  }

  #joined(): Uint8Array {
    const [only] = this.#chunks;
    if (only !== undefined && this.#chunks.length === 1) return only;
    const all = new Uint8Array(this.#bytes);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [all];
    return all;
  }
}
