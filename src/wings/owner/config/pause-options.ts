// What the configuration says of pauses, as an agent is told it.

import type { Config } from '../../../kernel/config/config.ts';
import type {
  AgentOptions,
  PauseOptions,
  YieldOptions,
} from '../../../kernel/config/daemon-options.ts';

/** `door`: where the agent's own socket is, and whether all users of the machine are told. */
export function pauseOptions(
  config: Config,
  door: Pick<PauseOptions, 'door' | 'isAnnounced'>,
): Pick<AgentOptions, 'pause'> {
  const maxMs = config.optionalNumber('node.pause_max') ?? 0;
  const wish = yieldOptions(config);
  const own = { maxMs, owners: config.texts('node.owners'), ...door };
  return { pause: { ...own, ...(wish === null ? {} : { yield: wish }) } };
}

/** Null: nothing is to be looked at, so that there is nothing to stand aside for. */
function yieldOptions(config: Config): YieldOptions | null {
  const idleBelowMs = config.optionalNumber('node.yield.idle_below');
  const sessions = config.flag('node.yield.sessions');
  const loadAbove = config.optionalNumber('node.yield.load_above');
  const hours = config.text('node.yield.hours');
  if (idleBelowMs === null && !sessions && loadAbove === null && hours === null) return null;
  return {
    ...{ idleBelowMs, sessions, loadAbove, hours },
    resumeAfterMs: config.optionalNumber('node.yield.resume_after') ?? 0,
    vacateAfterMs: config.optionalNumber('node.yield.vacate_after'),
  };
}
