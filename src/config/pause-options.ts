// What the configuration says of pauses, as an agent is told it.

import type { Config } from './config.ts';
import type { AgentOptions } from './daemon-options.ts';

/** `door`: where the agent's own socket is. */
export function pauseOptions(config: Config, door: string): Pick<AgentOptions, 'pause'> {
  const maxMs = config.optionalNumber('node.pause_max') ?? 0;
  return { pause: { maxMs, owners: config.texts('node.owners'), door } };
}
