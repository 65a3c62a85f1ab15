// The head's cycle of goal state: the goals from their file, and a look at them from time to time.

import type { GoalFileOptions } from '../config/daemon-options.ts';
import { readGoalFile } from '../config/goals/read-goals.ts';
import { GoalKeeper, type GoalOptions, type GoalPorts } from '../head/goals/keeper.ts';
import { systemClock } from '../os/clock.ts';
import type { Timer } from '../ports/clock.ts';

/** How often it is seen whether there is something to do; a look at a node is far rarer. */
const TICK_MS = 1000;

const NONE: GoalOptions = { classes: [], everyMs: 0, repairs: false };

/** Throws a failure that says what is wrong with the file. */
export function readGoals(options: GoalFileOptions | undefined): GoalOptions {
  if (options === undefined) return NONE;
  const { file, everyMs, repairs } = options;
  return { classes: readGoalFile(file), everyMs, repairs };
}

export interface Goals {
  readonly keeper: GoalKeeper;
  end(): void;
}

export function startGoals(
  ports: Omit<GoalPorts, 'clock'>,
  options: GoalFileOptions | undefined,
): Goals {
  const keeper = new GoalKeeper({ ...ports, clock: systemClock }, readGoals(options));
  let timer: Timer;
  const again = (): void => {
    keeper.tick();
    timer = systemClock.after(TICK_MS, again);
  };
  timer = systemClock.after(TICK_MS, again);
  return { keeper, end: () => timer.cancel() };
}
