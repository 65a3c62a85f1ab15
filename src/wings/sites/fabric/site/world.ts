// What jobs at a site are made with: its adaptor, and all that is around it.

import type { Result } from '../../../../kernel/base/result.ts';
import type { EpochId } from '../../../../kernel/model/ids.ts';
import type { SiteJob } from '../../../../kernel/model/site.ts';
import type { Clock } from '../../../../kernel/ports/clock.ts';
import type { Commands } from '../../../../kernel/ports/commands.ts';
import type { Log } from '../../../../kernel/ports/log.ts';
import type { Adaptor, SiteProblem } from '../../adaptors/adaptor.ts';
import type { SiteFolders } from '../../ports/sites.ts';
import type { NodeStops } from './node-stops.ts';
import type { Steerer } from './steerer.ts';

export interface SiteWorld {
  readonly adaptor: Adaptor;
  readonly commands: Commands;
  readonly folders: SiteFolders;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: SiteSettings;
  /** The node for what is started here, where that is for us to say. */
  readonly place?: SitePlace;
  /** Where others list its jobs, too; absent: the site is asked. */
  readonly listJobs?: () => Promise<Result<readonly SiteJob[], SiteProblem>>;
  /** Told what its site calls a task's start; null: that is forgotten. Absent: nobody asks. */
  readonly onStart?: (siteJob: string, epochId: EpochId | null) => void;
  /** Told what the site does not do with a task's start; null: it did. Absent: nobody asks. */
  readonly onUndone?: (epochId: EpochId, words: string | null) => void;
  /** A job of the last listing that others had made; undefined: it is not in it. */
  readonly listedJob?: (id: string) => SiteJob | undefined;
}

interface SiteSettings {
  /** First part of the names of our jobs there: unique among all gateways of the site. */
  readonly prefix: string;
  /**
   * Last part of the name of a new job. Who can guess it could give a job of theirs our job's name
   * first, and be taken for it after a lost answer. Absent: names have no such part.
   */
  readonly nonce?: () => string;
  readonly queue: string | null;
  readonly account: string | null;
  readonly options: readonly string[];
  /** Between two listings. */
  readonly pollMs: number;
  /** Words before each command, like `ssh login1`. */
  readonly before: readonly string[];
  readonly timeoutMs: number;
  /** Commands that run at once. */
  readonly commandsMax: number;
}

interface SitePlace {
  readonly node: string;
  readonly steerer: Steerer;
  /** The site's name of a node of ours; null: it has none such. */
  readonly nameAtSite: (member: string) => string | null;
  /** What has nodes stopped for maintenance; absent: none ever is. */
  readonly stops?: NodeStops;
}
