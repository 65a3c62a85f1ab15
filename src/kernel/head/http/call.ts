// What a handler gets and gives: one request, checked and authorised, and its result.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RouteName } from '../../api/paths.ts';
import type { ReplyOf, Request, RouteTable, UpgradeName } from '../../api/routes.ts';
import type { Result } from '../../base/result.ts';
import type { UserActor } from '../../model/actor.ts';
import type { Refusal } from '../../model/errors.ts';
import type { JobRecord } from '../answers/job-record.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { EpochCaller } from '../epoch-caller.ts';
import type { Services } from './services.ts';

type AccessOf<N extends RouteName> = RouteTable[N]['access'];
type ActorOf<N extends RouteName> =
  AccessOf<N> extends { kind: 'user' }
    ? UserActor
    : AccessOf<N> extends { kind: 'user_or_epoch' }
      ? UserActor | null
      : null;

export interface Call<N extends RouteName> extends Request<N> {
  readonly principal: Principal;
  /** The user whom the credentials prove; null on routes that are open to others. */
  readonly actor: ActorOf<N>;
  /** For which task a node asks, on routes for users and nodes; null when a user does. */
  readonly epoch: EpochCaller | null;
  /** The job that the path names, on routes for its owner. */
  readonly job: JobRecord | null;
  /** Came over the unix socket. */
  readonly local: boolean;
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  /** Called by login handlers with the user, for the audit log. */
  readonly loggedIn: (actor: UserActor) => void;
  /** Aborted when the client has gone or the head stops: whoever waits should end. */
  readonly signal: AbortSignal;
}

/** Every route but those at which a connection becomes another protocol's. */
export type HandledName = Exclude<RouteName, UpgradeName>;

/** Routes whose answer is no JSON write it themselves and give null. */
type Answer<N extends RouteName> = undefined extends ReplyOf<N> ? null : ReplyOf<N>;

export type Handler<N extends RouteName> = (
  services: Services,
  call: Call<N>,
) => Promise<Result<Answer<N>, Refusal>> | Result<Answer<N>, Refusal>;

/** The handlers of a table of routes. */
export type HandlersOf<Routes> = { readonly [N in keyof Routes & HandledName]: Handler<N> };

/** Any of them. */
export type AnyHandler = (
  services: Services,
  call: Call<never>,
) => Promise<Result<unknown, Refusal>> | Result<unknown, Refusal>;
