// The end of the head's certificate, for people.

import { formatInstant } from '../base/instant.ts';

/** Long enough before it to notice. */
const NEAR_MS = 90 * 86_400_000;

/** Null while the end is far. */
export function certificateWords(end: number | null | undefined, now: number): string | null {
  if (end === null || end === undefined || end > now + NEAR_MS) return null;
  return `the certificate of the head ${end > now ? 'ends' : 'has ended'} on ${certificateDay(end)}`;
}

/** The same date wherever it is read. */
export function certificateDay(end: number): string {
  return formatInstant(end).slice(0, 10);
}

/** A head renews its own; another one is its admin's to renew. */
export const RENEWAL =
  'Start the head anew: it renews the certificate that it has made. One of yours you replace in its folder tls.';
