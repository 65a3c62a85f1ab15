// Workers of pools: which of their epochs may speak, and by which secret.

import type { KnownWorker } from '../../../kernel/head/auth/authenticate.ts';
import { hashSecret, isSecret } from '../../../kernel/head/auth/secrets.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { type EpochId, type JobId, parseTaskId } from '../../../kernel/model/ids.ts';
import { INSIDE_HEADER, readInside } from '../../../kernel/model/inside.ts';
import { insideProof } from '../../../kernel/wire/inside-proof.ts';
import type { Inside } from '../core/router/records.ts';

/** Null once the head has heard of its end, and when its task was given to another node. */
export function findWorker({ jobs }: State, text: string): KnownWorker | null {
  const hash = text.indexOf('#');
  const place = parseTaskId(text.slice(0, Math.max(0, hash)));
  if (!place.ok) return null;
  const { jobId, index } = place.value;
  const job = jobs.get(jobId);
  const task = job?.active.get(index ?? -1);
  const { pool, stepKey } = job?.spec ?? {};
  if (task === undefined || pool === undefined || stepKey === undefined) return null;
  if (String(task.epoch) !== text.slice(hash + 1)) return null;
  for (const [node, part] of task.parts) {
    if (part.state === 'ended') continue;
    return { worker: { jobId, node, epochId: text as EpochId }, secret: stepKey };
  }
  return null;
}

/**
 * Where a program runs that shows what a worker of a pool has given it; null: elsewhere, or nobody
 * has proved it. It is no credential: who the program acts for is another question.
 */
export function findInside(
  state: State,
  jobId: JobId,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Inside | null {
  const { [INSIDE_HEADER]: text } = headers;
  const claim = typeof text === 'string' ? readInside(text) : null;
  const found = claim === null ? null : findWorker(state, claim.epochId);
  if (claim === null || found === null) return null;
  const proof = insideProof({ ...claim, key: found.secret });
  if (!isSecret(text as string, hashSecret(proof))) return null;
  const { jobId: pool, node, epochId } = found.worker;
  const inside = { worker: `${node}:${epochId}`, depth: claim.depth };
  return pool === jobId ? inside : { ...inside, pool };
}
