// The tasks of a job as a map: a letter for each.

import { z } from 'zod';
import { OUTCOMES, TASK_STATES } from '../model/job.ts';
import { count } from './common.ts';

export const taskMapQuery = z.strictObject({
  /** The `version` of the answer before: only what has changed since then is told. */
  since: z.string().max(100).optional(),
});

/** States of tasks, and of those that are done their outcomes. */
export const taskMapReply = z.object({
  /** For `since`. */
  version: z.string(),
  /** Index set of its tasks, `0-99`; `0` for a plain job. Letters stand in its order. */
  indices: z.string(),
  /** What the letters mean. */
  legend: z.record(z.string(), z.enum([...TASK_STATES, ...OUTCOMES])),
  /** A letter for each task; null: `changes` say what is otherwise than in `since`. */
  states: z.string().nullable(),
  /** Places, counted from 0, and the letters that stand there and behind it now. */
  changes: z.array(z.object({ from: count, states: z.string() })),
  /** Nothing will change any more. */
  isDone: z.boolean(),
});
export type TaskMapReply = z.infer<typeof taskMapReply>;
