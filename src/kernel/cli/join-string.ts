// The one string with which a machine joins: addresses, fingerprint and token of the head.

import { err, ok, type Result } from '../base/result.ts';

export interface JoinTicket {
  /** `host:port`, tried in order. */
  readonly addresses: readonly string[];
  /** SHA-256 of the head's certificate, hex. */
  readonly fingerprint: string;
  readonly token: string;
}

const PREFIX = 'weft-join:';

/** `weft-join:` and base64url of JSON: one word without quotes for every shell. */
export function encodeTicket({ addresses, fingerprint, token }: JoinTicket): string {
  const json = JSON.stringify({ a: addresses, f: fingerprint, t: token });
  return PREFIX + Buffer.from(json).toString('base64url');
}

/** Reads it back; the words say what may have gone wrong on the way. */
export function decodeTicket(text: string): Result<JoinTicket, string> {
  const bad = err('this is not a join token; copy the whole of `weft-join:…`');
  if (!text.startsWith(PREFIX)) return bad;
  try {
    const json: unknown = JSON.parse(
      Buffer.from(text.slice(PREFIX.length), 'base64url').toString(),
    );
    const { a, f, t } = json as { a?: unknown; f?: unknown; t?: unknown };
    const addresses = Array.isArray(a) ? a.filter((one) => typeof one === 'string') : [];
    if (addresses.length === 0 || typeof f !== 'string' || typeof t !== 'string') return bad;
    // The token goes into a header as it is.
    return /^[0-9a-f]{64}$/.test(f) && /^[\x21-\x7e]+$/.test(t)
      ? ok({ addresses, fingerprint: f, token: t })
      : bad;
  } catch {
    return bad; // Cut off or mistyped: neither base64 nor JSON any more.
  }
}
