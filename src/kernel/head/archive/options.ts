// What the archive is given.

import type { References } from '../../files/blobs/references.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { JobLogs } from './job-logs.ts';
import type { Shelving } from './shelving.ts';
import type { ShownIn } from './shown-folders.ts';

export interface ArchiveOptions {
  /** Made when it is not there; on the disk of the blobs. */
  readonly directory: string;
  readonly bytesMax: number;
  /** Where users look for results of batches; absent: in the archive. */
  readonly shownIn?: ShownIn | undefined;
  /** Which batches jobs are of; absent: there are none. */
  readonly shelving?: Shelving | undefined;
  /** What is older goes. */
  readonly ageMs: number;
  readonly blobs: Pick<BlobStore, 'mayRead' | 'sizeOf' | 'linkTo' | 'adopt' | 'receive'>;
  readonly logs: JobLogs;
  readonly names: References;
  readonly clock: Clock;
  /** `Engine.certainNow`; absent: by the clock. */
  readonly certainNow?: () => number;
  readonly log: Log;
}
