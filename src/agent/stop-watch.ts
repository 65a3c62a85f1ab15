// Keeps stopped what was stopped by order: whoever may signal a process may also wake it, and of
// processes that a task has started itself nobody is told when they go on. So they are stopped anew
// every so often; whatever is stopped notices nothing.

import { isOpen, type RunnerState } from '../core/runner/state.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { Processes } from '../ports/processes.ts';

const STOP_EVERY_MS = 5_000;
/** Each costs the launcher a look through the processes of the machine; the next ones come next. */
const STOPS_PER_LOOK_MAX = 16;
const SIGSTOP = 19;

export interface StopWorld {
  readonly clock: Clock;
  readonly state: Pick<RunnerState, 'epochs'>;
  readonly processes: () => Pick<Processes, 'signal'> | null;
}

export class StopWatch {
  readonly #world: StopWorld;
  #timer: Timer | null = null;
  /** The last one that had its turn. */
  #last = 0;

  constructor(world: StopWorld) {
    this.#world = world;
  }

  start(): void {
    this.#timer = this.#world.clock.after(STOP_EVERY_MS, () => {
      this.#look();
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #look(): void {
    const ids = stoppedIn(this.#world.state);
    const next = ids.findIndex((id) => id > this.#last);
    const turns = [...ids.slice(Math.max(0, next)), ...ids.slice(0, Math.max(0, next))];
    for (const id of turns.slice(0, STOPS_PER_LOOK_MAX)) {
      this.#world.processes()?.signal(id, SIGSTOP);
      this.#last = id;
    }
  }
}

/** What ought to stand still, in the order of launches. A task that stopped itself may wake itself. */
function stoppedIn({ epochs }: StopWorld['state']): number[] {
  const ids: number[] = [];
  for (const { phase, ending, suspended, suspendWanted, processes } of epochs.values()) {
    if (phase !== 'running' || ending !== null || !suspended || suspendWanted !== true) continue;
    for (const process of processes) if (isOpen(process)) ids.push(process.launchId);
  }
  return ids.sort((a, b) => a - b);
}
