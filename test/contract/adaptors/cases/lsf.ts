// LSF, by what its manual says that it prints.

import { lsf } from '../../../../src/wings/sites/adaptors/lsf/lsf.ts';
import { documented } from '../../../unit/wings/sites/adaptors/recorded.ts';
import type { AdaptorCase } from '../case.ts';

const output = (name: string) => documented(`lsf/${name}.txt`);
const jobs = output('jobs');
const end = (id: string) => ({ output: jobs, id, told: 'listing' as const });

export const LSF: AdaptorCase = {
  system: 'lsf',
  adaptor: lsf(),
  empty: output('empty'),
  listings: [jobs],
  states: {
    waiting: { output: jobs, id: '12' },
    held: { output: jobs, id: '14' },
    running: { output: jobs, id: '11' },
    suspended: { output: jobs, id: '17' },
    ended: { output: jobs, id: '26' },
  },
  oddName: { output: jobs, id: '12', name: 'a name|with "odd" = signs, <b> \\ ü' },
  spread: { output: jobs, id: '16', nodes: ['n2', 'n4'] },
  times: {
    output: jobs,
    id: '11',
    submittedAt: Date.UTC(2026, 10, 2, 18),
    startedAt: Date.UTC(2026, 10, 2, 18, 5, 9),
  },
  array: {
    output: jobs,
    waiting: { id: '13', elements: '4-6' },
    running: { array: '13', index: 2 },
  },
  ends: {
    success: end('21'),
    'code 3': end('22'),
    'signal 9': end('23'),
    'time limit': end('24'),
    cancelled: end('25'),
  },
  unknownJob: { cancel: output('cancel.gone'), known: output('gone.known') },
  cancelRefused: output('cancel.denied'),
  away: [output('away'), output('away.mbatchd'), output('away.lim')],
  submitted: { output: output('submit.ok'), id: '31' },
  refused: [
    { output: output('submit.queue'), words: /No such queue/ },
    { output: output('submit.limit'), words: /RUNLIMIT/ },
  ],
  nodes: [
    {
      output: output('nodes'),
      told: ['n1 busy 2/2', 'n2 busy 2/2', 'n3 running 1/2', 'n4 idle 0/2'],
    },
    {
      output: output('nodes.off'),
      told: ['n1 stopped 0/2', 'n2 down 0/2', 'n3 stopped 2/2', 'n4 idle 0/0'],
    },
  ],
  queues: {
    output: output('queues'),
    told: ['night open stopped', 'normal open started', 'old shut started'],
  },
};
