// Jobs and elements of arrays, as sites name them.

import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { elementOf } from '../model/site-elements.ts';

/** A job called `ID.2` need not be one of `ID`. */
export function isArray(job: Job | undefined): job is Job {
  return job !== undefined && job.spec.array !== null;
}

/**
 * Id of ours of a job or an element that a site calls so: `hpc/4711`, `hpc/16_2`. Null: no job of
 * ours that is in memory stands for it.
 */
export function ownIdOf(
  { indexes, jobs }: Pick<State, 'indexes' | 'jobs'>,
  name: string,
): string | null {
  const whole = indexes.foreign.get(name);
  if (whole !== undefined) return String(whole);
  const slash = name.indexOf('/');
  const element = elementOf(name.slice(slash + 1));
  if (element === null) return null;
  const array = indexes.foreign.get(`${name.slice(0, slash)}/${element.array}`);
  if (array === undefined || !isArray(jobs.get(array))) return null;
  return `${array}[${element.index}]`;
}
