// The planted bugs about the files of tasks: on their way to a node, on their way back, and at
// rest.

import type { AgentPorts } from '../src/kernel/agent/ports.ts';
import { ok } from '../src/kernel/base/result.ts';
import type { Staging } from '../src/kernel/ports/staging.ts';
import { type Canary, type Planted, replaceMethod } from './canary.ts';
import { HeadFiles } from './head-files.ts';

function withStaging(
  change: (staging: Staging, ports: AgentPorts) => Partial<Staging>,
): () => Planted {
  return () => ({
    wrapPorts: (ports) => {
      const { staging } = ports;
      if (staging === undefined) return ports;
      const whole: Staging = {
        bring: (...of) => staging.bring(...of),
        store: (...of) => staging.store(...of),
      };
      return { ...ports, staging: { ...whole, ...change(staging, ports) } };
    },
  });
}

/** What a killed agent had begun to bring counts as brought. */
function halfIsEnough(staging: Staging, { files }: AgentPorts): Partial<Staging> {
  return {
    bring: async (order, into, signal) => {
      const begun = files?.list(`${into.directory}.in`) ?? [];
      return begun.length > 0 ? ok(null) : staging.bring(order, into, signal);
    },
  };
}

/** Says that all is kept while it is still on its way. */
function keptInAMoment(staging: Staging): Partial<Staging> {
  return {
    store: async (...of) => {
      void staging.store(...of);
      return ok({ files: 0, bytes: 0, leftOut: 0 });
    },
  };
}

function sweepNamed(): Planted {
  return { remove: replaceMethod(HeadFiles.prototype, 'isNamed', () => () => false) };
}

function keepAll(): Planted {
  return { remove: replaceMethod(HeadFiles.prototype, 'forget', () => () => undefined) };
}

export const FILE_CANARIES: readonly Canary[] = [
  {
    name: 'half-brought',
    sentence: 'a job starts with a file missing, as its agent was killed while they came',
    plant: withStaging(halfIsEnough),
    weather: { files: 1, agentCrashMs: 8000, netSlowMs: 10_000, submissionMs: 1000 },
  },
  {
    name: 'done-before-kept',
    sentence: 'a task counts as done before what it left is kept',
    plant: withStaging(keptInAMoment),
    weather: { files: 1, netSlowMs: 10_000 },
  },
  {
    name: 'swept-while-named',
    sentence: 'files go from the head while a job names them',
    plant: sweepNamed,
    weather: { files: 1, nodeCount: 1, submissionMs: 1000 },
  },
  {
    name: 'requeued-is-kept',
    sentence: 'what a start left that was made again is kept',
    plant: keepAll,
    weather: { files: 1, submissionMs: 1000, headCrashMs: 10_000 },
  },
];
