// Users, their tokens, tokens that let nodes join, and the local login.

import { z } from 'zod';
import { ROLES } from '../model/actor.ts';
import { CAP_MAX } from '../model/limits.ts';
import {
  changedReply,
  count,
  instant,
  instantOrNull,
  noBody,
  plainLine,
  queryFlag,
  userName,
} from './common.ts';
import { ADMIN, OPERATOR, PUBLIC, type RouteShape, TOKEN_OWNER, USER } from './route-shape.ts';

export const userParams = z.strictObject({ name: userName });
export const tokenParams = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9]{1,64}$/, {
    error: 'expected the id of a token, as `weft token list` shows it',
  }),
});
const groups = z.array(plainLine.min(1).max(32)).max(100);

const cap = z.union([z.int().min(0).max(CAP_MAX), z.enum(['none', 'default'])]).optional();
const ownCap = z.int().nullable().optional();

/** What is absent stays; a new user has the role `user` and no groups. */
export const setUserRequest = z.strictObject({
  role: z.enum(ROLES).optional(),
  groups: groups.optional(),
  /** Bytes of files that the head keeps of this user; null: as of others. */
  filesBytesMax: count.nullable().optional(),
  /** What may be held at once; `gpus:a100`: of a type; `default`: as the configuration says. */
  caps: z.object({ cpus: cap, gpus: cap, running: cap }).catchall(cap).optional(),
});

const userView = z.object({
  name: z.string(),
  role: z.enum(ROLES),
  /** false: none of their own; the head's own user is an admin all the same. */
  hasRole: z.boolean().optional(),
  /** Given here, beside those of the account on the head's machine. */
  groups: z.array(z.string()),
  tokenCount: count,
  /** How many jobs in memory are not done. */
  activeJobs: count,
  /** Bytes of files on the head that they have sent or their jobs have left. */
  filesBytes: count.optional(),
  /** What the head keeps of them; null: no limit but that of all. */
  filesBytesMax: count.nullable().optional(),
  /** Given by an admin; what is absent is as for others, null: any number. `running`: tasks. */
  caps: z.object({ cpus: ownCap, gpus: ownCap, running: ownCap }).catchall(ownCap).optional(),
});
export type UserView = z.infer<typeof userView>;
export const listUsersReply = z.object({ users: z.array(userView) });

const usageView = z.object({
  user: z.string(),
  /** Seconds of one cpu, with memory and gpus as the site weighs them, faded by the half-life. */
  usageSeconds: z.number(),
  /** Share of the whole cluster, 0…1. */
  share: z.number(),
  /** 0…1: 1 has used nothing, 0.5 exactly the share. */
  factor: z.number(),
});
export type UsageView = z.infer<typeof usageView>;
export const listUsageReply = z.object({ halfLifeMs: count, users: z.array(usageView) });

/** Year long at most for a finite one; null = until revoked. */
const lifetime = z
  .int()
  .min(1000)
  .max(366 * 86_400_000);

export const createTokenRequest = z.strictObject({
  label: plainLine.max(200).optional(),
  /** Default 90 days; null = until revoked. */
  expiresInMs: lifetime.nullable().optional(),
  /** For somebody else: admins only. */
  user: userName.optional(),
});
export const listTokensQuery = z.strictObject({ all: queryFlag.optional() });

const tokenView = z.object({
  id: z.string(),
  purpose: z.enum(['user', 'join']),
  user: z.string(),
  label: z.string(),
  createdAt: instant,
  expiresAt: instantOrNull,
});
export type TokenView = z.infer<typeof tokenView>;
export const listTokensReply = z.object({ tokens: z.array(tokenView) });

/** `notice`: what the admin should know, such as that the head's machine has no such account. */
const notice = z.string().nullable();

export const setUserReply = z.object({ count, notice });

/** `token` is shown this once; the head keeps its hash. */
export const createTokenReply = z.object({
  id: z.string(),
  token: z.string(),
  user: z.string(),
  expiresAt: instantOrNull,
  notice,
  /** `host:port` of the head, best first; empty when it listens on no port. */
  addresses: z.array(z.string()),
  /** SHA-256 of its certificate, hex, and the certificate itself in PEM; null without a port. */
  fingerprint: z.string().nullable(),
  certificate: z.string().nullable(),
});
export type CreateTokenReply = z.infer<typeof createTokenReply>;

export const createJoinTokenRequest = z.strictObject({
  label: plainLine.max(200).optional(),
  /** Default one hour. */
  expiresInMs: lifetime.optional(),
});
export const createJoinTokenReply = z.object({
  id: z.string(),
  token: z.string(),
  expiresAt: instant,
  /** SHA-256 of the head's certificate, hex; null when it listens on no port. */
  fingerprint: z.string().nullable(),
  /** `host:port` under which nodes may try; empty when it listens on no port. */
  addresses: z.array(z.string()),
});

/** Make the directory `PATH.DEVICE-INODE` (of the socket) with mode 0700, then finish. */
export const beginLoginReply = z.object({ challenge: z.string(), path: z.string() });
export const finishLoginRequest = z.strictObject({
  challenge: z.string().regex(/^[0-9a-f]{32,64}$/),
});
export const finishLoginReply = z.object({
  token: z.string(),
  user: z.string(),
  expiresAt: instant,
});
export type FinishLoginReply = z.infer<typeof finishLoginReply>;

export const whoamiReply = z.object({
  kind: z.enum(['user', 'node']),
  name: z.string(),
  uid: z.int().nullable(),
  role: z.enum(ROLES).nullable(),
  /** Those that partitions and qualities of service may ask for. */
  groups: z.array(z.string()),
});

export const userRoutes = {
  listUsers: {
    summary: 'Users with a role, and those who have files on the head.',
    access: OPERATOR,
    reply: listUsersReply,
  },
  listUsage: {
    summary: 'What users have used lately, and their fair share.',
    access: USER,
    reply: listUsageReply,
  },
  createUser: {
    summary: 'Give a user a role; refused when the user has one.',
    access: ADMIN,
    params: userParams,
    body: setUserRequest,
    reply: setUserReply,
  },
  modifyUser: {
    summary: "Change a user's role, groups, caps or room for files.",
    access: ADMIN,
    params: userParams,
    body: setUserRequest,
    reply: setUserReply,
  },
  removeUser: {
    summary: 'Remove a user with all tokens.',
    access: ADMIN,
    params: userParams,
    reply: changedReply,
  },
  listTokens: {
    summary: 'Your tokens; all=true for everybody’s, admins only.',
    access: USER,
    query: listTokensQuery,
    reply: listTokensReply,
  },
  createToken: {
    summary: 'Make a bearer token; shows it once.',
    access: USER,
    body: createTokenRequest,
    reply: createTokenReply,
  },
  revokeToken: {
    summary: 'Revoke a token.',
    access: TOKEN_OWNER,
    params: tokenParams,
    reply: changedReply,
  },
  createJoinToken: {
    summary: 'Make a token that lets nodes join; shows it once.',
    access: ADMIN,
    body: createJoinTokenRequest,
    reply: createJoinTokenReply,
  },
  beginLocalLogin: {
    summary: 'Unix socket only: get the name of a directory to make.',
    access: PUBLIC,
    body: noBody,
    reply: beginLoginReply,
    quiet: true,
  },
  finishLocalLogin: {
    summary: 'Unix socket only: the owner of that directory is who you are.',
    access: PUBLIC,
    body: finishLoginRequest,
    reply: finishLoginReply,
  },
  whoami: { summary: 'Who you are for the head.', access: USER, reply: whoamiReply },
} as const satisfies Readonly<Record<string, RouteShape>>;
