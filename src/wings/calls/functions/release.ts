// The release whose files lie beside this one. An upgrade in place changes it below a worker that
// runs, and processes that the worker starts afterwards are of the new one.

import { readFileSync } from 'node:fs';

const MANIFEST = new URL('../../../../package.json', import.meta.url);

export function releaseHere(): string {
  try {
    const { version } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version?: unknown };
    return `weft ${String(version)}`;
  } catch {
    return 'a weft whose files are gone';
  }
}
