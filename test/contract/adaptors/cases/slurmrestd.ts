// Slurm 22.05.8 over HTTP, by what a real slurmrestd said.

import { slurmrestd } from '../../../../src/wings/sites/adaptors/slurmrestd/slurmrestd.ts';
import { recorded } from '../../../unit/wings/sites/adaptors/recorded.ts';
import type { AdaptorCase } from '../case.ts';

const output = (name: string) => recorded(`slurmrestd/${name}.txt`);
const mixed = output('jobs-mixed');
const ending = (id: string) => ({ output: mixed, id, told: 'listing' as const });

export const SLURMRESTD: AdaptorCase = {
  system: 'slurmrestd',
  adaptor: slurmrestd(['curl', '--config', '/etc/weft/slurm.curl'], 'http://h:6820/slurm/v0.0.38'),
  empty: output('jobs-empty'),
  listings: [mixed],
  states: {
    running: { output: mixed, id: '17' },
    waiting: { output: mixed, id: '23' },
    held: { output: mixed, id: '20' },
    ended: { output: mixed, id: '4' },
  },
  oddName: { output: mixed, id: '19', name: 'a name|with "odd" = signs, ü' },
  spread: { output: mixed, id: '17', nodes: ['n1', 'n2'] },
  times: {
    output: mixed,
    id: '19',
    submittedAt: 1_795_382_792_000,
    startedAt: 1_795_382_792_000,
  },
  array: {
    output: mixed,
    waiting: { id: '21', elements: '2-4' },
    running: { array: '21', index: 1 },
  },
  ends: {
    success: ending('1'),
    'code 3': ending('2'),
    'signal 9': ending('3'),
    'time limit': { missing: 'none was recorded: the shortest limit is a minute' },
    cancelled: ending('10'),
  },
  unknownJob: { cancel: output('cancel-unknown'), known: output('job-unknown') },
  cancelRefused: {
    stdout: '{"errors":[{"error_number":2015,"error":"Access/permission denied"}]}\n500\n',
    stderr: '',
    code: 0,
  },
  away: [output('away'), output('away-submit'), output('away-rest'), output('bad-token')],
  submitted: { output: output('submitted'), id: '1' },
  options: false,
  refused: [
    { output: output('refused-partition'), words: /Invalid partition name/ },
    {
      output: {
        stdout: '{"errors":[{"error_code":9001,"error":"Failure during parsing"}]}\n400\n',
        stderr: '',
        code: 0,
      },
      words: /Failure during parsing/,
    },
  ],
  nodes: [{ output: output('nodes'), told: ['n1 busy 2/2', 'n2 busy 2/2'] }],
  queues: { output: output('partitions'), told: ['main open started'] },
};
