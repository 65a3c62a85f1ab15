// Another Weft, by what its own program said.

import { weft } from '../../../../src/wings/sites/adaptors/weft/weft.ts';
import { recorded } from '../../../unit/wings/sites/adaptors/recorded.ts';
import type { AdaptorCase } from '../case.ts';

const output = (name: string) => recorded(`weft/${name}.txt`);
const mixed = output('jobs-mixed');
const ending = (name: string, id: string) => ({
  output: output(name),
  id,
  told: 'record' as const,
});

export const WEFT: AdaptorCase = {
  system: 'weft',
  adaptor: weft(['weft', '--head', 'https://b:5001', '--token-file', '/etc/weft/b.token']),
  empty: output('jobs-empty'),
  listings: [mixed],
  states: {
    running: { output: mixed, id: '11' },
    suspended: { output: mixed, id: '12' },
    waiting: { output: mixed, id: '13' },
    held: { output: mixed, id: '14' },
  },
  oddName: { output: mixed, id: '11', name: 'a name|with "odd" = signs, ü' },
  spread: { output: mixed, id: '11', nodes: ['n1', 'n2'] },
  times: {
    output: mixed,
    id: '11',
    submittedAt: 1_795_381_186_008,
    startedAt: 1_795_381_186_046,
  },
  array: { missing: 'an array is listed as one job, also while its elements run' },
  ends: {
    success: ending('end-success', '6'),
    'code 3': ending('end-code3', '7'),
    'signal 9': ending('end-signal9', '8'),
    'time limit': ending('end-timeout', '9'),
    cancelled: ending('end-cancelled', '10'),
  },
  noRecord: output('job-unknown'),
  unknownJob: { cancel: output('kill-unknown'), known: output('job-unknown') },
  cancelRefused: { stdout: '', stderr: 'weft: Job 7 belongs to ann.\n', code: 4 },
  away: [
    output('away'),
    { stdout: '', stderr: 'weft: This token is unknown, revoked or expired.\n', code: 4 },
    { stdout: '', stderr: 'env: ‘weft’: No such file or directory\n', code: 127 },
  ],
  submitted: { output: output('submitted'), id: '16' },
  accounts: false,
  refused: [
    { output: output('refused-partition'), words: /No partition nosuch/ },
    { output: output('refused-size'), words: /can never hold 1 node with 64 cpus/ },
  ],
  nodes: [
    { output: output('nodes'), told: ['n1 busy 2/2', 'n2 running 1/2'] },
    { output: output('nodes-drained'), told: ['n1 busy 2/2', 'n2 stopped 1/2'] },
  ],
  queues: { output: output('partitions'), told: ['default open started'] },
};
