// LoadLeveler, by what its manuals say that it prints: the example of a program for a script site,
// over commands that print it.

import { join } from 'node:path';
import { script } from '../../../../src/wings/sites/adaptors/script/script.ts';
import { answerOf, printing } from '../../../support/site-program.ts';
import { documented } from '../../../unit/wings/sites/adaptors/recorded.ts';
import type { AdaptorCase } from '../case.ts';

const PROGRAM = join(import.meta.dirname, '../../../../examples/adaptor/loadleveler');
const ASKED = {
  SITE_JOB: 'head.9999.0',
  SITE_NAME: 'weft-c1-1',
  SITE_SCRIPT_FILE: '/scratch/script',
  SITE_STDOUT: '/scratch/out',
  SITE_STDERR: '/scratch/err',
};

function answer(operation: string, command: string, name: string) {
  const printed = printing(documented(`loadleveler/${name}.txt`));
  return answerOf([PROGRAM], operation, { [command]: printed }, ASKED);
}

const jobs = answer('jobs', 'llq', 'jobs');
const empty = answer('jobs', 'llq', 'empty');
const nodes = (name: string) => answer('nodes', 'llstatus', name);
const submitted = (name: string) => answer('submit', 'llsubmit', name);
const end = (id: string) => ({ output: jobs, id, told: 'listing' as const });

export const LOADLEVELER: AdaptorCase = {
  system: 'loadleveler',
  adaptor: script([PROGRAM], { steers: false }),
  empty,
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
  unknownJob: {
    cancel: answer('cancel', 'llcancel', 'cancel.any'),
    known: answer('known', 'llq', 'empty'),
  },
  cancelRefused: answer('cancel', 'llcancel', 'cancel.denied'),
  noRecord: answer('end', 'llq', 'jobs'),
  away: [answer('jobs', 'llq', 'away')],
  submitted: { output: submitted('submit.ok'), id: 'head.31.0' },
  refused: [{ output: submitted('submit.class'), words: /not a known class/ }],
  nodes: [
    {
      output: nodes('nodes'),
      told: ['n1 busy 2/2', 'n2 running 1/2', 'n3 idle 0/2', 'n4 idle 0/4'],
    },
    {
      output: nodes('nodes.off'),
      told: ['n1 stopped 0/2', 'n2 down 0/2', 'n3 stopped 1/2', 'n4 down 0/2'],
    },
  ],
  queues: {
    output: answer('queues', 'llclass', 'queues'),
    told: ['No_Class open started', 'closed open stopped', 'long open started'],
  },
};
