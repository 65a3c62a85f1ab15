// What the keeper of pilots works with.

import type { Engine } from '../../../kernel/head/engine.ts';
import type { UserName } from '../../../kernel/model/ids.ts';
import type { Chance } from '../../../kernel/ports/chance.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { PilotAccount, PilotHost } from '../fabric/pilot-host.ts';
import type { PilotSystem } from '../model/pilot.ts';

export interface PilotWorld {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
  readonly hosts: Readonly<Record<PilotSystem, PilotHost>>;
  /** The account that gives a user's commands; null: none of that name. Rejects when unknown. */
  readonly accountOf: (name: UserName) => Promise<PilotAccount | null>;
  /** What a pilot joins with; null: the head listens on no port. */
  readonly ticketOf: (token: string) => string | null;
}

export function noAccount(name: string): string {
  return `the head's machine has no account '${name}', and its commands run under that of who starts a fleet`;
}
