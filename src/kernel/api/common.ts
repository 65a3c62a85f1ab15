// Schemas that several resources share: amounts, instants, ids in paths, paging.

import { z } from 'zod';
import { hiddenIn, isPlainLine } from '../base/plain-line.ts';
import { BLOB_HASH } from '../model/blob.ts';
import { COUNTED_MAX, LABELS_LENGTH_MAX } from '../model/limits.ts';

/** An instant, ms since 1970. */
export const instant = z.int();
/** An instant that may not have come. */
export const instantOrNull = instant.nullable();
/** A whole number of something, 0 included. */
export const count = z.int().min(0);

/** The name of a content. */
export const blobHash = z.string().regex(BLOB_HASH, {
  error: 'a SHA-256: 64 lower-case hex digits, as sha256sum prints them',
});

/** `42` or `42[7]`. */
export const taskId = z.string().regex(/^\d{1,15}(\[\d{1,9}\])?$/, { error: 'write 42 or 42[7]' });

/** A job or task in a path. */
export const taskParams = z.strictObject({ id: taskId });

/** Letters, digits, `.`, `-` and `_`; the same rule as `parseNodeName`. */
export const nodeName = z.string().regex(/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9])?$/, {
  error: "a node name: letters, digits, '.', '-' and '_', 254 at most",
});

/** Login names as the field has them, `@` for remote ones. */
export const userName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_.@-]{0,63}\$?$/, {
  error: 'expected a login name: a letter, then letters, digits and . _ @ -, 64 at most',
});

/** A name or a reason, as long as its user says: what lists show as it is. */
export const plainLine = z.string().refine(isPlainLine, {
  error: ({ input }) => {
    const hidden = hiddenIn(String(input));
    return `valid UTF-8 on one line, without control characters and others that are not seen (${hidden})`;
  },
});

/** A label: `gpu`, `rack=7`, `site/os`; the controller says which signs it may have. */
export const label = plainLine.min(1).max(128);

/** Labels or expressions over them, all of which a node must meet. */
export const needs = z.array(plainLine.min(1).max(LABELS_LENGTH_MAX)).max(100);

/** Amounts of counted resources by their names, as a request has them. */
export const countedAmounts = z
  .record(z.string(), z.unknown())
  .refine((all) => Object.keys(all).length <= COUNTED_MAX, {
    error: `expected at most ${COUNTED_MAX} kinds of counted resources`,
    abort: true,
  })
  .pipe(z.record(plainLine.min(1).max(64), count)) as unknown as z.ZodType<Record<string, number>>;

export const resources = z.strictObject({
  cpuCount: count,
  memoryBytes: count,
  gpuCount: count,
  counted: z.record(plainLine.min(1).max(64), count),
});

/** What a job asks of each node; `gpuKind`: which gpus, absent: any whole ones. */
export const askedResources = resources.extend({
  gpuKind: z
    .strictObject({
      types: z.array(z.string()).nullable(),
      memoryBytesMin: count.nullable(),
      shareBytes: count.nullable(),
      links: z.literal('nvlink').exactOptional(),
    })
    .exactOptional(),
});

export const exitStatus = z.object({
  code: z.int().exactOptional(),
  signal: z.int().exactOptional(),
});

/** A number in a query string: `limit=100`. */
export function queryNumber(from: number, to: number) {
  return z.coerce.number().int().min(from).max(to);
}

/** `true` or `false` in a query string. */
export const queryFlag = z.enum(['true', 'false']).transform((text) => text === 'true');

/** Several values in a query string: `kind=a,b` or `kind=a&kind=b`. */
export function queryList<T extends z.ZodType>(item: T) {
  const split = (value: unknown) => (typeof value === 'string' ? value.split(',') : value);
  return z.preprocess(split, z.array(item).min(1).max(QUERY_LIST_MAX));
}

/** A line of a request is short; more values belong into a body. */
const QUERY_LIST_MAX = 100;

/** Nothing in the body: absent or `{}`. */
export const noBody = z.strictObject({}).optional();
/** Nothing behind the `?`. */
export const noQuery = z.strictObject({});

/** How many tasks, nodes or records a request changed. */
/** What tasks left and the head keeps. */
export const keptAmounts = z.object({
  tasks: count,
  files: count,
  bytes: count,
  /** Files that were wanted and are not there. */
  leftOut: count,
  /** There are more tasks than were counted. */
  more: z.boolean(),
});

export const changedReply = z.object({ count });
export type ChangedReply = z.infer<typeof changedReply>;
