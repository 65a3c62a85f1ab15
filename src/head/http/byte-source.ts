// The body of a request as it comes, for handlers that take bytes: nothing of it is kept here, and a
// connection that sends nothing for long is ended.

import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../ports/clock.ts';

/** Throws when the connection breaks, or is ended because it stalls. */
export async function* readBytes(
  incoming: IncomingMessage,
  clock: Clock,
  stallMs: number,
): AsyncGenerator<Uint8Array> {
  const stalled = (): void => void incoming.destroy(new Error(`nothing came for ${stallMs} ms`));
  let timer = clock.after(stallMs, stalled);
  try {
    // A reader that has had enough still has to answer: the connection stays.
    for await (const bytes of incoming.iterator({ destroyOnReturn: false })) {
      timer.cancel();
      yield bytes as Uint8Array;
      timer = clock.after(stallMs, stalled);
    }
  } finally {
    timer.cancel();
  }
}
