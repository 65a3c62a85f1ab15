// The gpus of the nodes of an agents' program: they are looked at once before the first node joins,
// as long as that does not keep it waiting.

import type { AgentOptions } from '../../../kernel/config/daemon-options.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import { systemCommands } from '../../../kernel/os/commands.ts';
import type { AgentMaker } from '../../../kernel/wing.ts';
import { atConsole } from '../../owner/os/console-users.ts';
import { CardSource } from '../agent/card-source.ts';
import { Lookout } from '../agent/lookout.ts';
import type { CardWatchSettings } from '../agent/node-watch.ts';
import { gpusPart, type KeepRights } from '../agent/part.ts';
import { DEFAULTS, type GpuOptions } from '../config/options.ts';
import { keptIn } from '../core/kept.ts';
import type { Answer } from '../model/answer.ts';
import { knownCardsIn } from '../os/known-cards.ts';
import { systemView } from '../os/machine-view.ts';

/** A hung driver must not keep a node from joining. */
const FIRST_LOOK_MS_MAX = 5_000;

export async function gpusOnNodes(): Promise<AgentMaker> {
  const source = new CardSource(systemView());
  const lookout = new Lookout(source, await inTime(source.look()));
  return ({ options, log, nodeCount }) => {
    // Its tasks run elsewhere: the cards of this machine are none of theirs.
    if (options.site !== undefined) return {};
    const settings = {
      ...settingsOf({ ...DEFAULTS, ...options.gpus }, options),
      isAlone: nodeCount === 1,
    };
    return gpusPart(
      lookout,
      settings,
      () => knownCardsIn(options.stateDir, log, keptIn),
      rightsOf(options),
    );
  };
}

/** Those who may pause the node may keep a card of it. */
function rightsOf({ pause }: AgentOptions): KeepRights | null {
  if (pause === undefined) return null;
  const { owners, maxMs } = pause;
  const uid = process.getuid?.() ?? 0;
  return { maxMs, rights: { owners, uid, isAtConsole: atConsole(systemCommands) } };
}

function settingsOf(
  { only, ...look }: GpuOptions,
  { resources, gpuFrom = 0 }: Pick<Parameters<AgentMaker>[0]['options'], 'resources' | 'gpuFrom'>,
): Omit<CardWatchSettings, 'isAlone'> {
  return { wish: { count: resources?.gpuCount ?? null, from: gpuFrom, only }, look };
}

/** Returns null when it takes longer, and the next look has to say. */
function inTime(look: Promise<readonly Answer[]>): Promise<readonly Answer[] | null> {
  return new Promise((resolve) => {
    const timer = systemClock.after(FIRST_LOOK_MS_MAX, () => resolve(null));
    void look.then((answers) => {
      timer.cancel();
      resolve(answers);
    });
  });
}
