// File contents by their SHA-256: asked for, sent in pieces, read in ranges.

import { z } from 'zod';
import { BLOBS_ASKED_MAX } from '../model/limits.ts';
import { CODING_HEADER, READS_HEADER } from './coding.ts';
import { blobHash, count, queryNumber } from './common.ts';
import { type RouteShape, USER_OR_EPOCH } from './route-shape.ts';

const blobParams = z.strictObject({ hash: blobHash });

/** One question for many. */
const hashesRequest = z.strictObject({ hashes: z.array(blobHash).max(BLOBS_ASKED_MAX) });

export const lackingReply = z.object({
  /** In the order in which they were asked for; what is not here is there and yours. */
  lacking: z.array(
    z.object({
      hash: z.string(),
      /** Bytes of it that came from you already: go on from here. */
      offset: count,
    }),
  ),
  /** How what you send next may be compressed; absent: not at all. */
  reads: z.array(z.string()).optional(),
});

const anyNumber = queryNumber(0, Number.MAX_SAFE_INTEGER);

export const blobFilesReply = z.object({
  /** Those that are files of their own; small ones lie together. */
  files: z.array(
    z.object({
      hash: z.string(),
      path: z.string(),
      /** Device and number of the file, to tell that it is this one. */
      dev: z.string(),
      ino: z.string(),
      /** The version of it that the head has hashed as it came; absent: it is another by now. */
      verified: z.string().optional(),
    }),
  ),
});

export const sendBlobQuery = z.strictObject({
  /** Where the body belongs: where the last piece ended, or 0 to begin anew. */
  offset: anyNumber,
  /** The whole content's. */
  size: anyNumber,
});

export const sendBlobReply = z.object({
  /** The head has so many bytes from you. */
  offset: count,
  /** The head has all bytes, and they have this hash. */
  held: z.boolean(),
});

/** Sent by a node: it acts for the owner of this task, which it runs. */
export const EPOCH_HEADER = 'weft-epoch';

const epochHeaders = z.object({
  [EPOCH_HEADER]: z
    .string()
    .optional()
    .meta({ description: 'From a node: the start of a task that it runs, as 42[7]#1.' }),
});

const sendHeaders = epochHeaders.extend({
  [CODING_HEADER]: z
    .string()
    .optional()
    .meta({ description: 'How the body is compressed: zstd, or absent.' }),
});

const readHeaders = epochHeaders.extend({
  [READS_HEADER]: z
    .string()
    .optional()
    .meta({ description: 'zstd: the answer may be compressed so, and says it in weft-coding.' }),
});

export const readBlobHeaders = readHeaders.extend({
  Range: z
    .string()
    .optional()
    .meta({ description: 'One range of bytes, as bytes=100- (RFC 9110).' }),
});

/** Headers of an answer to HEAD, which has no body. */
export const BLOB_HEADERS = { offset: 'weft-blob-offset', held: 'weft-blob-held' } as const;

export const blobRoutes = {
  lackingBlobs: {
    summary: 'Which of these contents you have to send, and from where on.',
    access: USER_OR_EPOCH,
    headers: epochHeaders,
    body: hashesRequest,
    reply: lackingReply,
    quiet: true,
  },
  checkBlob: {
    summary: 'How much of a content the head has from you.',
    access: USER_OR_EPOCH,
    headers: epochHeaders,
    params: blobParams,
    replyHeaders: {
      [BLOB_HEADERS.offset]: 'Bytes that came from you: go on from here.',
      [BLOB_HEADERS.held]: 'true: all of it is there, and yours to read and to name.',
    },
    quiet: true,
  },
  sendBlob: {
    summary: 'The next piece of a content; with the last one it is verified.',
    access: USER_OR_EPOCH,
    headers: sendHeaders,
    params: blobParams,
    query: sendBlobQuery,
    consumes: 'bytes',
    reply: sendBlobReply,
    // What names it afterwards is on record; ten thousand small files would drown the rest.
    quiet: true,
  },
  sendBlobs: {
    summary: 'Many small contents in one body; what has come whole is kept, whatever follows.',
    access: USER_OR_EPOCH,
    headers: sendHeaders,
    consumes: 'bytes',
    reply: z.object({ count }),
    quiet: true,
  },
  readBlobs: {
    summary: 'Many small contents in one answer, in the order in which they are asked for.',
    access: USER_OR_EPOCH,
    headers: readHeaders,
    body: hashesRequest,
    produces: 'bytes',
    quiet: true,
  },
  blobFiles: {
    summary: 'Where contents lie on the disk of the head, for a node on its machine.',
    access: USER_OR_EPOCH,
    headers: epochHeaders,
    body: hashesRequest,
    reply: blobFilesReply,
    quiet: true,
  },
  readBlob: {
    summary: 'A content that you sent or that a job of yours names; 206 for a Range.',
    access: USER_OR_EPOCH,
    params: blobParams,
    headers: readBlobHeaders,
    produces: 'bytes',
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
