// Rows by the words of the STATE column: which are asked of the head, and which of its answers are
// meant.

import type { JobView, TaskView } from '../../api/jobs.ts';
import { didYouMean } from '../../base/nearest-word.ts';
import { usage } from '../../model/failure.ts';
import {
  ANY_FAILURE,
  isFailure,
  OUTCOME_FILTERS,
  OUTCOMES,
  type OutcomeKind,
  TASK_STATES,
} from '../../model/job.ts';
import { stateWords } from './columns.ts';

/** What the column may show, and `done` for all that ended. */
export const STATE_WORDS: readonly string[] = [...TASK_STATES, 'held', ...OUTCOMES];
/** Words for several of them. */
const SETS: readonly string[] = ['active', 'all', ANY_FAILURE];

const ENDED = new Set<string>(['done', 'all', ANY_FAILURE, ...OUTCOMES]);

export interface StateFilter {
  /** The least that the head is asked for. */
  readonly query: { readonly state: string; readonly outcome?: string };
  /** Every task that is meant is among what the head calls failed. */
  readonly isOfFailures: boolean;
  /** Which of its answers are meant; null: all of them. */
  readonly isMeant: ((view: Pick<JobView | TaskView, 'state' | 'outcome'>) => boolean) | null;
}

/** Reads `failed` or `held,pending`; an unknown word is refused with those that are known. */
export function readStateFilter(flag: string, text: string): StateFilter {
  const words = [...new Set(text.split(',').map((word) => word.trim()))];
  const known = [...STATE_WORDS, ...SETS];
  const wrong = words.find((word) => !known.includes(word));
  if (wrong !== undefined) {
    throw usage(`${flag}: '${wrong}' is unknown.${didYouMean(wrong, known)}`, known.join(', '));
  }
  const isOutcome = (word: string) => OUTCOME_FILTERS.some((one) => one === word);
  const isOfFailures = words.every((word) => isOutcome(word) && isFailure(word as OutcomeKind));
  const [only = ''] = words;
  if (words.length === 1 && isOutcome(only))
    return { query: { state: 'all', outcome: only }, isOfFailures, isMeant: isOneOf(words) };
  if (words.length === 1 && only !== 'held')
    return { query: { state: only }, isOfFailures, isMeant: isOneOf(words) };
  const state = words.some((word) => ENDED.has(word)) ? 'all' : 'active';
  return { query: { state }, isOfFailures, isMeant: isOneOf(words) };
}

/** What is held is pending, too, and what ended in any way is done. */
function isOneOf(words: readonly string[]): StateFilter['isMeant'] {
  if (words.includes('all')) return null;
  return (view) =>
    words.includes(stateWords(view)) ||
    words.includes(view.state) ||
    (view.state !== 'done' && words.includes('active')) ||
    (words.includes(ANY_FAILURE) && view.outcome !== null && isFailure(view.outcome.kind));
}
