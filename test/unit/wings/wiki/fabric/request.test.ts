// Commands of the wiki protocol, as Maui and Slurm write them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseWikiRequest } from '../../../../../src/wings/wiki/fabric/request.ts';

const CASES: readonly (readonly [string, object])[] = [
  ['CMD=GETNODES ARG=0:ALL', { kind: 'get_nodes', select: { sinceS: 0, ids: null } }],
  ['CMD=GETJOBS ARG=17:4:s\\:1', { kind: 'get_jobs', select: { sinceS: 17, ids: ['4', 's:1'] } }],
  ['CMD=STARTJOB ARG=7 TASKLIST=n1:n1', { kind: 'start_job', job: '7', tasks: ['n1', 'n1'] }],
  [
    'CMD=STARTJOB ARG=7 COMMENT=by hand TASKLIST=n[1-2]*2,n3',
    { kind: 'start_job', job: '7', tasks: ['n1', 'n2', 'n1', 'n2', 'n3'] },
  ],
  ['CMD=CANCELJOB ARG=7 TYPE=ADMIN', { kind: 'cancel_job', job: '7', because: 'admin' }],
  ['CMD=CANCELJOB ARG=7', { kind: 'cancel_job', job: '7', because: 'admin' }],
  ['CMD=CANCELJOB ARG=7 TYPE=WALLCLOCK', { kind: 'cancel_job', job: '7', because: 'walltime' }],
  ['CMD=SUSPENDJOB ARG=7', { kind: 'suspend_job', job: '7' }],
  ['CMD=RESUMEJOB ARG=7', { kind: 'resume_job', job: '7' }],
  ['CMD=REQUEUEJOB ARG=7', { kind: 'requeue_job', job: '7' }],
  [
    'CMD=MODIFYJOB ARG=7 TIMELIMIT=30 PARTITION=long',
    { kind: 'modify_job', job: '7', changes: { TIMELIMIT: '30', PARTITION: 'long' } },
  ],
  [
    'CMD=SIGNALJOB ARG=7 ACTION=signal VALUE=SIGUSR1',
    { kind: 'signal_job', job: '7', signal: 'USR1' },
  ],
  ['CMD=SIGNALJOB ARG=7 ACTION=signal VALUE=10', { kind: 'signal_job', job: '7', signal: '10' }],
  [
    'CMD=NOTIFYJOB ARG=7 MSG=save now: TIME=soon',
    { kind: 'notify_job', job: '7', message: 'save now: TIME=soon' },
  ],
];

for (const [data, value] of CASES) {
  test(`${data} is read`, () => assert.deepEqual(parseWikiRequest(data), { ok: true, value }));
}

test('commands of others, and dynamic tasks, are not supported', () => {
  for (const command of ['JOBADDTASK', 'JOBRELEASETASK', 'JOBWILLRUN', 'INITIALIZE', 'FOO', '']) {
    const read = parseWikiRequest(`CMD=${command} ARG=7`);
    assert.ok(!read.ok);
    assert.equal(read.error.code, -810, command);
  }
});

test('a command without what it needs is malformed, and says what that is', () => {
  for (const [data, words] of [
    ['CMD=GETNODES', /ARG=<time>:ALL/],
    ['CMD=GETJOBS ARG=soon:ALL', /ARG=<time>:ALL/],
    ['CMD=GETJOBS ARG=0', /ARG=<time>:ALL/],
    ['CMD=STARTJOB ARG=7', /TASKLIST/],
    ['CMD=STARTJOB TASKLIST=n1', /ARG=<job>/],
    ['CMD=STARTJOB ARG=7 TASKLIST=n[3-1]', /list of nodes/],
    ['CMD=STARTJOB ARG=7 TASKLIST=n1*999999', /more than 100000 tasks/],
    ['CMD=STARTJOB ARG=7 TASKLIST=../n1', /TASKLIST/],
    ['CMD=CANCELJOB ARG=7 TYPE=FUN', /ADMIN or WALLCLOCK/],
    ['CMD=MODIFYJOB ARG=7', /nothing to change/],
    ['CMD=SIGNALJOB ARG=7 ACTION=signal', /VALUE/],
    ['CMD=SUSPENDJOB ARG=7:8', /ARG=<job>/],
  ] as const) {
    const read = parseWikiRequest(data);
    assert.ok(!read.ok, data);
    assert.equal(read.error.code, -300, data);
    assert.match(read.error.text, words, data);
  }
});
