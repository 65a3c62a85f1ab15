// The last lines of a text that comes in pieces.

const BYTES_MAX = 16 * 1024;

export class Tail {
  #chunks: Buffer[] = [];
  #bytes = 0;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk.length > BYTES_MAX ? chunk.subarray(-BYTES_MAX) : chunk);
    this.#bytes += chunk.length;
    while (this.#chunks.length > 1 && this.#bytes - (this.#chunks[0]?.length ?? 0) > BYTES_MAX)
      this.#bytes -= this.#chunks.shift()?.length ?? 0;
  }

  /** Without empty ones. */
  lines(): string[] {
    const text = Buffer.concat(this.#chunks).subarray(-BYTES_MAX).toString('utf8');
    return text.split('\n').filter((line) => line.trim() !== '');
  }
}
