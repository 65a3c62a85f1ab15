// OAR 2.5.9, by what a real one said.

import { oar } from '../../../../src/wings/sites/adaptors/oar/oar.ts';
import { recorded } from '../../../unit/wings/sites/adaptors/recorded.ts';
import type { AdaptorCase } from '../case.ts';

const output = (name: string) => recorded(`oar/${name}.txt`);
const listed = output('11-oarstat-fJ');
const ending = (name: string, id: string) => ({
  output: output(name),
  id,
  told: 'listing' as const,
});

export const OAR: AdaptorCase = {
  system: 'oar',
  adaptor: oar(null),
  empty: output('01-oarstat-empty-J'),
  listings: [
    listed,
    output('21-oarstat-fJ-waiting'),
    output('23-oarstat-fJ-suspended'),
    output('43-oarstat-fJ'),
    output('72-oarstat-fJ-lost'),
  ],
  states: {
    waiting: { output: output('21-oarstat-fJ-waiting'), id: '15' },
    held: { output: listed, id: '8' },
    starting: { output: listed, id: '7' },
    running: { output: listed, id: '6' },
    suspended: { output: output('23-oarstat-fJ-suspended'), id: '14' },
    ended: { output: output('26-oarstat-fJ-nodir'), id: '19' },
  },
  oddName: { missing: 'no job of such a name was recorded' },
  spread: { output: listed, id: '6', nodes: ['n2', 'n3'] },
  times: {
    output: listed,
    id: '6',
    submittedAt: 1_795_313_362_000,
    startedAt: 1_795_313_363_000,
  },
  array: { missing: 'each element of an array is a job of its own there' },
  ends: {
    success: ending('12-oarstat-fJ-terminated', '5'),
    'code 3': ending('12-oarstat-fJ-exit3', '6'),
    'signal 9': ending('12-oarstat-fJ-signal9', '7'),
    'time limit': ending('25-oarstat-fJ-walltime', '17'),
    cancelled: ending('24-oarstat-fJ-deleted-running', '27'),
  },
  noRecord: output('12-oarstat-sql-none'),
  unknownJob: { cancel: output('24-oardel-again'), known: output('12-oarstat-sql-none') },
  cancelRefused: output('24-oardel-other'),
  away: [output('71-oarstat-db-down'), output('70-oarsub-almighty-down')],
  submitted: { output: output('10-oarsub-ok'), id: '5' },
  refused: [
    { output: output('20-oarsub-bad-queue'), words: /queue nosuch does not exist/ },
    { output: output('20-oarsub-no-resources'), words: /resources/ },
  ],
  nodes: [
    {
      output: output('11-oarnodes-busy-J'),
      told: ['n1 running 1/2', 'n2 busy 2/2', 'n3 busy 2/2', 'n4 idle 0/2'],
    },
    { output: output('31-oarnodes-maint'), told: ['n3 stopped 0/2'] },
  ],
  queues: {
    output: output('03-oarnotify-l'),
    told: ['admin open started', 'besteffort open started', 'default open started'],
  },
};
