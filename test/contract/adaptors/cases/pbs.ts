// PBS, by what its manuals and its source say that it prints.

import { pbs } from '../../../../src/wings/sites/adaptors/pbs/pbs.ts';
import { documented } from '../../../unit/wings/sites/adaptors/recorded.ts';
import type { AdaptorCase } from '../case.ts';

const output = (name: string) => documented(`pbs/${name}.txt`);
const jobs = output('jobs');
const record = (name: string) => ({ output: output(name), id: '21.head', told: 'record' as const });

export const PBS: AdaptorCase = {
  system: 'pbs',
  adaptor: pbs(null),
  empty: output('empty'),
  listings: [jobs, output('end.signal')],
  states: {
    waiting: { output: jobs, id: '12.head' },
    held: { output: jobs, id: '14.head' },
    running: { output: jobs, id: '11.head' },
    suspended: { output: jobs, id: '17.head' },
    completing: { output: jobs, id: '18.head' },
    ended: { output: jobs, id: '13[0].head' },
  },
  oddName: { output: jobs, id: '12.head', name: 'a name|with "odd" = signs, (x):\\ ü' },
  spread: { output: jobs, id: '16.head', nodes: ['n2', 'n4'] },
  times: {
    output: jobs,
    id: '11.head',
    submittedAt: Date.UTC(2026, 10, 22, 18),
    startedAt: Date.UTC(2026, 10, 22, 18, 5, 9),
  },
  array: {
    output: jobs,
    waiting: { id: '13[].head', elements: '4,6,8' },
    running: { array: '13[].head', index: 2 },
  },
  ends: {
    success: record('end.success'),
    'code 3': record('end.code'),
    'signal 9': record('end.signal'),
    'time limit': record('end.walltime'),
    cancelled: record('end.cancelled'),
  },
  noRecord: output('gone.history'),
  unknownJob: { cancel: output('cancel.gone'), known: output('gone.known') },
  cancelRefused: output('cancel.denied'),
  away: [output('away.qstat'), output('away.pbsnodes'), output('away.qsub')],
  submitted: { output: output('submit.ok'), id: '31.head' },
  refused: [
    { output: output('submit.queue'), words: /Unknown queue/ },
    { output: output('submit.limit'), words: /resource limits/ },
    { output: output('submit.name'), words: /illegal -N value/ },
  ],
  nodes: [
    {
      output: output('nodes'),
      told: ['n1 busy 2/2', 'n2 busy 2/2', 'n3 running 1/2', 'n4 idle 0/2'],
    },
    {
      output: output('nodes.off'),
      told: ['n1 stopped 0/2', 'n2 down 0/2', 'n3 stopped 2/2', 'n4 busy 0/2'],
    },
  ],
  keepsReason: true,
  queues: {
    output: output('queues'),
    told: ['entry open started', 'late shut stopped', 'workq open started'],
  },
};
