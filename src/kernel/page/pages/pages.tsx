// The pages that every cluster has, in the order of the menu.

import type { Page } from '../part.ts';
import { Accounting } from './accounting.tsx';
import { Job } from './job/job.tsx';
import { Jobs } from './jobs.tsx';
import { Node } from './node/node.tsx';
import { Nodes } from './nodes.tsx';
import { Overview } from './overview.tsx';
import { Schedule } from './schedule/schedule.tsx';
import { Submit } from './submit/submit.tsx';

/** The cluster at work. */
const AT_WORK: readonly Page[] = [
  { path: '', title: 'Overview', show: () => <Overview /> },
  {
    path: 'jobs',
    title: 'Jobs',
    show: ([id]) => (id === undefined ? <Jobs /> : <Job key={id} id={id} />),
  },
  {
    path: 'nodes',
    title: 'Nodes',
    show: ([name]) => (name === undefined ? <Nodes /> : <Node key={name} name={name} />),
  },
  { path: 'schedule', title: 'Schedule', show: () => <Schedule /> },
];

/** What one comes for less often. */
const BESIDES: readonly Page[] = [
  { path: 'accounting', title: 'Accounting', show: () => <Accounting /> },
  { path: 'submit', title: 'Submit', show: () => <Submit /> },
];

/** All pages: those of wings between the two. */
export function pagesWith(wings: readonly Page[]): readonly Page[] {
  return [...AT_WORK, ...wings, ...BESIDES];
}
