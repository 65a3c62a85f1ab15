// LoadLeveler, by what its manuals say that it prints.

import { loadleveler } from '../../../../src/wings/sites/adaptors/loadleveler/loadleveler.ts';
import { documented } from '../../../unit/wings/sites/adaptors/recorded.ts';
import type { AdaptorCase } from '../case.ts';

const output = (name: string) => documented(`loadleveler/${name}.txt`);
const jobs = output('jobs');
const end = (id: string) => ({ output: jobs, id, told: 'listing' as const });

export const LOADLEVELER: AdaptorCase = {
  system: 'loadleveler',
  adaptor: loadleveler(),
  empty: output('empty'),
  listings: [jobs],
  states: {
    waiting: { output: jobs, id: 'head.12.0' },
    held: { output: jobs, id: 'head.14.0' },
    starting: { output: jobs, id: 'head.19.0' },
    running: { output: jobs, id: 'head.11.0' },
    suspended: { output: jobs, id: 'head.17.0' },
    completing: { output: jobs, id: 'head.18.0' },
    ended: { output: jobs, id: 'head.26.0' },
  },
  oddName: { output: jobs, id: 'head.12.0', name: 'a name|with "odd" = signs: <b> \\ ü' },
  spread: { output: jobs, id: 'head.16.0', nodes: ['n2', 'n4'] },
  times: {
    output: jobs,
    id: 'head.11.0',
    submittedAt: Date.UTC(2026, 10, 2, 18),
    startedAt: Date.UTC(2026, 10, 2, 18, 5, 9),
  },
  array: { missing: 'it has none; each step of a job is a job of its own' },
  ends: {
    success: end('head.21.0'),
    'code 3': end('head.22.0'),
    'signal 9': end('head.23.0'),
    'time limit': end('head.24.0'),
    cancelled: end('head.25.0'),
  },
  unknownJob: { cancel: output('cancel.any'), known: output('empty') },
  cancelRefused: output('cancel.denied'),
  away: [output('away')],
  submitted: { output: output('submit.ok'), id: 'head.31.0' },
  refused: [{ output: output('submit.class'), words: /not a known class/ }],
  nodes: [
    {
      output: output('nodes'),
      told: ['n1 busy 2/2', 'n2 running 1/2', 'n3 idle 0/2', 'n4 idle 0/4'],
    },
    {
      output: output('nodes.off'),
      told: ['n1 stopped 0/2', 'n2 down 0/2', 'n3 stopped 1/2', 'n4 down 0/2'],
    },
  ],
  cutNodes: 'raw listings have neither a total nor an end',
  queues: {
    output: output('queues'),
    told: ['No_Class open started', 'closed open stopped', 'long open started'],
  },
};
