// The part of the machine's owner in the agents of a program: whether somebody uses the machine,
// which the nodes of a program see together, and a listener for each of them.

import type { AgentOptions } from '../../../kernel/config/daemon-options.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { AgentMaker } from '../../../kernel/wing.ts';
import { type OwnersWord, ownerPart } from '../agent/part.ts';
import type { YieldSettings } from '../agent/yield-watch.ts';
import { readOwnerFile } from '../config/owner-file.ts';
import type { OwnerFilePlace, YieldOptions } from '../config/pause-options.ts';
import type { OwnerRules } from '../model/owner-file.ts';
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
      rules: ownersWord(options, presence),
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

/** What runs at a site is on none of its owner's machines. */
function ownersWord(
  { pause, site }: AgentOptions,
  presence: OwnerPresence,
): OwnersWord | undefined {
  const place = pause?.ownerFile;
  if (place === undefined || site !== undefined) return undefined;
  const settings = settingsOver(place, pause?.yield, presence);
  return { read: () => readOwnerFile(place.path), over: settings };
}

/** The same settings as long as the rules are the same. */
export function settingsOver(
  { resumeAfterMs, vacateAfterMs }: OwnerFilePlace,
  configured: YieldOptions | undefined,
  presence: OwnerPresence,
): OwnersWord['over'] {
  const none = { idleBelowMs: null, sessions: false, loadAbove: null, hours: null };
  let last: { of: OwnerRules; settings: YieldSettings | null } | null = null;
  return (rules) => {
    if (last?.of === rules) return last.settings;
    const isAsked = configured !== undefined || Object.keys(rules.yield).length > 0;
    const options = { ...none, resumeAfterMs, vacateAfterMs, ...configured, ...rules.yield };
    last = { of: rules, settings: isAsked ? yieldSettings(options, presence) : null };
    return last.settings;
  };
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
