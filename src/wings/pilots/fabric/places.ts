// Where the elements of an array job are, by one listing of its batch system. What is not listed is
// gone: the listing was whole, and asked for after the job was known to be there.

import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import type { SiteJob } from '../../../kernel/model/site.ts';

export type Seen =
  | { readonly state: 'waiting' }
  | { readonly state: 'running'; readonly endsAt: number | null }
  /** `why` null: the listing does not say. */
  | { readonly state: 'gone'; readonly why: string | null };

/** Slurm lists a job without a limit as one of 365 days. */
const NO_LIMIT_MS = 365 * 86_400_000;

export function placesOf(
  jobs: readonly SiteJob[],
  site: string,
  elementOf: (index: number) => string,
): (index: number) => Seen {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const rest = byId.get(site);
  const waiting = rest === undefined ? null : waitingOf(rest);
  return (index) => {
    const own = byId.get(elementOf(index));
    if (own !== undefined) return seenAs(own);
    if (rest !== undefined && waiting?.(index) === true) return seenAs(rest);
    return { state: 'gone', why: null };
  };
}

/** Elements that wait are often listed together, under the id of the array. */
function waitingOf({ elements }: SiteJob): (index: number) => boolean {
  if (elements === null) return () => true;
  const set = new IntervalSet();
  for (const part of elements.split(',')) {
    const [, from, to = from] = /^(\d+)(?:-(\d+))?/.exec(part) ?? [];
    // A form that is not known keeps all: nothing is taken for gone because it cannot be read.
    if (from === undefined) return () => true;
    set.addRange(Number(from), Number(to));
  }
  return (index) => set.has(index);
}

function seenAs({ state, startedAt, walltimeMs, word, reason }: SiteJob): Seen {
  switch (state) {
    case 'ended':
      return { state: 'gone', why: reason === null ? word : `${word}, ${reason}` };
    case 'running':
    case 'suspended':
    case 'completing': {
      const isKnown = startedAt !== null && walltimeMs !== null && walltimeMs < NO_LIMIT_MS;
      return { state: 'running', endsAt: isKnown ? startedAt + walltimeMs : null };
    }
    default:
      return { state: 'waiting' };
  }
}
