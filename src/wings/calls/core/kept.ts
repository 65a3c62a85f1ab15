// Bytes that outlive the frame they came in.

import { CALL_INLINE_BYTES_MAX } from '../../../kernel/model/limits.ts';
import type { Bytes } from './messages.ts';

/** Less is not worth a copy. */
const WASTE_BYTES_MAX = 256;

/** The same bytes; copied when they would keep much more memory than they need. */
export function kept(bytes: Bytes): Bytes {
  if (bytes.buffer.byteLength - bytes.length <= Math.max(WASTE_BYTES_MAX, bytes.length))
    return bytes;
  return copied(bytes);
}

/**
 * Frees the memory of large bytes that nobody else has, and that nobody reads again. V8 finds them
 * only by looking at all that lives, and does so after every few of them.
 */
export function release({ buffer, byteLength }: Bytes): void {
  if (byteLength > CALL_INLINE_BYTES_MAX) (buffer as Transferable).transfer?.(0);
}

/** Some versions of Node that a program may run have no such method. */
type Transferable = ArrayBufferLike & { readonly transfer?: (length: number) => unknown };

/** Not by `slice`, which of a `Buffer` gives a view. */
export function copied(bytes: Bytes): Bytes {
  return new Uint8Array(bytes);
}
