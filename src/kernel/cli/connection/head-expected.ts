// Whether a head that nobody has met yet is likely to come: it restarts, or starts.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { locateHead } from '../../connect/locate.ts';
import { readLiveMark } from '../../connect/process-file.ts';
import type { Context } from '../context.ts';
import { isReadable, LocalPaths } from '../daemons/local-paths.ts';
import { isKept, readRoster } from '../daemons/roster.ts';

/** False where it was never started, or was stopped. An address is believed: somebody wrote it. */
export function isHeadExpected({ options, environment, directory }: Context): boolean {
  const location = locateHead(options, environment);
  if (location.kind === 'url') return true;
  const paths = new LocalPaths(directory);
  // The folder of a service's socket goes when the service is stopped, not when it restarts.
  if (location.path !== paths.socket) return existsSync(path.dirname(location.path));
  if (!existsSync(paths.cluster)) return existsSync(paths.head);
  if (isClosed(paths)) return false;
  // That of `weft up` may be starting, or one of its agents starts it again.
  return readLiveMark(paths.mark('head')) !== null || isKept(paths, 'head');
}

/** The head of a `weft up` here that was not followed by a `weft down`. */
export function isHeadUnstopped({ options, environment, directory }: Context): boolean {
  const location = locateHead(options, environment);
  const paths = new LocalPaths(directory);
  if (location.kind === 'url' || location.path !== paths.socket) return false;
  if (isClosed(paths)) return false;
  return readRoster(paths).some(({ names }) => names.includes('head'));
}

/** What is known of the daemons there is for another user's eyes. */
function isClosed({ roster }: LocalPaths): boolean {
  return !isReadable(path.dirname(roster));
}
