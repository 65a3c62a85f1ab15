// Where the scripts of daemons are for tests that start them without `weft`.

import { join } from 'node:path';

const repository = join(import.meta.dirname, '..', '..');

/** Script of a daemon: as built in the whole run of the tests, else the sources. */
export function daemonScript(name: 'head' | 'agent'): string {
  const isBuilt = process.env['NODE_TESTS_BUILT_WEFT'] === repository;
  return join(repository, isBuilt ? `dist/bin/${name}.js` : `src/bin/${name}.ts`);
}
