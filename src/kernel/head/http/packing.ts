// Long answers are sent compressed to who takes that: a list of a thousand jobs is a megabyte of
// words that repeat. Only whole answers: what is sent as it comes is never held back for this. Done
// beside the head's own thread, and quickly rather than well.

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** Shorter ones fit into few packets as they are. */
const BYTES_MIN = 4096;
/** At once: the threads that do it also read and write files. Who comes beyond gets it plain. */
const PACKING_MAX = 2;
/** The quickest: a third more bytes than the best, for a tenth of its time. */
const LEVEL = 1;

const pack = promisify(gzip);
let packing = 0;

/** The bytes compressed; null: that is not worth it, or too much else is being compressed. */
export async function packed(bytes: Buffer, accepted: string | undefined): Promise<Buffer | null> {
  if (bytes.length < BYTES_MIN || packing >= PACKING_MAX || !takesGzip(accepted)) return null;
  packing += 1;
  try {
    return await pack(bytes, { level: LEVEL });
  } finally {
    packing -= 1;
  }
}

/** What header Accept-Encoding says (RFC 9110, section 12.5.3); of nothing we make nothing. */
export function takesGzip(accepted: string | undefined): boolean {
  const weights = new Map<string, number>();
  for (const part of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith('q='))?.slice(2) ?? '1';
    weights.set(name, Number(weight) || 0);
  }
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}
