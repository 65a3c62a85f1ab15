// What is LSF's own: its command line, its codes, its clock. What it has in common with all is in
// test/contract/adaptors.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lsf } from '../../../../../src/wings/sites/adaptors/lsf/lsf.ts';
import { documented } from './recorded.ts';

const adaptor = lsf();
const output = (name: string) => documented(`lsf/${name}.txt`);

function jobsOf(name: string) {
  const read = adaptor.jobs.read(output(name));
  assert.ok(read.ok, name);
  return new Map(read.value.map((job) => [job.id, job]));
}

test('no job is no problem, whichever code lsf.conf gives it; with another code it is none', () => {
  const said = output('empty.consistent');
  assert.deepEqual(adaptor.jobs.read(said), { ok: true, value: [] });
  assert.equal(adaptor.jobs.read({ ...said, code: 1 }).ok, false);
  assert.equal(adaptor.jobs.read({ ...said, code: null }).ok, false);
});

test('a listing that has not as many records as it says is not believed', () => {
  const whole = output('jobs');
  const read = adaptor.jobs.read({
    ...whole,
    stdout: whole.stdout.replace('"JOBS":17', '"JOBS":18'),
  });
  assert.ok(!read.ok && read.error.kind === 'unreadable');
});

test('a time without its year is none', () => {
  const job = jobsOf('no-year').get('29');
  assert.deepEqual([job?.submittedAt, job?.startedAt], [null, null]);
  assert.deepEqual(adaptor.jobs.command.environment, { LSB_DISPLAY_YEAR: 'Y' });
});

test('a host that cannot be reached says nothing of its jobs', () => {
  const states = [...jobsOf('unknown').values()].map(({ word, state }) => `${word} ${state}`);
  assert.deepEqual(states, ['UNKWN unknown', 'ZOMBI unknown']);
});

test('codes above 128 are signals, and a job that never began has no end', () => {
  const jobs = jobsOf('jobs');
  assert.deepEqual(jobs.get('24')?.exit, { signal: 12 });
  assert.match(jobs.get('24')?.reason ?? '', /TERM_RUNLIMIT/);
  assert.deepEqual(jobs.get('26')?.exit, null);
  assert.equal(jobs.get('26')?.endedAt, Date.UTC(2026, 10, 2, 18, 2));
});

test('limits are read: minutes of the clock, and memory with its unit', () => {
  const job = jobsOf('jobs').get('16');
  assert.deepEqual(
    [job?.walltimeMs, job?.memoryBytes, job?.cpuCount],
    [...[3_600_000, 4 * 1024 ** 3, 4]],
  );
});

test('an array is found by its name once', () => {
  assert.deepEqual(adaptor.named('sweep').read(output('jobs')), { ok: true, value: ['13'] });
});

test('the command is a file of the job, and no script is searched for options', () => {
  const { command, read } = adaptor.submit({
    name: 'weft-c1-1',
    script: '#BSUB -q evil\n',
    scriptFile: "/it's/script",
    queue: 'long',
    account: 'wing',
    walltimeMs: 61_000,
    nodeCount: 2,
    cpuCount: 2,
    memoryBytes: 1_048_577,
    directory: '/d',
    stdout: '/d/out',
    stderr: '/d/err',
    options: ['-sla', 'x'],
  });
  assert.deepEqual(command.argv, [
    ...['bsub', '-J', 'weft-c1-1', '-rn', '-env', 'none', '-cwd', '/d', '-o', '/d/out'],
    ...['-e', '/d/err', '-n', '4', '-R', 'rusage[mem=2MB] span[ptile=2]', '-W', '2'],
    ...['-q', 'long', '-P', 'wing', '-sla', 'x', "sh '/it'\\''s/script'"],
  ]);
  assert.equal(command.input, undefined);
  assert.deepEqual(read(output('submit.default')), { ok: true, value: '32' });
});

test('a job is known by its record, and one that has finished cannot be cancelled', () => {
  assert.deepEqual(adaptor.known?.('11').read(output('there.known')), { ok: true, value: true });
  const finished = adaptor.cancel('21').read(output('cancel.finished'));
  assert.ok(!finished.ok && finished.error.kind === 'no_such_job');
  assert.deepEqual(adaptor.setNode({ node: 'n3', kind: 'stop', reason: 'disk' }), [
    { argv: ['badmin', 'hclose', '-C', 'disk', 'n3'] },
  ]);
});
