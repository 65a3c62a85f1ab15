// The SHA-256 of bytes, in hex.

import { hash } from 'node:crypto';

export function hashOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
