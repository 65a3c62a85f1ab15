// A daemon of `weft up` looks after the others of its cluster, and notes how it ended.

import { writeFileSync } from 'node:fs';
import { keepOthers } from '../kernel/cli/daemons/keeper.ts';
import { LocalPaths } from '../kernel/cli/daemons/local-paths.ts';
import { openLog } from '../kernel/os/log.ts';

/** Returns a hint that one may have died; does nothing for a daemon of another kind. */
export function keep({ keeps }: { readonly keeps?: string }): () => void {
  if (keeps === undefined) return () => undefined;
  const paths = new LocalPaths(keeps);
  const log = openLog({ file: paths.keeperLog, name: 'keeper' });
  const environment = process.env;
  const keeper = keepOthers({
    paths,
    environment,
    warn: (fields, words) => log.warn(fields, words),
  });
  return () => keeper.lookSoon();
}

/** For those who would start the head again. */
export function noteExit({ keeps }: { readonly keeps?: string }, code: number): void {
  if (keeps !== undefined) writeFileSync(new LocalPaths(keeps).exit('head'), `${code}\n`);
}
