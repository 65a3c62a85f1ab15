// What is asked before something is done: about which thing, and with answers that cannot be
// mistaken.

import type { JobView } from '../../api/jobs.ts';
import { some } from './words.ts';

/** What these are done to is there no more. */
const ENDS: ReadonlySet<string> = new Set(['Cancel', 'Stop']);
/** Named one by one at most. */
const NAMED_MAX = 8;

export interface Question {
  readonly question: string;
  readonly about: readonly string[];
  readonly leave: string;
  readonly agree: string;
}

type Named = Pick<JobView, 'id' | 'name' | 'owner'>;

/** `Cancel job 204 solver of anna?`, with the answers `Keep it` and `Cancel the job`. */
export function askAboutJobs(label: string, jobs: readonly Named[]): Question {
  const [first] = jobs;
  if (jobs.length === 1 && first !== undefined) {
    return { question: `${label} job ${nameOf(first)}?`, about: [], ...answers(label, 'job') };
  }
  const about = jobs.slice(0, NAMED_MAX).map(nameOf);
  const more = jobs.length - about.length;
  return {
    question: `${label} ${some(jobs.length, 'job')}?`,
    about: more > 0 ? [...about, `and ${some(more, 'more', 'more')}`] : about,
    ...answers(label, 'jobs'),
  };
}

/** The same of something else that has an owner: `Stop pool 9 fits of anna?` */
export function askAbout(label: string, kind: string, name: string, owner: string): Question {
  const of = owner === '' ? '' : ` of ${owner}`;
  return { question: `${label} ${kind} ${name}${of}?`, about: [], ...answers(label, kind) };
}

function answers(label: string, kind: string): Pick<Question, 'leave' | 'agree'> {
  const verb = ENDS.has(label) ? 'Keep' : 'Leave';
  return { leave: `${verb} ${kind === 'jobs' ? 'them' : 'it'}`, agree: `${label} the ${kind}` };
}

function nameOf({ id, name, owner }: Named): string {
  return `${id} ${name} of ${owner}`;
}
