// Ids as Slurm writes them: `42`, `42_7`, `42_[0-3]`.

import { err, ok, type Result } from '../../../kernel/base/result.ts';

const ID = /^(\d{1,15})(?:_(\d{1,9}|\[[\d,:%-]+\]))?$/;

/** Our ids of what this means: `42`, `42[7]`, or several of an array. */
export function readId(text: string): Result<string, string> {
  const [, job = '', index] = ID.exec(text) ?? [];
  if (text.includes('.')) return err(`Invalid job id ${text}: no step is named so; steps are 42.0`);
  if (job === '') return err(`Invalid job id ${text}`);
  if (index === undefined) return ok(job);
  return ok(`${job}[${index.replace(/^\[|\]$|%.*/g, '').replace(/\]$/, '')}]`);
}

const STEP = /^(\d{1,15})(?:_(\d{1,9}))?\.(\d{1,9}|batch)$/;

/**
 * Our id of the step that this means, `42[7].1`; null: it means none. `42.batch` is the task
 * itself.
 */
export function readStep(text: string): string | null {
  const [, job, index, number] = STEP.exec(text) ?? [];
  if (job === undefined || number === undefined) return null;
  const task = index === undefined ? job : `${job}[${index}]`;
  return number === 'batch' ? task : `${task}.${number}`;
}

/** `42_7` for our `42[7]`. */
export function slurmId(id: string): string {
  return id.replace(/\[(.*)\]/, '_$1');
}

const EXPANDED_MAX = 10_000;

/** A list with `42_[0-3,7]` in it, task by task; what is no such range stays as it is. */
export function expandIds(text: string): Result<string[], string> {
  const ids: string[] = [];
  for (const one of text.split(/,(?![^[]*\])/).map((word) => word.trim())) {
    const [, job, indices] = /^(\d+)_\[([\d,-]+)(?:%\d+)?\]$/.exec(one) ?? [];
    if (one !== '' && indices === undefined) ids.push(one);
    for (const range of indices?.split(',') ?? []) {
      const [from = 0, to = from] = range.split('-').map(Number);
      if (to - from + ids.length >= EXPANDED_MAX)
        return err(`${one}: name at most ${EXPANDED_MAX} tasks, or the whole array`);
      for (let at = from; at <= to; at++) ids.push(`${job}_${at}`);
    }
  }
  return ok(ids);
}
