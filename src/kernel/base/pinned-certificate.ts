// By which fingerprint a head is known: that of its certificate, or that of its first one, where it
// has renewed it. A renewed certificate has the same key and carries the first one: whoever proves
// to have that key is the head whose fingerprint was written down once.

/** Before the first certificate, as base64url, in a name of the renewed one. */
export const FIRST_PREFIX = 'weft-first:';

/** Certificates of heads are small. */
const FIRST = new RegExp(`(?:^|, )URI:${FIRST_PREFIX}([A-Za-z0-9_-]{1,16384})(?:,|$)`);

/** What is asked of a certificate; Node's class has all of it. */
export interface Certificate<K> {
  /** SHA-256. */
  readonly fingerprint256: string;
  readonly subjectAltName?: string | undefined;
  readonly publicKey: { equals(other: K): boolean } & K;
}

/**
 * SHA-256, hex; `none` where there is no certificate.
 * @param parse a certificate of base64url; throws where it is none
 */
export function identityShown<K>(
  leaf: Certificate<K> | undefined,
  parse: (text: string) => Certificate<K>,
): string {
  if (leaf === undefined) return 'none';
  const { fingerprint256 } = firstOf(leaf, parse) ?? leaf;
  return fingerprint256.replaceAll(':', '').toLowerCase();
}

/** Null: it carries none, or one of another key. */
function firstOf<K>(
  leaf: Certificate<K>,
  parse: (text: string) => Certificate<K>,
): Certificate<K> | null {
  const carried = FIRST.exec(leaf.subjectAltName ?? '')?.[1];
  if (carried === undefined) return null;
  try {
    const first = parse(carried);
    return first.publicKey.equals(leaf.publicKey) ? first : null;
  } catch {
    return null;
  }
}
