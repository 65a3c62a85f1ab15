// What an agent concludes from the launcher's list, after a restart or the loss of a launcher.

import type { ProcessInput, RunnerInput } from './inputs.ts';
import { isOpen, type RunnerState } from './state.ts';

/** One process of the launcher's list; the Processes port has the same shape. */
export interface Known {
  readonly launchId: number;
  readonly state: 'launching' | 'running' | 'stopped' | 'ended';
  readonly end?: Extract<ProcessInput, { kind: 'exited' | 'failed' }>;
}

/**
 * The inputs that bring the state in line with the list. A process that should be there and is not
 * is lost, even if it perhaps was never started: starting it now could start it twice.
 */
export function adoptionInputs(state: RunnerState, known: readonly Known[]): RunnerInput[] {
  const inputs: RunnerInput[] = [];
  const listed = new Map(known.map((process) => [process.launchId, process]));
  const highest = known.reduce((max, process) => Math.max(max, process.launchId), 0);
  inputs.push({ kind: 'launch_ids_used', upTo: highest });
  for (const epoch of state.epochs.values()) {
    for (const { launchId } of epoch.processes.filter(isOpen)) {
      for (const event of eventsOf(launchId, listed.get(launchId))) {
        inputs.push({ kind: 'process', event });
      }
    }
  }
  return inputs;
}

function eventsOf(launchId: number, known: Known | undefined): ProcessInput[] {
  if (known === undefined) return [{ kind: 'lost', launchId }];
  if (known.state === 'ended') return [known.end ?? { kind: 'lost', launchId }];
  // Its start is still under way, and will be told of.
  if (known.state === 'launching') return [];
  const started: ProcessInput = { kind: 'started', launchId };
  const now: ProcessInput = { kind: known.state === 'stopped' ? 'stopped' : 'continued', launchId };
  return [started, now];
}

/** Ids on the list that belong to no epoch here: to be ended and forgotten by the shell. */
export function strangers(state: RunnerState, known: readonly Known[]): Known[] {
  return known.filter((process) => !state.byLaunch.has(process.launchId));
}
