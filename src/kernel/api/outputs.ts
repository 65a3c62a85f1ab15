// What tasks left behind and the head keeps: stored by nodes, listed and read by owners. The
// contents are read by the routes of blobs.

import { z } from 'zod';
import { OUTCOMES } from '../model/job.ts';
import {
  FILE_ENTRIES_MAX,
  FILE_PATH_BYTES_MAX,
  FILE_SET_BYTES_MAX,
  LEFT_OUT_WHY_MAX,
  OUTPUTS_INLINE_BYTES_MAX,
  OUTPUTS_INLINE_MAX,
} from '../model/limits.ts';
import {
  changedReply,
  count,
  instant,
  instantOrNull,
  queryFlag,
  queryNumber,
  taskParams,
} from './common.ts';
import { JOB_OWNER, NODE, type RouteShape } from './route-shape.ts';

const leftOut = z.object({
  path: z.string().max(FILE_PATH_BYTES_MAX),
  why: z.string().max(LEFT_OUT_WHY_MAX),
});

/** Entries as in the manifest: the head checks them one by one, as there may be very many. */
const storeRequest = z.strictObject({
  entries: z.array(z.unknown()).max(FILE_ENTRIES_MAX),
  leftOut: z.array(leftOut).max(FILE_ENTRIES_MAX),
  /** Contents that are few and small, in Base64: they need not be sent before. */
  contents: z
    .array(z.base64().max(Math.ceil(OUTPUTS_INLINE_BYTES_MAX / 3) * 4))
    .max(OUTPUTS_INLINE_MAX)
    .optional(),
});

const taskArchive = z.object({
  /** Null for a plain job. */
  index: count.nullable(),
  /** Which start of the task it is of, from 1. */
  epoch: count,
  outcome: z.enum(OUTCOMES),
  files: count,
  bytes: count,
  /** Files that were wanted and are not there; the manifest says why. */
  leftOut: count,
  storedAt: instant,
  /** The task did not complete. */
  isPartial: z.boolean(),
});

const entry = z.object({
  path: z.string(),
  kind: z.enum(['file', 'folder', 'link']),
  size: count,
  mode: count,
  modifiedAt: z.int(),
  sha256: z.string().optional(),
  target: z.string().optional(),
  pathBytes: z.string().optional(),
});

const manifest = taskArchive.extend({
  version: z.literal(1),
  jobId: count,
  /** Title of the batch, for a job of one, and the job's name; its files are in the save folder. */
  batch: z.string().optional(),
  job: z.string().optional(),
  name: z.string(),
  owner: z.string(),
  exitCode: z.int().nullable(),
  signal: z.int().nullable(),
  detail: z.string().nullable(),
  /** In rank order; files of all but the first are below `_weft/nodes/NAME`. */
  nodes: z.array(z.string()),
  startedAt: instantOrNull,
  endedAt: instant,
  entries: z.array(entry),
  missing: z.array(leftOut),
});

const listQuery = z.strictObject({
  /** From the reply before. */
  cursor: queryNumber(0, Number.MAX_SAFE_INTEGER).optional(),
  limit: queryNumber(1, 1000).optional(),
  /** With their manifests: of so many tasks at a time as have not too many files together. */
  manifests: queryFlag.optional(),
});

export const outputRoutes = {
  storeOutputs: {
    summary:
      'What the node keeps of a task that it runs; all contents have been sent, or come along.',
    access: NODE,
    params: z.strictObject({ epochId: z.string().max(100) }),
    body: storeRequest,
    bodyBytesMax: FILE_SET_BYTES_MAX,
    reply: z.object({ files: count, bytes: count, leftOut: count }),
  },
  listOutputs: {
    summary: 'The tasks of a job of which files are kept, by index.',
    access: JOB_OWNER,
    params: taskParams,
    query: listQuery,
    reply: z.object({
      tasks: z.array(taskArchive),
      /** Where they were asked for, in the same order. */
      manifests: z.array(manifest).optional(),
      /** Null when there are no more. */
      next: count.nullable(),
    }),
  },
  getOutputs: {
    summary: 'The files that are kept of one task; index 0 for a plain job.',
    access: JOB_OWNER,
    params: taskParams.extend({ index: z.string().regex(/^\d{1,9}$/, { error: 'an index' }) }),
    reply: manifest,
  },
  removeOutputs: {
    summary: 'Remove the files that are kept of a job.',
    access: JOB_OWNER,
    params: taskParams,
    reply: changedReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
