// Workloads in a few words, and their replay, for tests.

import { present } from '../../src/kernel/base/assert.ts';
import { type Policy, plainScheduling } from '../../src/kernel/model/scheduling.ts';
import {
  inOrder,
  type Machine,
  nodesOf,
  type ReplayJob,
  requestFor,
} from '../../src/wings/replay/core/machine.ts';
import { type Replayed, type ReplayOptions, replay } from '../../src/wings/replay/core/replay.ts';

/** Seconds. */
export interface WorkloadWords {
  readonly id: string;
  readonly submit: number;
  readonly size: number;
  readonly run: number;
  /** Absent: the run time. */
  readonly estimate?: number;
  /** Bytes of each processor. */
  readonly memory?: number;
}

export function pool(processors: number): Machine {
  return { nodeCount: 1, cpusPerNode: processors, memoryBytesPerNode: null };
}

/** The jobs on this machine, in the order of arrival. */
export function workload(words: readonly WorkloadWords[], machine: Machine): readonly ReplayJob[] {
  const jobs = words.map(({ id, submit, size, run, estimate = run, memory = 0 }) => {
    const wanted = { processors: size, memoryBytesPerProcessor: memory };
    return {
      id,
      submittedAt: submit * 1000,
      runMs: run * 1000,
      walltimeMs: estimate * 1000,
      processors: size,
      request: present(requestFor(wanted, machine), `job ${id} can run`),
    };
  });
  return inOrder(jobs);
}

/** With everything planned ahead that waits. */
export function replayBy(
  policy: Policy,
  jobs: readonly ReplayJob[],
  machine: Machine,
  onPlanned?: ReplayOptions['onPlanned'],
): Replayed {
  const scheduling = { ...plainScheduling(policy), depthMax: Infinity };
  const options = { scheduling, cpuMs: () => 0, ...(onPlanned === undefined ? {} : { onPlanned }) };
  return replay(jobs, nodesOf(machine), options);
}

/** `A0 B10`: who started at which second, in the order of arrival. */
export function startsText({ runs }: Replayed): string {
  return runs.map(({ job, startedAt }) => `${job.id}${startedAt / 1000}`).join(' ');
}
