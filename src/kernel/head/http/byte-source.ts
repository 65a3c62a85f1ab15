// The body of a request as it comes, for handlers that take bytes: nothing of it is kept here, and
// a connection that brings next to nothing for long is ended.

import type { Readable } from 'node:stream';
import type { Clock, Timer } from '../../ports/clock.ts';

export interface Pace {
  /** Waited for bytes so long … */
  readonly stallMs: number;
  /** … a sender that lives has brought so many. The last of a body may be fewer. */
  readonly bytesMin: number;
}

/** Throws when the connection breaks, or is ended because it stalls. */
export async function* readBytes(
  incoming: Pick<Readable, 'iterator' | 'destroy'>,
  clock: Clock,
  { stallMs, bytesMin }: Pace,
): AsyncGenerator<Uint8Array> {
  let [waitedMs, came] = [0, 0];
  const stalled = (): void => {
    incoming.destroy(
      new Error(`${came} bytes came in ${stallMs} ms, at least ${bytesMin} have to`),
    );
  };
  // Only the sender's time counts, not what is done here with what it has sent.
  const wait = (): { timer: Timer; from: number } => {
    return { timer: clock.after(stallMs - waitedMs, stalled), from: clock.monotonic() };
  };
  let waiting = wait();
  try {
    // A reader that has had enough still has to answer: the connection stays.
    for await (const bytes of incoming.iterator({ destroyOnReturn: false })) {
      waiting.timer.cancel();
      waitedMs += clock.monotonic() - waiting.from;
      came += (bytes as Uint8Array).length;
      if (came >= bytesMin) [waitedMs, came] = [0, 0];
      yield bytes as Uint8Array;
      waiting = wait();
    }
  } finally {
    waiting.timer.cancel();
  }
}
