// Names of steps: `42.0`, `42[7].1`; and of one process of a step: `42.0:3`.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { formatTaskId, parseTaskId, type TaskId } from '../../../kernel/model/ids.ts';

/** What can be read: nine digits. */
export const NUMBER_MAX = 999_999_999;
const STEP = /^(.*)\.(\d{1,9})$/;

/** With which a line says in which start of its task its step is. */
export const EPOCH_HEADER = 'weft-step-epoch';

/** In the place of a rank in a path: perhaps with the name of somebody who only looks. */
const LOOKED_AT = /^(\d{1,6})(?:~([\w-]{8,40}))?$/;

export function formatLine(rank: number, watch: string | undefined): string {
  return watch === undefined ? String(rank) : `${rank}~${watch}`;
}

/** Null: it is none. */
export function parseLine(
  text: string,
): { readonly rank: number; readonly watch: string | null } | null {
  const [, rank, watch = null] = LOOKED_AT.exec(text) ?? [];
  return rank === undefined ? null : { rank: Number(rank), watch };
}

/** The key of the process that somebody looks at under this one; null: it is no such key. */
export function watchedOf(key: string): string | null {
  const at = key.indexOf('~');
  return at < 0 ? null : key.slice(0, at);
}

export interface StepName {
  readonly task: TaskId;
  readonly number: number;
}

export function formatStepId({ task, number }: StepName): string {
  return `${task}.${number}`;
}

/** Reads `42.0` or `42[7].1`. */
export function parseStepId(text: string): Result<StepName, string> {
  const [, task = '', number = ''] = STEP.exec(text) ?? [];
  const place = parseTaskId(task);
  if (!place.ok) return err(`'${text}' is not the id of a step; write 42.0 or 42[7].1`);
  const { jobId, index } = place.value;
  return ok({ task: formatTaskId(jobId, index), number: Number(number) });
}
