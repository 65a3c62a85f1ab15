// What the configuration says of what a node keeps for the next tasks, as an agent is told it.

import type { Config } from './config.ts';
import type { AgentOptions, CacheOptions } from './daemon-options.ts';

export function cacheOptions(config: Config): CacheOptions {
  const cacheBytesMax = config.optionalNumber('node.cache');
  const buildsBytesMax = config.optionalNumber('node.builds');
  return {
    ...(cacheBytesMax === null ? {} : { cacheBytesMax }),
    ...(buildsBytesMax === null ? {} : { buildsBytesMax }),
    buildsAgeMs: config.number('node.builds_age'),
  };
}

/** Where jobs find programs. */
export function pathOptions(config: Config): Pick<AgentOptions, 'jobPath'> {
  const jobPath = config.text('node.path');
  return jobPath === null ? {} : { jobPath };
}

/** What is no part of them: a node that starts again is told anew. */
export function withoutCacheOptions(options: AgentOptions): AgentOptions {
  const {
    cacheBytesMax: _,
    buildsBytesMax: __,
    buildsAgeMs: ___,
    jobPath: ____,
    ...others
  } = options;
  return others;
}
