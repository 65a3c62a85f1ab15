// A program that was started inside of a running task, as the API shows it.

import { z } from 'zod';
import { count, exitStatus, instantOrNull } from '../../../kernel/api/common.ts';

export const stepView = z.object({
  /** `42.0` or `42[7].0`. */
  id: z.string(),
  /** Which start of its task it is of. */
  epoch: count,
  command: z.string(),
  by: z.string(),
  state: z.enum(['running', 'ended']),
  nodes: z.array(z.string()),
  processes: count,
  startedAt: instantOrNull,
  endedAt: instantOrNull,
  /** The worst of its processes; null: it runs, or nobody knows. */
  exit: exitStatus.nullable(),
  /** Why nobody knows how it ended; null: it has not, or somebody does. */
  why: z.string().nullable(),
  /** Cpus of each process, `0-3,8`; missing: they are bound to none. */
  cpus: z.array(z.string()).exactOptional(),
  /** Cpus that it is given, on all its nodes; missing: nobody says, and it may use all there. */
  cpuCount: count.exactOptional(),
  /**
   * Processor time of all its processes, and memory of the largest; null: it runs, or nobody knows.
   */
  used: z.object({ userUs: count, systemUs: count, memoryPeakBytes: count }).nullable(),
});
export type StepView = z.infer<typeof stepView>;
