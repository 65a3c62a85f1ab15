// The cluster-wide settings that decisions depend on. They come with each input, from the config
// file, and are never stored: a restart with another value acts by the new value from then on.

import type { OnNodeLoss } from './job.ts';
import type { NotifyRules } from './notification.ts';
import type { Resources } from './resources.ts';
import type { Scheduling } from './scheduling.ts';

export interface Settings {
  /** Silence after which a node is unreachable. */
  readonly nodeTimeoutMs: number;
  /** Between TERM and KILL. */
  readonly killGraceMs: number;
  /** Starts that may take a node down or fail to launch before a task is held. */
  readonly crashLimit: number;
  /** What a submission gets that does not say. */
  readonly defaults: {
    readonly nodeCount: number;
    readonly processesPerNode: number;
    /** Without a size of memory each cpu asked for gets its part of its node's. */
    readonly perNode: Omit<Resources, 'memoryBytes'> & { readonly memoryBytes: number | null };
    readonly walltimeMs: number | null;
    /** Absent: by the job's directory. */
    readonly onNodeLoss?: OnNodeLoss;
  };
  /** Partitions, qualities of service, priorities. */
  readonly scheduling: Scheduling;
  /** Users may reserve for themselves; otherwise only operators reserve. Absent: they may not. */
  readonly usersMayReserve?: boolean;
  /** Targets that may be told of the end of a job. Absent: none. */
  readonly notify?: NotifyRules;
  readonly retainedJobsMax: number;
  /** Kept of what a task leaves in its private directory when its job does not say. */
  readonly archiveDefaultBytes: number;
  /** A node may take so long to build the solver of a batch that does not say. */
  readonly buildMsMax: number;
}
