// Slurm 22.05, by what a real one said.

import { slurm } from '../../../../src/wings/sites/adaptors/slurm/slurm.ts';
import { recorded, recordedNames } from '../../../unit/wings/sites/adaptors/recorded.ts';
import type { AdaptorCase } from '../case.ts';

const output = (name: string) => recorded(`slurm/${name}.txt`);
const running = output('running.squeue-json');
const ended = output('ends-late.squeue-json');
const hung = output('down.squeue_--json');

export const SLURM: AdaptorCase = {
  system: 'slurm',
  adaptor: slurm(null),
  empty: { missing: 'recorded with jobs that had ended' },
  listings: recordedNames('slurm', '.squeue-json.txt').map((name) => recorded(name)),
  states: {
    waiting: { output: running, id: '19' },
    held: { output: running, id: '13' },
    running: { output: running, id: '11' },
    suspended: { output: output('suspended-drained.squeue-json'), id: '18' },
    completing: { output: output('cancelling.squeue-json'), id: '18' },
    ended: { output: running, id: '17' },
  },
  oddName: { output: running, id: '12', name: 'a name|with "odd" = signs, ü' },
  spread: { output: running, id: '18', nodes: ['n1', 'n2'] },
  times: {
    output: running,
    id: '11',
    submittedAt: 1_795_313_798_000,
    startedAt: 1_795_313_828_000,
  },
  array: {
    output: running,
    waiting: { id: '16', elements: '1,3-6' },
    running: { array: '16', index: 2 },
  },
  ends: {
    success: { output: ended, id: '2', told: 'listing' },
    'code 3': { output: ended, id: '3', told: 'listing' },
    'signal 9': { output: ended, id: '4', told: 'listing' },
    'time limit': { output: ended, id: '7', told: 'listing' },
    cancelled: { output: ended, id: '5', told: 'listing' },
  },
  unknownJob: { cancel: output('cancel.gone'), known: output('forgotten.squeue') },
  cancelRefused: output('cancel.user-denied'),
  away: [hung],
  submitted: { output: output('submit.ok'), id: '11' },
  refused: [
    { output: output('submit.badpart'), words: /Invalid partition name/ },
    { output: output('submit.big'), words: /error/ },
  ],
  nodes: [
    {
      output: output('waiting.sinfo-json'),
      told: ['n1 idle 0/2', 'n2 idle 0/2', 'n3 idle 0/2', 'n4 idle 0/2'],
    },
  ],
  keepsReason: true,
  queues: {
    output: output('running.scontrol-partition'),
    told: ['main open stopped', 'steer open started'],
  },
};
