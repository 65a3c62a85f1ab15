// Why a task waits, in the words that users read.

import { viewReason } from '../../src/kernel/head/answers/reasons.ts';
import { explainPending, pendingOf } from '../../src/kernel/machine/answers/explain.ts';
import type { TestHead } from './controller.ts';

/** `resources: needs 1 node …`, for somebody else than the owner. */
export function why(head: TestHead, id: number, index = 0, settings = head.settings): string {
  const pending = pendingOf(head.job(id), index);
  const reason = explainPending(head.state, settings, pending, head.at);
  const { kind, words } = viewReason(reason, { name: null, now: head.at });
  return `${kind}: ${words}`;
}
