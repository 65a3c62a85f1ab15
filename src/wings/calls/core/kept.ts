// Bytes that outlive the frame they came in.

import type { Bytes } from './messages.ts';

/** Less is not worth a copy. */
const WASTE_BYTES_MAX = 256;

/** The same bytes; copied when they would keep much more memory than they need. */
export function kept(bytes: Bytes): Bytes {
  if (bytes.buffer.byteLength - bytes.length <= Math.max(WASTE_BYTES_MAX, bytes.length))
    return bytes;
  return copied(bytes);
}

/** Not by `slice`, which of a `Buffer` gives a view. */
export function copied(bytes: Bytes): Bytes {
  return new Uint8Array(bytes);
}
