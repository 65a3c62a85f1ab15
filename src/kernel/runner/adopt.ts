// What an agent concludes from the launcher's list, after a restart or the loss of a launcher.

import type { EpochId } from '../model/ids.ts';
import type { KnownProcess } from '../model/processes.ts';
import { type Epoch, isOpen, processesOf } from './epoch.ts';
import type { ProcessInput, RunnerInput } from './inputs.ts';
import type { RunnerState } from './state.ts';

/**
 * The inputs that bring the state in line with the list. A process that should be there and is not
 * is lost, even if it perhaps was never started: starting it now could start it twice. So is one
 * that is `isBroken`: its input was cut off, and whatever it made of that is no result. A job of a
 * site's own user is the site's: where its gateway has no note of the start, none was ordered.
 * @param at now: a start that is heard of only by the list may be long ago
 */
export function adoptionInputs(
  state: RunnerState,
  known: readonly KnownProcess[],
  at: number,
  isBroken: (epochId: EpochId) => boolean = () => false,
): RunnerInput[] {
  const inputs: RunnerInput[] = [];
  const listed = new Map(known.map((process) => [process.launchId, process]));
  const highest = known.reduce((max, process) => Math.max(max, process.launchId), 0);
  inputs.push({ kind: 'launch_ids_used', upTo: highest });
  for (const epoch of state.epochs.values()) {
    const broken = isBroken(epoch.order.epochId);
    for (const { launchId, state: was } of processesOf(epoch).filter(isOpen)) {
      const process = broken ? undefined : listed.get(launchId);
      const isUnasked = process === undefined && was === 'requested' && isForeign(epoch);
      const events = isUnasked ? [unasked(launchId)] : eventsOf(launchId, process, at);
      for (const event of events) inputs.push({ kind: 'process', event });
    }
  }
  return inputs;
}

function isForeign({ order }: Epoch): boolean {
  return order.foreign !== undefined;
}

/** The job waits at its site as before. */
function unasked(launchId: number): ProcessInput {
  const why = 'its gateway was started anew before it told the site to start it';
  return { kind: 'refused', launchId, why, there: 'untaken' };
}

function eventsOf(launchId: number, known: KnownProcess | undefined, at: number): ProcessInput[] {
  if (known === undefined) return [{ kind: 'lost', launchId }];
  const { startedAt, end } = known;
  const ago = startedAt === undefined ? {} : { agoMs: Math.max(0, Math.round(at - startedAt)) };
  const started: ProcessInput = { kind: 'started', launchId, ...ago };
  if (known.state === 'ended') {
    if (end === undefined) return [{ kind: 'lost', launchId }];
    return end.kind === 'exited' ? [started, end] : [end];
  }
  // Its start is still under way, and will be told of.
  if (known.state === 'launching') return [];
  const kind = known.state === 'stopped' ? 'found_stopped' : 'continued';
  const now: ProcessInput = { kind, launchId };
  return [started, now];
}

/** Ids on the list that belong to no epoch here: to be ended and forgotten by the shell. */
export function strangers(state: RunnerState, known: readonly KnownProcess[]): KnownProcess[] {
  return known.filter((process) => !state.byLaunch.has(process.launchId));
}
