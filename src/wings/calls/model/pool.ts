// Pools: array jobs whose tasks are resident workers that run functions for programs.

import type { JobSpec, Program } from '../../../kernel/model/job.ts';
import { FIELD_ROWS, type PoolField } from '../../../kernel/model/options/table.ts';
import type { Submission } from '../../../kernel/model/submission.ts';

/** Fields of a submission that mean something for a resident process, and are no single option. */
const MORE_FIELDS = [
  'environment',
  'directory',
  'files',
  'staging',
  'memoryOtherwiseBytes',
] as const satisfies readonly (keyof Submission)[];
type WorkerField = PoolField | (typeof MORE_FIELDS)[number];

export const WORKER_FIELDS: readonly WorkerField[] = [
  ...FIELD_ROWS.filter(({ pool }) => pool).map(({ field }) => field as PoolField),
  ...MORE_FIELDS,
];

/** What each worker gets. */
export type WorkerRequest = Pick<Submission, WorkerField>;

/** The agent of each node knows where it is. */
export const WORKER_PROGRAM: Program = { kind: 'argv', argv: ['weft-worker'] };

/** Names stand in paths and on command lines, where a number is a job. */
const NAME = /^[A-Za-z][A-Za-z0-9._-]{0,62}$/;

export function isPoolName(text: string): boolean {
  return NAME.test(text);
}

export const POOL_NAME_FORM = "a letter, then letters, digits, '.', '-' and '_', 63 at most";

const INTERPRETER_BYTES_MAX = 4095;

/** A program that nodes find by its path, or by its name on the `PATH` of the pool. */
export function isInterpreter(text: string): boolean {
  const isName = /^[A-Za-z0-9_][\w.+-]*$/.test(text);
  const isPath = text.startsWith('/') && !text.endsWith('/') && !text.includes('\0');
  return (isName || isPath) && text.length <= INTERPRETER_BYTES_MAX;
}

export const INTERPRETER_FORM = 'an absolute path, or a name as python3';

/** How many workers a pool asks for at present. */
export function targetOf({ array }: Pick<JobSpec, 'array'>): number {
  return array?.runningMax ?? 0;
}
