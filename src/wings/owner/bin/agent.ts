// The part of the machine's owner in the agents of a program: whether somebody uses the machine,
// which the nodes of a program see together, and a listener for each of them.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentInside } from '../../../kernel/agent/part.ts';
import type { AgentOptions } from '../../../kernel/config/daemon-options.ts';
import { Accounts } from '../../../kernel/head/auth/accounts.ts';
import { LocalLogin } from '../../../kernel/head/auth/local-login.ts';
import { parseHours } from '../../../kernel/model/hours.ts';
import { systemChance } from '../../../kernel/os/chance.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import { systemCommands } from '../../../kernel/os/commands.ts';
import { localTime } from '../../../kernel/os/local-time.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { AgentMaker, HostedNode } from '../../../kernel/wing.ts';
import { announce } from '../agent/listener/announce.ts';
import {
  type Link,
  openPauseListener,
  type PauseListener,
} from '../agent/listener/pause-listener.ts';
import { type OwnersWord, ownerPart } from '../agent/part.ts';
import type { YieldSettings, YieldWatch } from '../agent/yield-watch.ts';
import { readOwnerFile } from '../config/owner-file.ts';
import type { OwnerFilePlace, YieldOptions } from '../config/pause-options.ts';
import type { OwnerRules } from '../model/owner-file.ts';
import { atConsole } from '../os/console-users.ts';
import { systemPresence } from '../os/presence.ts';
import type { OwnerPresence } from '../ports/presence.ts';

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

/** Without one the node works all the same; only its owner cannot ask it. */
async function openPauseListenerOf(
  { options, log, uidsOf }: Pick<HostedNode, 'options' | 'log' | 'uidsOf'>,
  { state, pausing, atSocket }: AgentInside,
  { watch, link }: { readonly watch: YieldWatch; readonly link: Link },
): Promise<PauseListener[]> {
  const { pause, name } = options;
  if (pause === undefined) return [];
  const uid = process.getuid?.() ?? 0;
  const directory = join(tmpdir(), `weft-agent-login-${uid}`);
  const accounts = new Accounts();
  try {
    const door = await openPauseListener(pause.door, {
      node: name,
      state,
      pausing,
      atSocket,
      watch,
      link,
      pauseMaxMs: pause.maxMs,
      clock: systemClock,
      log,
      uidsOf,
      rights: { owners: pause.owners, uid, isAtConsole: atConsole(systemCommands) },
      proofs: new LocalLogin({ directory, chance: systemChance, accounts, whose: 'agent' }),
    });
    return pause.isAnnounced ? [door, ...(await announced(pause.door, log))] : [door];
  } catch (error) {
    log.warn({ error, path: pause.door }, 'no `weft pause` on this machine: no socket for it');
    return [];
  }
}

/** Without it the listener is found by whoever names the directory. */
async function announced(door: string, log: Log): Promise<PauseListener[]> {
  try {
    const made = await announce(door);
    if (made !== null) return [made];
    log.info({ path: door }, 'its path is long: `weft pause` needs --dir to find it');
  } catch (error) {
    log.warn({ error, path: door }, '`weft pause` needs --dir to find this node');
  }
  return [];
}

/** Throws with words when the options cannot be. */
function yieldSettings(options: YieldOptions, detectors: OwnerPresence): YieldSettings {
  const hours = options.hours === null ? null : parseHours(options.hours);
  if (hours?.ok === false) throw new Error(`node.yield.hours: ${hours.error}`);
  return { rules: { ...options, hours: hours?.value ?? null }, detectors, localTime };
}
