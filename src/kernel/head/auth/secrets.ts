// Making, hashing and comparing secrets. The head keeps hashes only; a secret is shown once.

import { hash, timingSafeEqual } from 'node:crypto';
import type { Chance } from '../../ports/chance.ts';

/** 256 bits: nobody guesses one, so a plain SHA-256 at rest is enough and costs a microsecond. */
const SECRET_BYTES = 32;
/** Ids only tell tokens apart. */
const ID_BYTES = 6;

/** Base64url, but for `_`, which separates the parts of a token. */
export function makeSecret(chance: Chance): string {
  return Buffer.from(chance.bytes(SECRET_BYTES)).toString('base64url').replaceAll('_', '-');
}

export function makeTokenId(chance: Chance): string {
  return Buffer.from(chance.bytes(ID_BYTES)).toString('hex');
}

/** SHA-256, hex. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Compares in constant time; false when the hash is no SHA-256. */
export function isSecret(secret: string, expectedHash: string): boolean {
  const actual = hash('sha256', secret, 'buffer');
  const expected = Buffer.from(expectedHash, 'hex');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** Bearer tokens say what they are: `wt` of a user, `wj` to join, `ws` of a local session. */
export type TokenPrefix = 'wt' | 'wj' | 'ws';

export function formatToken(prefix: TokenPrefix, id: string, secret: string): string {
  return `${prefix}_${id}_${secret}`;
}

/** Null when the text has not the form of a token. */
export function parseToken(
  text: string,
): { readonly prefix: TokenPrefix; readonly id: string; readonly secret: string } | null {
  const [prefix = '', id = '', secret = '', ...rest] = text.split('_');
  if (rest.length > 0 || id === '' || secret === '') return null;
  if (prefix !== 'wt' && prefix !== 'wj' && prefix !== 'ws') return null;
  return { prefix, id, secret };
}
