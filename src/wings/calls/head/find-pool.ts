// The pool that a path names, by number or, among those of whoever asks, by name.

import { ok, type Result } from '../../../kernel/base/result.ts';
import { type JobRecord, recordOf } from '../../../kernel/head/answers/job-record.ts';
import { authorizeObject } from '../../../kernel/head/auth/authorize.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { UserActor } from '../../../kernel/model/actor.ts';
import type { Refusal } from '../../../kernel/model/errors.ts';
import { findPool } from '../machine/live.ts';

/** Refused for whoever may not do this with it; `calls`: run functions as its owner. */
export function ownedPool(
  state: State,
  {
    id: text,
    actor,
    kind,
  }: {
    readonly id: string;
    readonly actor: UserActor;
    readonly kind: 'pool' | 'calls';
  },
): Result<JobRecord, Refusal> {
  const found = findPool(state, text, actor.name);
  if (!found.ok) return found;
  const { id, owner } = found.value;
  const refusal = authorizeObject(actor, { kind, id, owner });
  return refusal === null ? ok(recordOf(found.value)) : { ok: false, error: refusal };
}
