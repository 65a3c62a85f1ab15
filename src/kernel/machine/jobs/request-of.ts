// What the scheduler is asked for by a job: what its user asked for, on nodes that take that user's
// jobs.

import { isRoots, ROOT_LABEL, userLabel } from '../../model/accounts.ts';
import type { ResourceRequest } from '../../model/job.ts';
import type { State } from '../state.ts';
import type { Job } from './facts.ts';

/** Whose job it is, and what it asks for. */
export type Asker = Pick<Job, 'owner' | 'uid' | 'spec'>;

export function requestOf(state: State, { owner, uid, spec }: Asker): ResourceRequest {
  let { request } = spec;
  for (const hook of state.machine.hooks.narrow) request = hook(state, owner, request);
  // The head's own programs and jobs of a site run under accounts of their own.
  const hasOwnAccount = spec.system !== undefined || spec.foreign !== undefined;
  if (hasOwnAccount) return request;
  const labels: string[] = [];
  if (isRoots(owner, uid)) labels.push(ROOT_LABEL);
  // As a job of each user is of another shape then, only where it matters.
  if (state.ofSome.size > 0) labels.push(userLabel(owner));
  return labels.length === 0 ? request : labelled(request, labels);
}

/** By the request without them: jobs of one user that share it share also the one with them. */
const LABELLED = new WeakMap<ResourceRequest, { key: string; request: ResourceRequest }>();

function labelled(bare: ResourceRequest, labels: readonly string[]): ResourceRequest {
  const key = labels.join(' ');
  const known = LABELLED.get(bare);
  if (known?.key === key) return known.request;
  const request = { ...bare, labels: [...bare.labels, ...labels] };
  LABELLED.set(bare, { key, request });
  return request;
}

/** The same as if every node ran jobs of root. */
export function withAnyAccount<R extends Pick<ResourceRequest, 'labels'>>(request: R): R {
  return { ...request, labels: request.labels.filter((label) => label !== ROOT_LABEL) };
}
