// Planted bugs of the cycle that repairs.

import type { Engine } from '../../src/kernel/head/engine.ts';
import type { Node } from '../../src/kernel/machine/nodes/facts.ts';
import { GoalKeeper } from '../../src/wings/goals/head/keeper.ts';
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

/** No node counts as one that works, and so none is the last. */
function seesNoneInService(engine: Engine): Engine {
  return new Proxy(engine, {
    get(real, name) {
      const value: unknown = Reflect.get(real, name, real);
      if (name === 'state') {
        const nodes = [...real.state.nodes].map(([key, node]) => [key, asPaused(node)] as const);
        return { ...real.state, nodes: new Map(nodes) };
      }
      return typeof value === 'function' ? value.bind(real) : value;
    },
  });
}

function asPaused(node: Node): Node {
  return {
    ...node,
    pausing: { ...node.pausing, now: { kind: 'yield', why: 'planted', since: 0, requeue: false } },
  };
}

export const GOAL_CANARIES: readonly Canary[] = [
  {
    name: 'repairs-without-bound',
    sentence: 'more nodes are in repair than may be at once',
    plant: repairAll,
    weather: { goalMs: 5000, nodeCount: 4 },
  },
  {
    name: 'last-node-repaired',
    sentence: 'the last node of a partition that works is taken for repair',
    plant: () => ({ goalEngine: seesNoneInService }),
    weather: { goalMs: 5000, nodeCount: 2 },
  },
];
