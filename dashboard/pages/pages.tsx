// All pages, in the order of the menu.

import type { ComponentChildren } from 'preact';
import { Job } from './job/job.tsx';
import { Jobs } from './jobs.tsx';
import { Overview } from './overview.tsx';

export interface Page {
  /** First part of its address. */
  readonly path: string;
  readonly title: string;
  /** `rest`: the other parts of the address. */
  readonly show: (rest: readonly string[]) => ComponentChildren;
}

export const PAGES: readonly Page[] = [
  { path: '', title: 'Overview', show: () => <Overview /> },
  {
    path: 'jobs',
    title: 'Jobs',
    show: ([id]) => (id === undefined ? <Jobs /> : <Job key={id} id={id} />),
  },
];
