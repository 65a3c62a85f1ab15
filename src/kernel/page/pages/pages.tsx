// All pages, in the order of the menu.

import type { ComponentChildren } from 'preact';
import { Batch } from '../../../wings/batches/page/batch.tsx';
import { Batches } from '../../../wings/batches/page/batches.tsx';
import { Pools } from '../../../wings/calls/page/pools.tsx';
import { Site } from '../../../wings/sites/page/site.tsx';
import { Sites } from '../../../wings/sites/page/sites.tsx';
import { Accounting } from './accounting.tsx';
import { Job } from './job/job.tsx';
import { Jobs } from './jobs.tsx';
import { Node } from './node/node.tsx';
import { Nodes } from './nodes.tsx';
import { Overview } from './overview.tsx';
import { Schedule } from './schedule/schedule.tsx';
import { Submit } from './submit/submit.tsx';
import '../../../wings/notices/api/paths.ts';
import '../../../wings/owner/api/paths.ts';

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
  {
    path: 'nodes',
    title: 'Nodes',
    show: ([name]) => (name === undefined ? <Nodes /> : <Node key={name} name={name} />),
  },
  { path: 'schedule', title: 'Schedule', show: () => <Schedule /> },
  {
    path: 'batches',
    title: 'Batches',
    show: ([namespace, name]) =>
      namespace === undefined || name === undefined ? (
        <Batches />
      ) : (
        <Batch key={`${namespace}/${name}`} namespace={namespace} name={name} />
      ),
  },
  { path: 'pools', title: 'Pools', show: () => <Pools /> },
  {
    path: 'sites',
    title: 'Sites',
    show: ([name]) => (name === undefined ? <Sites /> : <Site key={name} name={name} />),
  },
  { path: 'accounting', title: 'Accounting', show: () => <Accounting /> },
  { path: 'submit', title: 'Submit', show: () => <Submit /> },
];
