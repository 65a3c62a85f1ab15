// What the keeper of pilots works with.

import type { UserName } from '../../core/model/ids.ts';
import type { PilotSystem } from '../../core/model/pilot.ts';
import type { PilotHost } from '../../fabric/pilots/pilot-host.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { SiteUser } from '../../ports/sites.ts';
import type { Engine } from '../engine.ts';

export interface PilotWorld {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
  readonly hosts: Readonly<Record<PilotSystem, PilotHost>>;
  /** The account that a user's commands run under; null: the head's own. Rejects with words where there is no such account. */
  readonly userOf: (name: UserName) => Promise<SiteUser | null>;
  /** What a pilot joins with; null: the head listens on no port. */
  readonly ticketOf: (token: string) => string | null;
}
