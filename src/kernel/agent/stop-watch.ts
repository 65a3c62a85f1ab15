// Keeps stopped what was stopped by order: whoever may signal a process may also wake it, and of
// processes that a task has started itself nobody is told when they go on. So they are stopped anew
// every so often; whatever is stopped notices nothing. And stops again what stays on its way there:
// a shell waits in the kernel for the exec of a program that it starts (vfork), and never stops
// when that program was stopped before its exec.

import type { Clock, Timer } from '../ports/clock.ts';
import type { Processes } from '../ports/processes.ts';
import { isHeldStill, isOpen, type Process } from '../runner/epoch.ts';
import type { RunnerState } from '../runner/state.ts';

const STOP_EVERY_MS = 5_000;
/** Each costs the launcher a look through the processes of the machine; the next ones come next. */
const STOPS_PER_LOOK_MAX = 16;
/** More than enough for an exec, and little for a task that is to stand still. */
const GO_ON_MS = 200;
const SIGCONT = 18;
const SIGSTOP = 19;

export interface StopWorld {
  readonly clock: Clock;
  readonly state: Pick<RunnerState, 'epochs'>;
  readonly processes: () => Pick<Processes, 'signal'> | null;
}

export class StopWatch {
  readonly #world: StopWorld;
  #timer: Timer | null = null;
  #stopAgain: Timer | null = null;
  /** What had not stopped at the last look. */
  #late: readonly number[] = [];
  /** The last ones that had their turn. */
  #lastStopped = 0;
  #lastFreed = 0;

  constructor(world: StopWorld) {
    this.#world = world;
  }

  start(): void {
    this.#timer = this.#world.clock.after(STOP_EVERY_MS, () => {
      this.#look();
      this.#freeStuck();
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#stopAgain?.cancel();
  }

  #look(): void {
    for (const id of turnsAfter(this.#lastStopped, stoppedIn(this.#world.state))) {
      this.#world.processes()?.signal(id, SIGSTOP);
      this.#lastStopped = id;
    }
  }

  #freeStuck(): void {
    const late = lateIn(this.#world.state);
    const stuck = turnsAfter(
      this.#lastFreed,
      late.filter((id) => this.#late.includes(id)),
    );
    this.#late = late;
    this.#lastFreed = stuck.at(-1) ?? 0;
    if (stuck.length === 0) return;
    for (const id of stuck) this.#world.processes()?.signal(id, SIGCONT);
    this.#stopAgain = this.#world.clock.after(GO_ON_MS, () => {
      const still = lateIn(this.#world.state).filter((id) => stuck.includes(id));
      for (const id of still) this.#world.processes()?.signal(id, SIGSTOP);
    });
  }
}

/** Those whose turn it is, in the order of launches and then from the first one on. */
function turnsAfter(last: number, ids: readonly number[]): number[] {
  const next = Math.max(
    0,
    ids.findIndex((id) => id > last),
  );
  return [...ids.slice(next), ...ids.slice(0, next)].slice(0, STOPS_PER_LOOK_MAX);
}

/** What ought to stand still, in order of launches. A task that stopped itself may wake itself. */
function stoppedIn(state: StopWorld['state']): number[] {
  return wantedStill(state, 'suspended').map(({ launchId }) => launchId);
}

/** What was told to stop and has not. */
function lateIn(state: StopWorld['state']): number[] {
  const late = wantedStill(state, 'going').filter((process) => process.state === 'running');
  return late.map(({ launchId }) => launchId);
}

/** Open processes of what was told to stop and is, or is not, shown as suspended. */
function wantedStill({ epochs }: StopWorld['state'], shown: 'suspended' | 'going'): Process[] {
  const found: Process[] = [];
  for (const epoch of epochs.values()) {
    if (epoch.phase !== 'running' || epoch.run.ending !== null || !isHeldStill(epoch)) continue;
    const { suspended, processes } = epoch.run;
    if (suspended === (shown === 'suspended')) found.push(...processes.filter(isOpen));
  }
  return found.sort((a, b) => a.launchId - b.launchId);
}
