// Memory of bytes that pass through. V8 counts it, and collects the whole heap for it: all that
// lives is looked at to find buffers that were dropped a moment ago. Collecting only what is young,
// more often, costs a tenth of that.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Passed between two collections: more grows old meanwhile, less is not worth one. */
const EVERY_BYTES = 8 * 1_048_576;

let passedBytes = 0;
let collect: typeof globalThis.gc | null = null;

/** Counts bytes in buffers that are of no use once they are sent on, or taken apart. */
export function passed(bytes: number): void {
  passedBytes += bytes;
  if (passedBytes < EVERY_BYTES) return;
  passedBytes = 0;
  collect ??= collector();
  collect?.({ type: 'minor', execution: 'sync' });
}

/** V8 shows it to contexts made while the flag is set: the program's own sees none of it. */
function collector(): typeof globalThis.gc {
  if (globalThis.gc !== undefined) return globalThis.gc;
  setFlagsFromString('--expose-gc');
  const found = runInNewContext('globalThis.gc') as typeof globalThis.gc;
  setFlagsFromString('--no-expose-gc');
  return found;
}
