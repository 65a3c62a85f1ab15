// Job ids as people write several of them: `42`, `42[7]`, `42[0-5,8]`, `12-20`, `12,15,20-30`.

import { IntervalSet } from '../../base/interval-set.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { usage } from '../../model/failure.ts';
import { parseTaskId } from '../../model/ids.ts';

/** What `[job...]` means, in every verb's help. */
export const OPERANDS_TEXT = '42, 42[7] or 42[0-5] of an array, a range 12-20, a list 12,15';

export type Operand =
  /** One job or one task, by the id that the API takes. */
  | { readonly kind: 'one'; readonly id: string; readonly jobId: number }
  /** Those of these jobs that there are. */
  | { readonly kind: 'range'; readonly from: number; readonly to: number };

/** More tasks than these are a matter for the whole job. */
const TASKS_MAX = 10_000;

/** All operands of a command line, in order; throws a usage failure. */
export function readOperands(texts: readonly string[]): Operand[] {
  return texts.flatMap((text) => {
    const read = parseOperand(text);
    if (!read.ok) throw usage(read.error);
    return read.value;
  });
}

function parseOperand(text: string): Result<readonly Operand[], string> {
  const operands: Operand[] = [];
  // Commas inside of brackets separate indices, not jobs.
  for (const part of text.split(/,(?![^[]*\])/)) {
    const read = parsePart(part.trim(), text);
    if (!read.ok) return read;
    operands.push(...read.value);
  }
  return ok(operands);
}

function parsePart(part: string, text: string): Result<readonly Operand[], string> {
  const range = /^(\d{1,15})-(\d{1,15})$/.exec(part);
  if (range !== null) {
    const [from, to] = [Number(range[1]), Number(range[2])];
    if (from < 1 || to < from) return err(`'${part}' is not a range of jobs; write 12-20`);
    return ok([{ kind: 'range', from, to }]);
  }
  const tasks = /^(\d{1,15})\[([\d,-]+)\]$/.exec(part);
  if (tasks !== null && !/^\d+$/.test(tasks[2] ?? '')) {
    return parseTasks(tasks[1] ?? '', tasks[2] ?? '');
  }
  const place = parseTaskId(part);
  if (!place.ok) return err(`'${text}' is not a job id; write ${OPERANDS_TEXT}`);
  return ok([{ kind: 'one', id: part, jobId: place.value.jobId }]);
}

function parseTasks(job: string, text: string): Result<readonly Operand[], string> {
  const indices = new IntervalSet();
  for (const part of text.split(',')) {
    const match = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part);
    const [from, to] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])];
    if (match === null || to < from)
      return err(`'${text}' is not a list of indices; write ${job}[0-5,8]`);
    indices.addRange(from, to);
  }
  if (indices.size > TASKS_MAX) {
    return err(`${job}[${text}] names more than ${TASKS_MAX} tasks; name the whole job`);
  }
  const jobId = Number(job);
  return ok([...indices].map((index) => ({ kind: 'one', id: `${job}[${index}]`, jobId })));
}
