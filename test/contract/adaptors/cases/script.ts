// A program of the operator, by answers of the contract (docs/adaptors.md).

import type { SiteOutput } from '../../../../src/wings/sites/adaptors/adaptor.ts';
import { script } from '../../../../src/wings/sites/adaptors/script/script.ts';
import type { AdaptorCase } from '../case.ts';

const BEGAN = 1_795_313_363_000;

function output(answer: object): SiteOutput {
  return { stdout: `${JSON.stringify({ contract: 1, ...answer })}\n`, stderr: '', code: 0 };
}

function problem(kind: string, text: string): SiteOutput {
  return output({ problem: { kind, text } });
}

const plain = { name: 'a', owner: 'ann', queue: 'all', submittedAt: BEGAN - 1000 };
const begun = { ...plain, startedAt: BEGAN, nodes: ['n1'] };
const over = { ...begun, state: 'ended', endedAt: BEGAN + 5000 };

const listed = output({
  jobs: [
    { ...plain, id: '1', state: 'waiting', elements: '1,3-6' },
    { ...plain, id: '2', state: 'held', name: 'a name|with "odd" = signs, ü' },
    { ...begun, id: '1.2', state: 'running' },
    { ...begun, id: '3', state: 'running', nodes: ['n1', 'n2'], cpuCount: 4 },
    { ...begun, id: '4', state: 'suspended', word: 'S', reason: 'by its owner' },
    { ...begun, id: '5', state: 'completing' },
    { ...plain, id: '6', state: 'starting', walltimeMs: 60_000, memoryBytes: 1e9 },
    { ...over, id: '7', exit: { code: 0 } },
    { ...over, id: '8', exit: { code: 3 } },
    { ...over, id: '9', exit: { signal: 9 } },
    { ...over, id: '10', reason: 'time limit', exit: { signal: 15 } },
    { ...plain, id: '11', state: 'ended', endedAt: BEGAN, reason: 'cancelled' },
  ],
});

const ending = (id: string) => ({ output: listed, id, told: 'listing' as const });

export const SCRIPT: AdaptorCase = {
  system: 'script',
  adaptor: script(['/opt/site', '/var/lib/site'], { steers: true }),
  empty: output({ jobs: [] }),
  listings: [listed],
  states: {
    waiting: { output: listed, id: '1' },
    held: { output: listed, id: '2' },
    starting: { output: listed, id: '6' },
    running: { output: listed, id: '3' },
    suspended: { output: listed, id: '4' },
    completing: { output: listed, id: '5' },
    ended: { output: listed, id: '7' },
  },
  oddName: { output: listed, id: '2', name: 'a name|with "odd" = signs, ü' },
  spread: { output: listed, id: '3', nodes: ['n1', 'n2'] },
  times: { output: listed, id: '3', submittedAt: BEGAN - 1000, startedAt: BEGAN },
  array: {
    output: listed,
    waiting: { id: '1', elements: '1,3-6' },
    running: { array: '1', index: 2 },
  },
  ends: {
    success: ending('7'),
    'code 3': {
      output: output({ end: { endedAt: BEGAN, exit: { code: 3 } } }),
      id: '8',
      told: 'record',
    },
    'signal 9': ending('9'),
    'time limit': ending('10'),
    cancelled: ending('11'),
  },
  noRecord: output({ end: null }),
  unknownJob: { cancel: problem('no_such_job', 'no job 9999'), known: output({ known: false }) },
  cancelRefused: problem('refused', 'it is not yours'),
  away: [
    problem('away', 'the server does not answer'),
    { stdout: '{"contract":1}', stderr: 'site: line 7: disk quota exceeded', code: 1 },
  ],
  submitted: { output: output({ job: '12' }), id: '12' },
  refused: [
    { output: problem('refused', 'queue night is closed'), words: /queue night is closed/ },
  ],
  nodes: [
    {
      output: output({
        nodes: [
          { name: 'n1', state: 'running', cpuCount: 4, cpusUsed: 1, features: ['gpu'] },
          { name: 'n2', state: 'stopped', reason: 'disk', cpuCount: 4, memoryBytes: 1e9 },
        ],
      }),
      told: ['n1 running 1/4', 'n2 stopped 0/4'],
    },
  ],
  keepsReason: true,
  queues: {
    output: output({ queues: [{ name: 'all' }, { name: 'night', isOpen: false }] }),
    told: ['all open started', 'night shut started'],
  },
};
