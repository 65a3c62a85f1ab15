// The last lines of a text that comes in pieces.

const BYTES_MAX = 16 * 1024;

export class Tail {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** What came before the mark. */
  #older: readonly Buffer[] = [];

  add(chunk: Buffer): void {
    const kept = chunk.subarray(-BYTES_MAX);
    this.#chunks.push(kept);
    this.#bytes += kept.length;
    while (this.#chunks.length > 1 && this.#bytes - (this.#chunks[0]?.length ?? 0) > BYTES_MAX)
      this.#bytes -= this.#chunks.shift()?.length ?? 0;
  }

  /** A new part of the text begins. */
  mark(): void {
    if (this.#chunks.length === 0) return;
    this.#older = this.#chunks;
    this.#chunks = [];
    this.#bytes = 0;
  }

  /** Without empty ones; of the newest part, or else of what came before it. */
  lines(): { readonly lines: readonly string[]; readonly isOlder: boolean } {
    const lines = linesOf(this.#chunks);
    if (lines.length > 0) return { lines, isOlder: false };
    return { lines: linesOf(this.#older), isOlder: true };
  }
}

function linesOf(chunks: readonly Buffer[]): string[] {
  const text = Buffer.concat(chunks).subarray(-BYTES_MAX).toString('utf8');
  return text.split('\n').filter((line) => line.trim() !== '');
}
