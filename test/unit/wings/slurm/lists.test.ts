// Lists of users, shares and priorities, before a head that answers as it is told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ABSENT, absent } from '../../../../src/wings/slurm/cli/absent.ts';
import { verb as sacctmgr } from '../../../../src/wings/slurm/cli/sacctmgr.ts';
import { verb as sprio } from '../../../../src/wings/slurm/cli/sprio.ts';
import { verb as sshare } from '../../../../src/wings/slurm/cli/sshare.ts';
import { type Answer, use } from './use-command.ts';

const open = { priority: 0, preempt: 'off', runningCpusPerUser: null, runningTasksPerUser: null };
const qualities = [
  { ...open, name: 'normal', users: null, groups: null },
  { ...open, name: 'urgent', users: ['bob'], groups: ['ops'], runningTasksPerUser: 4 },
  { ...open, name: 'few', users: null, groups: null, runningCpusPerUser: 8 },
];

const headOf =
  (role: string): Answer =>
  (name) => {
    if (name === 'info') return { clusterName: 'lab' };
    if (name === 'whoami') return { name: 'ann', role, groups: ['lab'] };
    if (name === 'listQos') return { qualities };
    assert.equal(name, 'listUsers');
    return { users: [{ name: 'bob', role: 'user', groups: [] }] };
  };

test('[X4] sacctmgr lists users with what they may use, and lines of nothing are none', async () => {
  const said = async (role: string, ...words: string[]) =>
    (await use(sacctmgr, words, headOf(role))).out;
  const words = ['-nP', 'show', 'users', 'withassoc', 'format=user,account,cluster,qos'];
  assert.equal(await said('user', ...words), 'ann||lab|normal,few');
  const all = 'ann||lab|normal,few\nbob||lab|normal,urgent,few';
  assert.equal(await said('admin', ...words), all);
  assert.equal(await said('admin', ...words, 'where', 'user=bob'), all.split('\n')[1]);
  assert.equal(await said('user', '-n', '-s', 'list', 'user', 'ann', 'format=account%256'), '');
  assert.equal(await said('user', '-P', 'list', 'account'), 'Account|Descr|Org');
  const limits = '-nP show qos urgent,few format=name,maxjobspu,maxtrespu';
  assert.equal(await said('user', ...limits.split(' ')), 'urgent|4|\nfew||cpu=8');
  const one = '-nP show qos where qos=few format=name';
  assert.equal(await said('user', ...one.split(' ')), 'few');
});

test('[X4] sacctmgr says no default quality of service where that is not for the user', async () => {
  const [normal, , few] = qualities;
  const own = [{ ...normal, users: ['bob'] }, few];
  const shown = await use(sacctmgr, ['-nP', 'show', 'user', 'format=defqos,qos'], (name, asked) =>
    name === 'listQos' ? { qualities: own } : headOf('user')(name, asked),
  );
  assert.equal(shown.out, '|few');
});

test('[X3] sacctmgr changes nothing, and names what it does not know', async () => {
  const errors = async (...words: string[]) => {
    const got = await use(sacctmgr, words, headOf('admin'));
    assert.equal(got.code, 1);
    return got.errors;
  };
  assert.match(await errors('add', 'user', 'x'), /^sacctmgr: error: add: nothing is changed here/);
  assert.match(await errors('show', 'events'), /Unknown entity: events/);
  assert.match(await errors('show', 'user', 'where', 'wckey=x'), /Unknown condition: wckey/);
  assert.match(await errors('show', 'qos', 'where', 'id=1'), /: id\n.*There are name, qos\./);
  assert.match(await errors('show', 'user', 'format=x'), /Invalid field requested: "x"/);
});

test('[X4] sprio has the points of jobs that wait, and sshare what users have used', async () => {
  const points = { tier: 0, sum: 150, age: 50.4, size: 0, fairShare: 100, partition: 0, qos: 0 };
  const job = { owner: 'ann', partition: 'batch' };
  const jobs = [
    { ...job, id: 8, state: 'pending' },
    { ...job, id: 7, state: 'running' },
  ];
  const got = await use(sprio, ['-h', '-o', '%i|%Y|%A|%F|%N'], (name) =>
    name === 'listJobs' ? { jobs, next: null } : { priority: { ...points, nice: 0 } },
  );
  assert.equal(got.out, '8|150|50|100|0');
  const users = [
    { user: 'ann', usageSeconds: 30, share: 0.5, factor: 0.7 },
    { user: 'bob', usageSeconds: 10, share: 0.5, factor: 0.9 },
  ];
  const head: Answer = (name) => (name === 'whoami' ? { name: 'ann' } : { users });
  const shares = async (...words: string[]) => (await use(sshare, words, head)).out;
  assert.equal(await shares('-nP', '-o', 'user,rawusage,effectvusage'), 'ann|30|0.750000');
  assert.equal((await shares('-anP')).split('\n').length, 2);
  assert.equal(await shares('-U', '--format', 'Account%256', '--noheader'), '');
});

test('[X3] a command of Slurm that is not here says what to type', async () => {
  for (const name of ABSENT) {
    const got = await use(absent(name).verb, ['x'], () => assert.fail('a head is asked'));
    assert.equal(got.code, 1);
    assert.match(
      got.errors,
      new RegExp(`^${name}: error: ${name} is not honoured here\\n${name}: `),
    );
  }
});
