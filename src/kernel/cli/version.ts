// The release that this is.

import { readFileSync } from 'node:fs';

/** Version in package.json: two folders up from the sources as from dist/. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  }
).version;
