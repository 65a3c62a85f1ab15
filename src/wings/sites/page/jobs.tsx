// Jobs of another cluster as columns, in both views: its own words, and what its filters make of them.

import { Span, Time } from '../../../kernel/page/parts/basic.tsx';
import type { Column } from '../../../kernel/page/parts/long-table.tsx';
import type { SiteView } from '../api/sites.ts';

type Seen = Pick<SiteView['nodes'][number], 'seen'>;

/** Whether the site's filters let it be seen. */
export function isShown({ seen }: Seen): boolean {
  return seen?.hiddenBy == null;
}

/** Which rule hides it; empty: none does. */
export function hiddenWords({ seen }: Seen): string {
  return seen?.hiddenBy == null ? '' : `hidden by ${seen.hiddenBy}`;
}

type SiteJob = SiteView['jobs'][number];

export const JOBS: readonly Column<SiteJob, 'id'>[] = [
  { title: 'Job', width: '84px', cell: ({ id }) => id },
  { title: 'Name', width: '20%', cell: ({ name }) => <span title={name}>{name}</span> },
  { title: 'User', width: '90px', spare: true, cell: ({ owner }) => owner },
  { title: 'State', width: '16%', cell: ({ state, word }) => `${state} (${word})` },
  { title: 'Ours', width: '62px', spare: true, cell: ({ isOurs }) => (isOurs ? 'yes' : '') },
  { title: 'Queue', width: '90px', spare: true, cell: ({ queue }) => queue },
  {
    title: 'Started',
    width: '100px',
    spare: true,
    cell: ({ startedAt }) => <Time at={startedAt} />,
  },
  {
    title: 'Time',
    width: '80px',
    number: true,
    cell: ({ startedAt, endedAt }) => <Span from={startedAt} until={endedAt} />,
  },
  {
    title: 'Nodes',
    spare: true,
    cell: (job) => hiddenWords(job) || job.nodes.join(', ') || job.reason,
  },
];

export const FILTERED_JOBS: readonly Column<SiteJob, 'id'>[] = [
  ...JOBS.slice(0, 4),
  { title: 'Queue', width: '110px', cell: ({ queue, seen }) => seen?.queue ?? queue },
  { title: 'Partition', width: '110px', spare: true, cell: ({ seen }) => seen?.partition },
  { title: 'Labels', width: '20%', spare: true, cell: ({ seen }) => seen?.labels.join(', ') },
  { title: 'Rules', spare: true, cell: ({ seen }) => seen?.rules.join(', ') },
];
