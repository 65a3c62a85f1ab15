// Bugs planted into runs about a head whose disk is put back, to prove that they are found.

import { Engine } from '../../src/kernel/agent/engine.ts';
import type { RunnerInput } from '../../src/kernel/runner/inputs.ts';
import { NodeStops } from '../../src/wings/sites/fabric/site/node-stops.ts';
import { replaceMethod } from '../canary.ts';
import { takeWhatIsFree } from '../scheduler-canaries.ts';
import type { RestoredWeather } from './weather.ts';

/** What a planted bug leaves out, and takes back. */
export interface RestoredCanary {
  readonly name: string;
  /** What a program with this bug does wrong. */
  readonly sentence: string;
  readonly countsLives?: false;
  /** Told to go on, it begins with the nodes alone. */
  readonly forgets?: true;
  readonly plant?: () => () => void;
  readonly weather?: Partial<RestoredWeather>;
}

export const NO_RESTORED_CANARY: RestoredCanary = {
  name: 'none',
  sentence: 'nothing is planted',
};

/** Agents that do not take some of their inputs. */
function deaf(isLost: (engine: Engine, input: RunnerInput) => boolean): () => () => void {
  return () =>
    replaceMethod(Engine.prototype, 'step', (original) => {
      return function step(this: Engine, input: RunnerInput): void {
        if (!isLost(this, input)) original.call(this, input);
      };
    });
}

/** What they did before orders about what is over were answered. */
function isAboutFinished({ state }: Engine, input: RunnerInput): boolean {
  if (input.kind !== 'order' || !('epochId' in input.order)) return false;
  const { epochId } = input.order;
  return state.finished.has(epochId) || state.epochs.get(epochId)?.acknowledged === true;
}

function nothing(): void {}

/** What a head wants stopped is heard, and that it wants nothing stopped any more is not. */
function keepsStops(): () => void {
  return replaceMethod(NodeStops.prototype, 'want', (original) => {
    return function want(this: NodeStops, wishes: Parameters<NodeStops['want']>[0]): void {
      if (wishes.length > 0) original.call(this, wishes);
    };
  });
}

export const RESTORED_CANARIES: readonly RestoredCanary[] = [
  {
    name: 'set-aside-ignored',
    sentence: 'a head that was put back gives away what is set aside',
    plant: () => takeWhatIsFree().remove ?? nothing,
    weather: { reserveMs: 8000 },
  },
  {
    name: 'lives-not-counted',
    sentence: 'a head that was put back goes on as if it were the one before',
    countsLives: false,
  },
  {
    name: 'stamps-forgotten',
    sentence: 'agents forget what they have heard of records',
    plant: deaf((_, input) => input.kind === 'stamp'),
  },
  {
    name: 'silent-about-the-past',
    sentence: 'agents are silent about what is over',
    plant: deaf(isAboutFinished),
  },
  {
    name: 'begins-anew',
    sentence: 'a head that is told to go on forgets the jobs that it knows',
    forgets: true,
  },
  {
    name: 'unknown-stops-kept',
    sentence: 'a gateway keeps nodes stopped for maintenances that its head does not know',
    plant: keepsStops,
  },
];
