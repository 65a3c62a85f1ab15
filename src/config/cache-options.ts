// What the configuration says of a node's cache, as an agent is told it.

import type { Config } from './config.ts';
import type { AgentOptions } from './daemon-options.ts';

export function cacheOptions(config: Config): Pick<AgentOptions, 'cacheBytesMax'> {
  const cacheBytesMax = config.optionalNumber('node.cache');
  return cacheBytesMax === null ? {} : { cacheBytesMax };
}
