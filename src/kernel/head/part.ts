// What a wing adds to a head. One is made for each head, which asks it for what it has; whatever a
// wing does not need it leaves out.

import type { Result } from '../base/result.ts';
import type { State } from '../machine/state.ts';
import type { UserActor } from '../model/actor.ts';
import type { Refusal } from '../model/errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { JobRecord } from './answers/job-record.ts';
import type { Shelving } from './archive/shelving.ts';
import type { FindWorker } from './auth/authenticate.ts';
import type { Engine } from './engine.ts';
import type { Gateways, GatewayWorld } from './gateways.ts';
import type { AnyHandler } from './http/call.ts';
import type { AnyEventsPart } from './http/public-events.ts';
import type { AnswerPart, HttpPorts, Services } from './http/services.ts';
import type { Upgrader } from './http/upgrades.ts';

export interface HeadPart extends AnswerPart {
  /** Answers to its routes, by their names. */
  readonly handlers?: Readonly<Record<string, AnyHandler>>;
  /** Events of the wing, as readers of the event stream see them. */
  readonly events?: AnyEventsPart;
  /** Handlers that take over connections of routes that switch to another protocol. */
  readonly upgrades?: Readonly<Record<string, Upgrader>>;
  /** Finds what a path names, for routes that are for its owner (`access.owned`). */
  readonly owners?: Readonly<Record<string, FindOwned>>;
  /** Tasks that may speak for themselves. */
  readonly findWorker?: FindWorker;
  /** Our id of a job that a path names otherwise, as `hpc/4711`; null: it is none that it knows. */
  readonly ownIdOf?: (state: State, name: string) => string | null;
  /** Nodes that speak for a site. */
  readonly gateways?: (world: GatewayWorld) => Gateways;
  /** Which batches jobs are of, for the archive. */
  readonly shelving?: Shelving;
  /** The head has read its store. */
  begin?(world: HeadWorld): HeadWork;
  /** Called when the head's listeners are about to open. */
  openListeners?(ports: HttpPorts): BehindListeners;
}

/** The thing of that name; refused for whoever may not do this with it. */
export type FindOwned = (
  state: State,
  of: { readonly id: string; readonly actor: UserActor },
) => Result<JobRecord, Refusal>;

export interface HeadWorld {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a wing does beside what it is asked for. */
export interface HeadWork {
  /** With each look at the nodes, unless records are missing. */
  tick(): void;
}

/** What a wing has while the listeners are open. */
export interface BehindListeners {
  /** What its handlers find among the services. */
  readonly services: Partial<Services>;
  /** Called when the listeners close: connected clients are to be sent away. */
  close?(): void;
}
