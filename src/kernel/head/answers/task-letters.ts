// Where each task of a job is, one letter for each: a hundred thousand tasks are a hundred
// kilobytes, and few of them change between two looks.

import type { IntervalSet } from '../../base/interval-set.ts';
import type { Job } from '../../machine/jobs/facts.ts';
import { shownState } from '../../machine/tasks/shown-state.ts';
import { OUTCOMES, type OutcomeKind, TASK_STATES, type TaskState } from '../../model/job.ts';

type Word = TaskState | OutcomeKind;

const FIRST_LETTER = 'a'.charCodeAt(0);
const WORDS: readonly Word[] = [...TASK_STATES.filter((state) => state !== 'done'), ...OUTCOMES];
const CODES = new Map(WORDS.map((word, at) => [word, FIRST_LETTER + at]));

/** What each letter means. */
export const LEGEND: Readonly<Record<string, Word>> = Object.fromEntries(
  WORDS.map((word, at) => [String.fromCharCode(FIRST_LETTER + at), word]),
);

/** Letters of tasks in the order of their indices, as codes. */
export type Letters = Uint8Array;

/** All tasks at once, of whom all is in memory. */
export function lettersOf(job: Job, indices: IntervalSet): Letters {
  const places = new Places(indices);
  const letters = new Uint8Array(indices.size).fill(codeOf('pending'));
  for (const [kind, ended] of job.ended) {
    for (const [from, to] of ended.intervals())
      letters.fill(codeOf(kind), places.of(from), places.of(to) + 1);
  }
  for (const task of job.active.values()) letters[places.of(task.index)] = codeOf(shownState(task));
  return letters;
}

export function codeOf(word: Word): number {
  return CODES.get(word) ?? 0;
}

/** Where an index stands among all of them. */
export class Places {
  readonly #from: number[] = [];
  readonly #place: number[] = [];

  constructor(indices: IntervalSet) {
    let place = 0;
    for (const [from, to] of indices.intervals()) {
      this.#from.push(from);
      this.#place.push(place);
      place += to - from + 1;
    }
  }

  /** Place of an index that is among them. */
  of(index: number): number {
    let low = 0;
    let high = this.#from.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#from[middle] as number) <= index) low = middle;
      else high = middle;
    }
    return (this.#place[low] ?? 0) + index - (this.#from[low] ?? 0);
  }
}

/** Two stretches that are nearer than this are told as one. */
const NEAR = 8;

/** A place, and the letters that stand there and behind it now. */
export type Change = readonly [place: number, letters: string];

/** What is otherwise; null: so much that all of it is shorter, or there are more or fewer tasks. */
export function changesOf(before: Letters, after: Letters): Change[] | null {
  if (before.length !== after.length) return null;
  const changes: Change[] = [];
  let size = 0;
  for (let at = 0; at < after.length; at += 1) {
    if (before[at] === after[at]) continue;
    let end = at + 1;
    for (let next = end; next < after.length && next - end < NEAR; next += 1)
      if (before[next] !== after[next]) end = next + 1;
    changes.push([at, textOf(after.subarray(at, end))]);
    size += end - at + NEAR;
    if (size > after.length + NEAR) return null;
    at = end;
  }
  return changes;
}

export function textOf(letters: Letters): string {
  return Buffer.from(letters.buffer, letters.byteOffset, letters.length).toString('latin1');
}
