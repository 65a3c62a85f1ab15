// Text that keeps its beginning and its end, and says what it left out: answers to programs that
// pay for every word.

/** Share of the room that the beginning has. */
const HEAD_SHARE = 0.3;
/** Room for what is said of the rest. */
const NOTE_MAX = 60;

export class BoundedText {
  readonly #headMax: number;
  readonly #tailMax: number;
  #head = '';
  #tail = '';
  #lost = 0;

  /** `max`: characters of the whole. */
  constructor(max: number) {
    this.#headMax = Math.floor(max * HEAD_SHARE);
    this.#tailMax = max - this.#headMax;
  }

  add(text: string): void {
    const room = Math.max(0, this.#headMax - this.#head.length);
    // What has once gone to the end never comes before it.
    const first = this.#tail === '' ? text.slice(0, room) : '';
    this.#head += first;
    this.#tail += text.slice(first.length);
    const over = this.#tail.length - this.#tailMax;
    if (over <= 0) return;
    this.#tail = this.#tail.slice(over);
    this.#lost += over;
  }

  toString(): string {
    if (this.#lost === 0) return this.#head + this.#tail;
    const tail = this.#tail.slice(NOTE_MAX);
    const lost = this.#lost + NOTE_MAX;
    return `${this.#head}\n… ${lost} characters are left out here …\n${tail}`;
  }
}
