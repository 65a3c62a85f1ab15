// Refusals about pools; `errors.ts` has all others.

export const POOL_CODES = {
  'pool.not_found': { kind: 'not_found', text: 'There is no pool {pool}.' },
  'pool.name_taken': {
    kind: 'already_exists',
    text: 'You have a pool {pool} already: job {job}.',
  },
  'pool.too_many': {
    kind: 'resource_exhausted',
    text: 'You have {count} pools, which is as many as one user may have at once.',
  },
  'pool.too_many_clients': {
    kind: 'resource_exhausted',
    text: 'Pool {pool} has {count} programs connected, which is as many as it takes at once.',
  },
  'job.is_pool': { kind: 'failed_precondition', text: 'Job {job} is a pool; {what}.' },
} as const;
