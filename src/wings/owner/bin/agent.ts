// The part of the machine's owner in the agents of a program: whether somebody uses the machine,
// which the nodes of a program see together, and a listener for each of them.

import type { AgentOptions } from '../../../kernel/config/daemon-options.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { AgentMaker } from '../../../kernel/wing.ts';
import { ownerPart } from '../agent/part.ts';
import type { YieldSettings } from '../agent/yield-watch.ts';
import { systemPresence } from '../os/presence.ts';
import type { OwnerPresence } from '../ports/presence.ts';
import { openPauseListenerOf } from './open-pause-listener.ts';
import { yieldSettings } from './yield-settings.ts';

/** For the nodes of one program. */
export function ownerOnNodes(): AgentMaker {
  const presence = systemPresence(systemClock);
  return ({ options: ofNode, log, uidsOf }) => {
    const options = ownOptions(ofNode);
    return ownerPart({
      yielding: yieldingOf(options, presence, log),
      pauseMaxMs: options.pause?.maxMs,
      open: (agent, watch, link) =>
        openPauseListenerOf({ options, log, uidsOf }, agent, { watch, link }),
    });
  };
}

/** What is said of the owner of a gateway's machine says nothing of its site's nodes. */
export function ownOptions(options: AgentOptions): AgentOptions {
  if (options.site?.member === undefined) return options;
  const { pause: _, ...rest } = options;
  return rest;
}

function yieldingOf(
  { pause, site }: AgentOptions,
  presence: OwnerPresence,
  log: Log,
): YieldSettings | null {
  if (pause?.yield === undefined) return null;
  if (site === undefined) return yieldSettings(pause.yield, presence);
  log.warn({}, 'node.yield is left out: what runs at a site cannot be suspended');
  return null;
}
