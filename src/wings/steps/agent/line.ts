// The line of one process to the head: dialled anew whenever it is gone, for as long as it is
// needed.

import type { Clock, Timer } from '../../../kernel/ports/clock.ts';
import type { StepLine } from '../ports/steps.ts';
import type { Channel } from '../wire/channel.ts';

const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 2_000;

export interface RedialWorld {
  readonly clock: Clock;
  readonly dial: () => Promise<StepLine>;
  readonly channel: Channel;
  /** The other side speaks otherwise: the stream cannot go on. */
  readonly broken: (why: string) => void;
}

export class Redial {
  readonly #world: RedialWorld;
  #line: StepLine | null = null;
  #timer: Timer | null = null;
  #retryMs = RETRY_MS_MIN;
  #isOver = false;

  constructor(world: RedialWorld) {
    this.#world = world;
    void this.#dial();
  }

  /** No line is needed any more. */
  close(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#line?.close();
  }

  async #dial(): Promise<void> {
    let line: StepLine;
    try {
      line = await this.#world.dial();
    } catch {
      return this.#again();
    }
    if (this.#isOver) return line.close();
    const { channel } = this.#world;
    this.#line = line;
    line.onBytes((bytes) => this.#hear(bytes));
    line.onClose(() => {
      this.#line = null;
      channel.cut();
      this.#again();
    });
    channel.open((bytes) => line.send(bytes));
  }

  #hear(bytes: Buffer): void {
    this.#retryMs = RETRY_MS_MIN;
    const heard = this.#world.channel.feed(bytes);
    if (heard.ok) return;
    this.#world.broken(heard.error);
    this.#line?.close();
  }

  #again(): void {
    if (this.#isOver) return;
    this.#timer = this.#world.clock.after(this.#retryMs, () => void this.#dial());
    this.#retryMs = Math.min(RETRY_MS_MAX, 2 * this.#retryMs);
  }
}
