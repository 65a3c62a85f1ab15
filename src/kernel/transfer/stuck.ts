// A body that is sent piece by piece, and given up when the other side takes nothing for long.

import { Readable } from 'node:stream';
import { unreachableError } from '../api/api-error.ts';

const STALL_MS = 60_000;
/** With the last byte the head writes all of it to its disk before it answers. */
const VERIFY_MS = 600_000;

/** `make`: the pieces; it calls its argument with each. */
export function stoppedWhenStuck(
  address: string,
  make: (moving: () => void) => AsyncIterable<Uint8Array>,
): Readable {
  const stream = Readable.from(
    make(() => watch.refresh()),
    { highWaterMark: 1 },
  );
  const give = (): void => void stream.destroy(unreachableError(address, 'it takes no bytes'));
  let watch = setTimeout(give, STALL_MS).unref();
  stream.once('end', () => {
    clearTimeout(watch);
    watch = setTimeout(give, VERIFY_MS).unref();
  });
  stream.once('close', () => clearTimeout(watch));
  return stream;
}
