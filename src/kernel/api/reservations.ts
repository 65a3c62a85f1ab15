// Reservations: what is asked for, and how they are shown.

import { z } from 'zod';
import {
  changedReply,
  count,
  instant,
  needs,
  nodeName,
  plainLine,
  resources,
  userName,
} from './common.ts';
import { type RouteShape, USER } from './route-shape.ts';

/** Id or name. */
export const reservationParams = z.strictObject({ name: z.string().min(1).max(64) });

const groupName = plainLine.min(1).max(64);
const jobId = z.int().min(1);

/** Five fields of cron(5) and a time zone of the IANA database. */
const recurrence = z.strictObject({
  cron: z.string().min(1).max(200),
  zone: z.string().min(1).max(64),
});

const share = z.union([z.literal('whole'), resources]);

const wish = {
  name: plainLine.min(1).max(64).optional(),
  users: z.array(userName).max(1000).optional(),
  groups: z.array(groupName).max(1000).optional(),
  /** Waiting jobs that are put into it. */
  jobs: z.array(jobId).max(1000).optional(),
  /** Neither this nor `within`: now. */
  at: instant.optional(),
  /** A window: it begins as early as there is room. */
  within: z.strictObject({ notBefore: instant.optional(), until: instant }).optional(),
  nodeNames: z.array(nodeName).max(10_000).optional(),
  nodeCount: z.int().min(1).optional(),
  /** What is set aside of each node. */
  share: share.optional(),
  labels: needs.optional(),
  /** Tasks that would run into it are not in the way. */
  force: z.boolean().optional(),
};

export const createReservationRequest = z.strictObject({
  ...wish,
  durationMs: z.int(),
  recurrence: recurrence.optional(),
});

/** What is absent stays as it is. */
export const changeReservationRequest = z.strictObject({
  ...wish,
  durationMs: z.int().optional(),
  /** Null when it comes no more after the next time. */
  recurrence: recurrence.nullable().optional(),
});
export type ChangeReservationBody = z.infer<typeof changeReservationRequest>;

const slotView = z.object({
  from: instant,
  until: instant,
  nodes: z.array(z.string()),
  /** What is set aside of each of the nodes. */
  share,
});

export const reservationView = z.object({
  id: z.string(),
  name: z.string(),
  purpose: z.enum(['users', 'maintenance']),
  state: z.enum(['coming', 'active']),
  users: z.array(z.string()),
  groups: z.array(z.string()),
  jobs: z.array(z.int()),
  /** The current one and those to come. */
  slots: z.array(slotView),
  /** Occurrences without room; with `triedUntil` they get what becomes free before that. */
  skipped: z.array(
    z.object({ from: instant, because: z.string(), triedUntil: instant.exactOptional() }),
  ),
  recurrence: recurrence.nullable(),
  durationMs: z.int(),
  /** Nodes of the next slot that cannot be counted on now, and why. */
  missing: z.array(z.object({ node: z.string(), because: z.string() })),
  waitingTasks: count,
  runningTasks: count,
  createdBy: z.string(),
  createdAt: instant,
});
export type ReservationView = z.infer<typeof reservationView>;
const madeReservation = reservationView.extend({
  unknownUsers: z.array(z.string()).exactOptional().meta({
    description:
      'Users whom the cluster does not know, and no account of its head is named so. Absent: none.',
  }),
  unknownGroups: z.array(z.string()).exactOptional().meta({
    description:
      "Groups that neither the head's machine has nor any user whom the cluster knows. Absent: none.",
  }),
});
export type MadeReservation = z.infer<typeof madeReservation>;
export const listReservationsReply = z.object({ reservations: z.array(reservationView) });

export const reservationRoutes = {
  listReservations: {
    summary: 'All reservations, and maintenance.',
    access: USER,
    reply: listReservationsReply,
  },
  createReservation: {
    summary: 'Reserve shares of nodes for a time: operators, or users for themselves.',
    access: USER,
    body: createReservationRequest,
    reply: madeReservation,
  },
  getReservation: {
    summary: 'One reservation, by id or name.',
    access: USER,
    params: reservationParams,
    reply: reservationView,
  },
  changeReservation: {
    summary: 'Change a reservation: whoever made it, or an operator.',
    access: USER,
    params: reservationParams,
    body: changeReservationRequest,
    reply: madeReservation,
  },
  cancelReservation: {
    summary: 'Cancel a reservation.',
    access: USER,
    params: reservationParams,
    reply: changedReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
