// Somebody who looks at a process of a step beside whoever started it: what it writes from now on.
// A slow one holds up nobody, and is told what it has missed.

import type { Clock, Timer } from '../../../kernel/ports/clock.ts';
import { WATCHED_MS, WINDOW_BYTES } from '../core/limits.ts';
import type { StepLine } from '../ports/steps.ts';
import { Channel } from '../wire/channel.ts';
import { FROM_STEP, frame } from '../wire/frames.ts';
import { Redial } from './line.ts';

export interface WatcherWorld {
  readonly clock: Clock;
  readonly dial: () => Promise<StepLine>;
  readonly gone: () => void;
}

export class Watcher {
  readonly #world: WatcherWorld;
  readonly #channel: Channel;
  readonly #redial: Redial;
  /** Set until somebody is there. */
  readonly #alone: Timer;
  #missed = 0;

  constructor(world: WatcherWorld) {
    this.#world = world;
    this.#channel = new Channel({
      // What it says is for nobody.
      bytes: (bytes) => this.#channel.take(bytes.length),
      drained: () => undefined,
      joined: (isJoined) => (isJoined ? this.#alone.cancel() : this.close()),
      bye: () => this.close(),
    });
    const { clock, dial } = world;
    this.#alone = clock.after(WATCHED_MS, () => this.close());
    const channel = this.#channel;
    this.#redial = new Redial({ clock, dial, channel, broken: () => this.close() });
  }

  /** One whole frame of the process. */
  show(bytes: Buffer): void {
    if (this.#channel.waitingBytes >= WINDOW_BYTES) {
      this.#missed += bytes.length;
      return;
    }
    this.#tellMissed();
    this.#channel.write(bytes);
  }

  end(last: Buffer): void {
    this.#tellMissed();
    this.#channel.write(last);
    this.#channel.end();
  }

  close(): void {
    this.#alone.cancel();
    this.#redial.close();
    this.#world.gone();
  }

  #tellMissed(): void {
    if (this.#missed === 0) return;
    const words = `weft: ${this.#missed} bytes were left out here: they are written faster than you read\n`;
    this.#missed = 0;
    this.#channel.write(frame(FROM_STEP.errors, Buffer.from(words)));
  }
}
