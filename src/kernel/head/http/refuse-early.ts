// A refusal of a request whose body is still on its way.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { ANSWER_LINGER_MS, REQUEST_BYTES_MAX } from '../../model/limits.ts';
import type { Clock } from '../../ports/clock.ts';

/**
 * Ends an answer whose text was written already. Closing while the other side still sends would
 * fail its next write, and a client that fails to write never reads the answer: so what comes is
 * thrown away, for a while and up to a size, until the other side has read and goes.
 */
export function endUnread(incoming: IncomingMessage, response: ServerResponse, clock: Clock): void {
  let left = REQUEST_BYTES_MAX;
  const end = (): void => {
    timer.cancel();
    response.end();
  };
  const timer = clock.after(ANSWER_LINGER_MS, end);
  incoming.once('close', end);
  incoming.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) end();
  });
  incoming.resume();
}
