// What a route says of itself: who may use it, what it takes and what it answers. Each noun has its
// routes beside its schemas; routes.ts gathers them.

import type { z } from 'zod';
import type { Role } from '../model/actor.ts';

/** Access to a route. `owned`: callers must also own the thing or be operators. */
export type Access =
  | { readonly kind: 'public' }
  /** Everybody on the unix socket, users elsewhere. */
  | { readonly kind: 'local_or_user' }
  | { readonly kind: 'join_token' }
  | { readonly kind: 'node' }
  /** Users, and nodes for a task that they run: header `weft-epoch` says which. */
  | { readonly kind: 'user_or_epoch'; readonly role: Role }
  /** The process of a task of the pool that the path names. */
  | { readonly kind: 'worker' }
  | {
      readonly kind: 'user';
      readonly role: Role;
      /** `calls`: of a pool, for whoever runs functions there as its owner. */
      readonly owned?: 'job' | 'token' | 'pool' | 'calls';
      /** Others than the owner are admins alone; its handler asks. */
      readonly others?: 'admin';
    };

/** Bodies that are no JSON, by their media types. None is ever gathered in memory as a whole. */
export const STREAMS = {
  bytes: 'application/octet-stream',
  events: 'text/event-stream',
  text: 'text/plain',
  html: 'text/html',
} as const;

export interface RouteShape {
  readonly summary: string;
  readonly access: Access;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  /** The request has JSON of this shape. */
  readonly body?: z.ZodType;
  /** Largest request, where that is not the usual `REQUEST_BYTES_MAX`. */
  readonly bodyBytesMax?: number;
  /** Or it has bytes, which its handler reads from `incoming` as they come. */
  readonly consumes?: 'bytes';
  /** The answer is JSON of this shape. */
  readonly reply?: z.ZodType;
  /** Or a stream, which its handler writes; or the connection becomes another protocol's. */
  readonly produces?: keyof typeof STREAMS | 'upgrade';
  /** Headers that a request may have; their handlers check them. */
  readonly headers?: z.ZodObject;
  /** Headers of the answer, with what they say. */
  readonly replyHeaders?: Readonly<Record<string, string>>;
  /** What it gives outlasts the session of a page: it needs a login that is fresh (D8). */
  readonly lasting?: boolean;
  /** The request changes nothing: no line in the audit log. */
  readonly quiet?: boolean;
  /** A node opens many such connections at once: they are counted apart from its agent's own. */
  readonly isMany?: boolean;
}

export const PUBLIC = { kind: 'public' } as const satisfies Access;
export const USER = { kind: 'user', role: 'user' } as const satisfies Access;
export const USER_OR_EPOCH = { kind: 'user_or_epoch', role: 'user' } as const satisfies Access;
export const NODE = { kind: 'node' } as const satisfies Access;
export const OPERATOR = { kind: 'user', role: 'operator' } as const satisfies Access;
export const ADMIN = { kind: 'user', role: 'admin' } as const satisfies Access;
export const JOB_OWNER = { kind: 'user', role: 'user', owned: 'job' } as const satisfies Access;
/** For whoever runs there what they like, as the owner of the job. */
export const JOB_RUNNER = { ...JOB_OWNER, others: 'admin' } as const satisfies Access;
export const WORKER = { kind: 'worker' } as const satisfies Access;
export const POOL_CALLER = { kind: 'user', role: 'user', owned: 'calls' } as const satisfies Access;
export const POOL_OWNER = { kind: 'user', role: 'user', owned: 'pool' } as const satisfies Access;
export const TOKEN_OWNER = { kind: 'user', role: 'user', owned: 'token' } as const satisfies Access;
