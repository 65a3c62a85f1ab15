// The way out of a terminal on a node, as ssh and others have it: `~.` at the beginning of a line
// leaves, `~~` is one `~`.

const TILDE = 0x7e;
const DOT = 0x2e;
const LINE_ENDS: ReadonlySet<number> = new Set([0x0a, 0x0d]);

export class Escapes {
  #at: 'line start' | 'tilde' | 'within' = 'line start';

  /** `typed`: what is the program's. After `leaves` nothing is. */
  take(bytes: Uint8Array): { readonly typed: Uint8Array; readonly leaves: boolean } {
    const typed: number[] = [];
    for (const byte of bytes) {
      if (this.#at === 'tilde' && byte === DOT)
        return { typed: Uint8Array.from(typed), leaves: true };
      // A tilde that was held back, unless the second of two stands for both.
      if (this.#at === 'tilde' && byte !== TILDE) typed.push(TILDE);
      const isHeld = this.#at === 'line start' && byte === TILDE;
      if (!isHeld) typed.push(byte);
      this.#at = isHeld ? 'tilde' : LINE_ENDS.has(byte) ? 'line start' : 'within';
    }
    return { typed: Uint8Array.from(typed), leaves: false };
  }
}
