// What is LoadLeveler's own: its command file, its totals, its zone. What it has in common with all is
// in test/contract/adaptors.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadleveler } from '../../../../../src/wings/sites/adaptors/loadleveler/loadleveler.ts';
import { documented } from './recorded.ts';

const adaptor = loadleveler();
const output = (name: string) => documented(`loadleveler/${name}.txt`);

function jobsOf(name: string) {
  const read = adaptor.jobs.read(output(name));
  assert.ok(read.ok, name);
  return new Map(read.value.map((job) => [job.id, job]));
}

const SUBMISSION = {
  name: 'weft-c1-1',
  script: '# @ class = evil\n',
  scriptFile: '/scratch/script',
  queue: 'long',
  account: 'wing',
  walltimeMs: 61_000,
  nodeCount: 1,
  cpuCount: 2,
  memoryBytes: 1_048_577,
  directory: '/d',
  stdout: '/d/out',
  stderr: '/d/err',
  options: [],
};

test('a job command file has its values, each on a line of its own, and no word of the script', () => {
  const { argv, input = '' } = adaptor.submit(SUBMISSION).command;
  assert.deepEqual(argv, ['llsubmit', '-']);
  assert.deepEqual(input.split('\n'), [
    ...['# @ job_name = weft-c1-1', '# @ executable = /bin/sh', '# @ arguments = /scratch/script'],
    ...['# @ initialdir = /d', '# @ output = /d/out', '# @ error = /d/err', '# @ restart = no'],
    ...['# @ notification = never', '# @ resources = ConsumableCpus(2) ConsumableMemory(2 mb)'],
    ...['# @ wall_clock_limit = 61', '# @ class = long', '# @ account_no = wing', '# @ queue', ''],
  ]);
  const evil = adaptor.submit({ ...SUBMISSION, account: 'wing\n# @ queue' }).command.input ?? '';
  assert.equal(evil.split('\n').filter((line) => line === '# @ queue').length, 1);
});

test('a job of several steps is known by its name without a step', () => {
  const { read } = adaptor.submit(SUBMISSION);
  assert.deepEqual(read(output('submit.steps')), { ok: true, value: 'head.32' });
  assert.equal(adaptor.element('head.32', 1), 'head.32.1');
});

test('a listing that has not as many steps as it says is not believed', () => {
  const whole = output('jobs');
  const stdout = whole.stdout.replace('16 job step(s)', '17 job step(s)');
  const read = adaptor.jobs.read({ ...whole, stdout });
  assert.ok(!read.ok && read.error.kind === 'unreadable');
});

test('a time of another zone is none', () => {
  const job = jobsOf('zone').get('head.31.0');
  assert.deepEqual([job?.state, job?.submittedAt, job?.startedAt], ['running', null, null]);
});

test('limits, usage and classes are read', () => {
  const job = jobsOf('jobs').get('head.16.0');
  assert.deepEqual(
    [job?.walltimeMs, job?.cpuCount, job?.isExclusive, job?.queue],
    [36_000_000, 4, true, 'long'],
  );
});

test('a step that was removed has not succeeded, though its code is 0', () => {
  const jobs = jobsOf('jobs');
  assert.equal(jobs.get('head.25.0')?.exit, null);
  assert.deepEqual(jobs.get('head.24.0')?.exit, { signal: 24 });
  assert.deepEqual([jobs.get('head.26.0')?.exit, jobs.get('head.26.0')?.startedAt], [null, null]);
});

test('a machine without memory in figures has none that is known, and one of no line is none', () => {
  const line = 'n1!Idle!2!0!lots!x86_64!Linux2!1\n';
  const read = adaptor.nodes.read({ stdout: line, stderr: '', code: 0 });
  assert.ok(read.ok);
  assert.deepEqual(
    [read.value[0]?.memoryBytes, read.value[0]?.features],
    [...[null, ['x86_64', 'Linux2']]],
  );
  assert.equal(adaptor.nodes.read({ stdout: '\n', stderr: '', code: 0 }).ok, false);
});

test('a machine is drained and resumed by its startd', () => {
  assert.deepEqual(adaptor.setNode({ node: 'n3', kind: 'stop', reason: 'disk' }), [
    { argv: ['llctl', '-h', 'n3', 'drain', 'startd'] },
  ]);
});
