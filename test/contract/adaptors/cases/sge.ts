// Grid Engine 8.1.9, by what a real one said.

import { sge } from '../../../../src/wings/sites/adaptors/sge/sge.ts';
import { recorded, recordedNames } from '../../../unit/wings/sites/adaptors/recorded.ts';
import type { AdaptorCase } from '../case.ts';

const output = (name: string) => recorded(`sge/${name}.txt`);
const listed = output('mixed.qstat-xml-ext');
const record = (name: string) => ({ output: output(name), id: '53', told: 'record' as const });

export const SGE: AdaptorCase = {
  system: 'sge',
  adaptor: sge(
    { queue: 'main.q', environment: 'one', oneSlotPerHost: ['one', 'spread'], ticket: 'ticket' },
    null,
  ),
  empty: output('empty.qstat-xml'),
  listings: recordedNames('sge', 'qstat-xml.txt')
    .filter((name) => !name.includes('down'))
    .map((name) => recorded(name)),
  states: {
    waiting: { output: output('ticket.qstat-xml-r'), id: '1' },
    held: { output: listed, id: '45' },
    running: { output: listed, id: '56' },
    suspended: { output: output('suspended-disabled.qstat-xml'), id: '46' },
  },
  oddName: { output: listed, id: '42', name: 'a<b>&c' },
  spread: { output: listed, id: '47', nodes: ['n2', 'n3'] },
  times: { output: listed, id: '56', submittedAt: null, startedAt: 1_795_313_948_000 },
  array: {
    output: output('arraytask.qstat-xml'),
    waiting: { id: '48', elements: '1' },
    running: { array: '48', index: 2 },
  },
  ends: {
    success: record('end.plain'),
    'code 3': record('end.exit3'),
    'signal 9': record('end.kill9'),
    'time limit': record('end.limit'),
    cancelled: record('end.cancel'),
  },
  noRecord: output('gone.qacct'),
  unknownJob: {
    cancel: output('cancel.gone'),
    known: {
      stdout: '',
      stderr: 'Following jobs do not exist: \n9999\n',
      code: 1,
    },
  },
  cancelRefused: output('cancel.user-denied'),
  away: [output('down.qstat-xml'), { ...output('down.qsub'), code: 1 }],
  submitted: { output: { stdout: '45\n', stderr: '', code: 0 }, id: '45' },
  refused: [
    { output: output('submit.badq'), words: /queue/ },
    { output: output('submit.badpe'), words: /parallel environment/ },
  ],
  nodes: [
    {
      output: output('suspended-disabled.qhost-q-j-xml'),
      told: ['n1 idle 0/2', 'n2 stopped 1/2', 'n3 stopped 1/2', 'n4 running 1/2'],
    },
  ],
  queues: { output: output('running.qstat-g-c'), told: ['main.q open started'] },
};
