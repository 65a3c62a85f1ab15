// How a worker proves that a program runs in a call of it: a text made from its secret, which stays
// with it. The program finds the text in its environment and sends it with the handshake of its
// calls.

import { createHmac } from 'node:crypto';
import type { InsideClaim } from '../model/inside.ts';

/** The proof of a call from inside a worker: which one, how deep, hashed with its secret. */
export function insideProof({
  epochId,
  depth,
  key,
}: InsideClaim & { readonly key: string }): string {
  const claim = `${epochId}:${depth}`;
  return `${claim}:${createHmac('sha256', key).update(`inside ${claim}`).digest('hex')}`;
}
