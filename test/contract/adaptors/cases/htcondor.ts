// HTCondor, by what its manual and its source say that it prints.

import { htcondor } from '../../../../src/wings/sites/adaptors/htcondor/htcondor.ts';
import { documented } from '../../../unit/wings/sites/adaptors/recorded.ts';
import type { AdaptorCase } from '../case.ts';

const output = (name: string) => documented(`htcondor/${name}.txt`);
const jobs = output('jobs');
const record = (name: string) => ({ output: output(name), id: '21.0', told: 'record' as const });

export const HTCONDOR: AdaptorCase = {
  system: 'htcondor',
  adaptor: htcondor(null),
  empty: output('empty'),
  listings: [jobs, output('end.signal')],
  states: {
    waiting: { output: jobs, id: '12.0' },
    held: { output: jobs, id: '14.0' },
    running: { output: jobs, id: '11.0' },
    suspended: { output: jobs, id: '17.0' },
    completing: { output: jobs, id: '18.0' },
    ended: { output: jobs, id: '13.0' },
  },
  oddName: { output: jobs, id: '12.0', name: 'a name|with "odd" = signs,\n\t\\ ü' },
  spread: { output: jobs, id: '16.0', nodes: ['n2', 'n4'] },
  times: {
    output: jobs,
    id: '11.0',
    submittedAt: 1_795_370_400_000,
    startedAt: 1_795_370_709_000,
  },
  array: { missing: 'each process of a cluster is a job of its own there' },
  ends: {
    success: record('end.success'),
    'code 3': record('end.code'),
    'signal 9': record('end.signal'),
    'time limit': record('end.limit'),
    cancelled: record('end.cancelled'),
  },
  noRecord: output('gone.history'),
  unknownJob: { cancel: output('cancel.gone'), known: output('gone.known') },
  cancelRefused: output('cancel.denied'),
  away: [output('away.q'), output('away.status'), output('away.submit'), output('away.rm')],
  submitted: { output: output('submit.ok'), id: '31.0' },
  refused: [
    { output: output('submit.parse'), words: /unknown queue argument/ },
    { output: output('submit.denied'), words: /MAX_JOBS_PER_OWNER/ },
  ],
  nodes: [
    {
      output: output('nodes'),
      told: ['n1 busy 2/2', 'n2 busy 2/2', 'n3 running 1/2', 'n4 idle 0/2'],
    },
    {
      output: output('nodes.off'),
      told: ['n1 stopped 0/2', 'n2 stopped 0/2', 'n3 stopped 1/2', 'n4 unknown 0/2'],
    },
  ],
  queues: { output: output('queues'), told: ['head open started', 'second@head open started'] },
};
