// Which job an event is about.

import type { Event } from '../../machine/declared.ts';
import type { JobId } from '../../model/ids.ts';

/** Null when it is about no single job. */
export function jobIdOf(event: Event): JobId | null {
  if ('place' in event) return event.place.jobId;
  if ('jobId' in event) return event.jobId;
  // `42[7]#2` begins with the job's id.
  if ('epochId' in event) return Number.parseInt(event.epochId, 10) as JobId;
  const subject = 'news' in event ? event.news.subject : 'subject' in event ? event.subject : null;
  return subject?.kind === 'job' ? subject.jobId : null;
}
