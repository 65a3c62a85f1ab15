// Planted bugs of the cycle that repairs.

import { GoalKeeper } from '../../src/head/goals/keeper.ts';
import { type Canary, type Planted, replaceMethod } from '../canary.ts';

/** No bound on how many at once. */
function repairAll(): Planted {
  return {
    remove: replaceMethod(GoalKeeper.prototype, 'tick', (original) => {
      return function tick(this: GoalKeeper): void {
        const { classes } = this.options;
        if (classes.some(({ atOnce }) => atOnce < 99)) {
          this.change({ ...this.options, classes: classes.map((one) => ({ ...one, atOnce: 99 })) });
        }
        original.call(this);
      };
    }),
  };
}

export const GOAL_CANARIES: readonly Canary[] = [
  {
    name: 'repairs-without-bound',
    sentence: 'more nodes are in repair than may be at once',
    plant: repairAll,
    weather: { goalMs: 5000, nodeCount: 4 },
  },
];
