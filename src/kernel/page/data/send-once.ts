// What becomes a job is sent under a key that stays until it is answered: sent again after a lost
// answer it is the same job. Kept in the tab, so that a page that is loaded anew knows it too.

import { signal } from '@preact/signals';
import {
  keyOf,
  readUnanswered,
  type Unanswered,
  withoutUnanswered,
  withUnanswered,
  writeUnanswered,
} from '../pure/unanswered.ts';
import { HeadError } from './client.ts';
import { keep, readKept } from './kept.ts';
import { me, UNANSWERED } from './session.ts';

/** Kinds of what the head says of a submission only when it knows no job of its key. */
const BEHIND_THE_KEY: ReadonlySet<string> = new Set([
  ...['invalid_argument', 'failed_precondition', 'not_found', 'already_exists'],
]);

/** Counts changes of what is kept, for whoever shows it. */
const turn = signal(0);

/** What was sent and not answered yet. */
export function unanswered(): readonly Unanswered[] {
  void turn.value;
  return readUnanswered(readKept('tab', UNANSWERED), userName());
}

/** Sends it with the key of this wish. Throws what `send` throws. */
export async function sendOnce<T>(
  wish: string,
  send: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const before = unanswered();
  const isFirst = !before.some((one) => one.wish === wish);
  const key = keyOf(before, wish, crypto.randomUUID());
  change(withUnanswered(before, { wish, key, at: Date.now() }));
  try {
    const answer = await send({ 'idempotency-key': key });
    forget(wish);
    return answer;
  } catch (error) {
    if (!(error instanceof HeadError) || isLost(error)) throw error;
    // A refusal makes no job. An earlier try may have, unless the head has looked for its key
    // first; and what no head says (a proxy, a fault of the head) says nothing of the job.
    const isRefused = isFirst && error.kind !== 'internal';
    if (isRefused || BEHIND_THE_KEY.has(error.kind)) forget(wish);
    throw error;
  }
}

/** Nobody wants to know any more what became of it. */
export function forget(wish: string): void {
  change(withoutUnanswered(unanswered(), wish));
}

/** True for a failure after which the request may have been done all the same. */
export function isLost({ kind }: HeadError): boolean {
  return kind === 'unavailable' || kind === 'deadline_exceeded';
}

function change(all: readonly Unanswered[]): void {
  keep('tab', UNANSWERED, writeUnanswered(all, userName()));
  turn.value += 1;
}

function userName(): string {
  return me.value?.name ?? '';
}
