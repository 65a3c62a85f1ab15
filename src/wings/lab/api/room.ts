// The disk of the head: how full it is, and when it will be.

import { z } from 'zod';
import { count, instantOrNull } from '../../../kernel/api/common.ts';
import { type RouteShape, USER } from '../../../kernel/api/route-shape.ts';

export const roomReply = z.object({
  freeBytes: count,
  totalBytes: count,
  /** The first of the hourly looks; null: none yet. */
  lookedAtSince: instantOrNull,
  /** Null: it was looked at for too short a time. Below 0: there is more room each day. */
  lostBytesPerDay: z.number().nullable(),
  /** If it goes on so; null: it does not get fuller, or too little is known. */
  fullAt: instantOrNull,
});
export type RoomReply = z.infer<typeof roomReply>;

export const labRoutes = {
  showRoom: {
    summary: 'How full the disk of the head is, and when it will be full if it goes on so.',
    access: USER,
    reply: roomReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
