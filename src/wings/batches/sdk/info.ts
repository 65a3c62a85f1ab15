// What the library tells of a batch: plain data, as it was when the head answered.

import type { JobState, OutcomeKind } from '../../../kernel/sdk/views.ts';

/** A batch, as it stands. */
export interface BatchInfo {
  /** `alice/sweep_01`, or with `@2` behind. */
  readonly title: string;
  readonly namespace: string;
  readonly name: string;
  readonly version: number;
  readonly owner: string;
  readonly state: 'pending' | 'running' | 'done';
  /** `completed`: all of its jobs are. */
  readonly outcome: OutcomeKind | null;
  readonly jobCount: number;
  /** Jobs that are not over, by state. */
  readonly open: Readonly<Partial<Record<JobState, number>>>;
  /** Jobs that are over, by outcome. */
  readonly ended: Readonly<Partial<Record<OutcomeKind, number>>>;
  /** The arrays that run it. */
  readonly jobIds: readonly number[];
  readonly createdAt: number;
  readonly endedAt: number | null;
}
