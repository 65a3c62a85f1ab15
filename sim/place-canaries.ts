// The planted bugs about places that pass from task to task on a node.

import { Engine as AgentEngine } from '../src/kernel/agent/engine.ts';
import type { RunnerInput } from '../src/kernel/runner/inputs.ts';
import { withLaunch } from './agent-canaries.ts';
import { type Canary, type Planted, replaceMethod } from './canary.ts';
import { PLAIN } from './weather.ts';

/** Many arrays of short tasks, one after the other. */
const BURSTS = { ...PLAIN, burstMs: 1500, nodeCount: 2, submissionMs: 4000 } as const;

/** An agent that gives nothing back, neither when that is asked for nor when its time is over. */
function waitForEver(): Planted {
  return {
    remove: replaceMethod(AgentEngine.prototype, 'step', (original) => {
      return function step(this: AgentEngine, input: RunnerInput): void {
        const isRecall =
          input.kind === 'order' && input.order.kind === 'end' && input.order.unlessBegun;
        if (isRecall) return;
        if (input.kind === 'tick') forgetTimes(this);
        original.call(this, input);
      };
    }),
  };
}

function forgetTimes({ state }: AgentEngine): void {
  for (const id of [...state.nextOf.values()].flatMap((ids) => [...ids])) {
    Object.assign(state.epochs.get(id) ?? {}, { nextUntil: Number.MAX_SAFE_INTEGER });
  }
}

export const PLACE_CANARIES: readonly Canary[] = [
  {
    name: 'next-begins-at-once',
    sentence: 'what is next on a node begins without a place',
    plant: withLaunch((order) => ({ ...order, next: false })),
    weather: BURSTS,
  },
  {
    name: 'next-for-ever',
    sentence: 'what is next waits on its node however long that takes',
    plant: waitForEver,
    // A few jobs are enough: what is left of them is waited for in vain.
    weather: { ...BURSTS, pauseMs: 3000, stormMs: 20_000, submissionMs: 20_000 },
  },
];
