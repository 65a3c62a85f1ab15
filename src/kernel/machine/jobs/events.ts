// What happens to jobs as a whole.

import type { JobId, UserName } from '../../model/ids.ts';
import type { JobSpec, Outcome } from '../../model/job.ts';

export type JobEvent =
  | {
      readonly kind: 'job_submitted';
      readonly jobId: JobId;
      readonly owner: UserName;
      readonly uid: number | null;
      /** Without its environment, which is in the record of `environmentId`. */
      readonly spec: JobSpec;
      readonly environmentId: number;
      readonly key: string | null;
      /** Those of the spec's dependencies that are not met yet. */
      readonly waitsFor: readonly JobId[];
      /** Arrays whose tasks its tasks wait for one by one; absent: none. IntervalSet text. */
      readonly behind?: readonly { readonly on: JobId; readonly indices: string }[];
    }
  | {
      readonly kind: 'environment_added';
      readonly environmentId: number;
      readonly variables: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'dependency_met';
      readonly jobId: JobId;
      readonly on: JobId;
      /** An older job of its name, for which it waits in its place. Absent: for none. */
      readonly next?: JobId;
    }
  /** These tasks of another array have completed: those of this job with their indices follow. */
  | {
      readonly kind: 'element_met';
      readonly jobId: JobId;
      readonly on: JobId;
      /** IntervalSet text. */
      readonly indices: string;
    }
  | { readonly kind: 'begin_reached'; readonly jobId: JobId }
  /** The whole of its specification as it is now, without its environment, which stays. */
  | {
      readonly kind: 'job_changed';
      readonly jobId: JobId;
      readonly spec: JobSpec;
      readonly by: string;
    }
  | { readonly kind: 'job_held'; readonly jobId: JobId; readonly by: string }
  | { readonly kind: 'job_released'; readonly jobId: JobId; readonly by: string }
  /** Tasks that never started, ended together: a cancelled array is one event. */
  | {
      readonly kind: 'pending_ended';
      readonly jobId: JobId;
      /** IntervalSet text. */
      readonly indices: string;
      readonly outcome: Outcome;
    }
  | {
      readonly kind: 'job_done';
      readonly jobId: JobId;
      readonly outcome: Outcome;
      /** The same as in `part_ended`. */
      readonly endedAt?: number;
    }
  | { readonly kind: 'jobs_retired'; readonly jobIds: readonly JobId[] };
