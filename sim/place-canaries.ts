// The planted bugs about places that pass from task to task on a node.

import { Engine as AgentEngine } from '../src/kernel/agent/engine.ts';
import { present } from '../src/kernel/base/assert.ts';
import type { Event } from '../src/kernel/machine/declared.ts';
import type { Of } from '../src/kernel/machine/events.ts';
import type { Task } from '../src/kernel/machine/jobs/facts.ts';
import { placeOf } from '../src/kernel/machine/jobs/place.ts';
import type { Step } from '../src/kernel/machine/step.ts';
import { abandonEpoch, settleTask } from '../src/kernel/machine/tasks/ending.ts';
import { nextEpoch } from '../src/kernel/machine/tasks/epoch.ts';
import { NO_USAGE } from '../src/kernel/model/job.ts';
import type { RunnerInput } from '../src/kernel/runner/inputs.ts';
import { withLaunch } from './agent-canaries.ts';
import { type Canary, type Planted, replaceMethod, withEvents } from './canary.ts';
import { PLAIN } from './weather.ts';

/** Many arrays of short tasks, one after the other. */
const BURSTS = { ...PLAIN, burstMs: 1500, nodeCount: 2, submissionMs: 4000 } as const;
const BRIEF = { ...BURSTS, stormMs: 30_000 } as const;

/** Agents that begin what is to wait for a place. */
const beginAtOnce = withLaunch((order) => ({ ...order, next: false }));

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

type Emit = Step['emit'];

/** With each start of a job that has a running limit, one more of its tasks is next there. */
function giveLimited(step: Step, event: Event, original: Emit): void {
  if (event.kind === 'part_recalled' && isLimited(step, event)) return;
  original.call(step, event);
  if (event.kind !== 'part_started' || !isLimited(step, event)) return;
  const { job, parts } = present(taskAt(step, event), event.epochId);
  const index = job.pending.first;
  if (index === undefined) return;
  const shares = [...parts.values()].map(({ share }) => share);
  const epoch = nextEpoch(step.state, { job, index }, shares);
  step.emit({ kind: 'task_allocated', place: placeOf(job, index), epoch, shares, next: true });
}

function beginBeyondLimit(): Planted {
  const planted = [withEvents(giveLimited)(), beginAtOnce()];
  return {
    remove() {
      for (const one of planted) one.remove?.();
    },
  };
}

type OfPart = Of<'part_recalled' | 'part_started'>;

function taskAt({ state }: Step, { epochId, node }: OfPart): Task | null {
  return state.nodes.get(node)?.holding.get(epochId)?.task ?? null;
}

function isLimited(step: Step, event: OfPart): boolean {
  const job = taskAt(step, event)?.job;
  return (job?.entry.runningMax ?? null) !== null && job?.spec.request.nodeCount === 1;
}

/** Puts a recalled task back in the queue at once, without an answer of its node. */
function takeBackAtOnce(step: Step, event: Event, original: Emit): void {
  original.call(step, event);
  if (event.kind !== 'part_recalled') return;
  const { epochId, node } = event;
  const task = taskAt(step, event);
  if (task === null) return;
  const end = { cause: 'never_started', nodeFault: false, processes: [], usage: NO_USAGE } as const;
  step.emit({ kind: 'part_ended', epochId, node, ...end });
  settleTask(step, task);
}

/** Puts tasks that are next on a disconnected node back in the queue. */
function giveUpNext(step: Step, event: Event, original: Emit): void {
  original.call(step, event);
  if (event.kind !== 'node_disconnected') return;
  for (const { next, task } of [...(step.state.nodes.get(event.node)?.holding.values() ?? [])]) {
    if (next === null || task?.job.spec.onNodeLoss.kind !== 'wait') continue;
    abandonEpoch(step, task, `${event.node} is not connected`);
  }
}

export const PLACE_CANARIES: readonly Canary[] = [
  {
    name: 'next-begins-at-once',
    sentence: 'what is next on a node begins without a place',
    plant: beginAtOnce,
    weather: BURSTS,
  },
  {
    name: 'next-for-ever',
    sentence: 'what is next waits on its node however long that takes',
    plant: waitForEver,
    // A few jobs are enough: what is left of them is waited for in vain.
    weather: { ...BURSTS, pauseMs: 3000, stormMs: 20_000, submissionMs: 20_000 },
  },
  {
    name: 'next-beyond-limit',
    sentence: 'a job with a running limit has tasks that are next',
    rule: 'S9',
    plant: withEvents(giveLimited),
    weather: { ...BRIEF, burstLimits: 0.7 },
  },
  {
    name: 'begun-beyond-limit',
    sentence: 'what is next of a job with a running limit begins as one more than that',
    rule: 'J8',
    plant: beginBeyondLimit,
    weather: { ...BRIEF, burstLimits: 0.7 },
  },
  {
    name: 'recalled-is-back',
    sentence: 'what is recalled is started elsewhere before its node has given it back',
    rule: 'S3',
    plant: withEvents(takeBackAtOnce),
    weather: { ...BRIEF, burstSlow: 0.5 },
  },
  {
    name: 'unheard-next-is-back',
    sentence: 'what must wait for evidence is started elsewhere, for it was only next on its node',
    rule: 'S3',
    plant: withEvents(giveUpNext),
    weather: { ...BRIEF, nodeCount: 3, netResetMs: 700 },
  },
];
