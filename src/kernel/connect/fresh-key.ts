// Keys by which the head knows a request that is sent again.

import { closeSync, openSync, readSync } from 'node:fs';

/** One that nobody has used: 128 bits from random(4). node:crypto takes long to load. */
export function freshKey(): string {
  const bytes = Buffer.alloc(16);
  const source = openSync('/dev/urandom', 'r');
  try {
    readSync(source, bytes);
  } finally {
    closeSync(source);
  }
  return bytes.toString('hex');
}
