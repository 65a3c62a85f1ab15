// The batch, jobs submitted together under one name, as jobs and other layers refer to it.

import { err, ok, type Result } from '../base/result.ts';

/** A file in a task's directory: its node is ready for the batch, and the task itself begins. */
export const BUILT_MARK = '_weft/built';

/** Another one: what was in the directory when the job itself began. */
export const BEGUN_MARK = '_weft/begun';

/** What makes a batch one of a kind: the same name again is another version. */
export interface BatchName {
  readonly namespace: string;
  readonly name: string;
  /** From 1. */
  readonly version: number;
}

/** `distribute`: read from a file of that program. */
export type BatchOrigin = 'weft' | 'distribute';

/** What makes an array of tasks a part of a batch: each of them is a job of the batch. */
export interface BatchLink extends BatchName {
  /** Which jobs of the batch its items are, in their order. IntervalSet text. */
  readonly numbers: string;
  /** Jobs of the batch that have to complete before. IntervalSet text; absent: none. */
  readonly after?: string;
  /** Key of the solver that is built of its files; absent: that of the batch, or none. */
  readonly build?: string;
  /** How long a node may take to build it, on top of a task's time limit. Absent: within that. */
  readonly buildMs?: number;
}

/** `alice/sweep_01`, `alice/sweep_01@2`. */
export function formatBatch({ namespace, name, version }: BatchName): string {
  return `${namespace}/${name}${version === 1 ? '' : `@${version}`}`;
}

/** A batch as users name it; version null: the newest. */
export interface BatchRef {
  readonly namespace: string;
  readonly name: string;
  readonly version: number | null;
}

/** Reads `NAMESPACE/NAME` or `NAMESPACE/NAME@2`. */
export function parseBatch(text: string): Result<BatchRef, string> {
  const match = /^([^/]+)\/([^/@]+)(?:@([1-9]\d{0,8}))?$/.exec(text);
  if (match === null)
    return err(`'${text}' names no batch; write NAMESPACE/NAME or NAMESPACE/NAME@2`);
  const [, namespace = '', name = '', version] = match;
  return ok({ namespace, name, version: version === undefined ? null : Number(version) });
}
