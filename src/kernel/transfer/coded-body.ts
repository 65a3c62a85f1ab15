// What is sent, compressed where the head reads that and a sample says that it pays.

import { CODING_HEADER, CODINGS, compressed, pays } from '../api/coding.ts';
import type { ByteBody } from '../api/exchange.ts';

interface SentBody {
  readonly bytes: ByteBody;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `reads`: how the head, as it said last, takes bodies from here. */
export async function codedBody(
  bytes: ByteBody,
  reads: readonly string[],
  sample: () => Promise<Uint8Array> | Uint8Array,
): Promise<SentBody> {
  const coding = CODINGS.find((known) => reads.includes(known));
  if (coding === undefined || !pays(await sample())) return { bytes };
  return {
    bytes: { length: null, open: () => compressed(bytes.open()) },
    headers: { [CODING_HEADER]: coding },
  };
}
