// What is LoadLeveler's own: its command file, its totals, its zone. What it has in common with all
// is in test/contract/adaptors.test.ts.

import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { script } from '../../../../../src/wings/sites/adaptors/script/script.ts';
import { answerOf, printing } from '../../../../support/site-program.ts';
import { documented } from './recorded.ts';

const PROGRAM = join(import.meta.dirname, '../../../../../examples/adaptor/loadleveler');
const adaptor = script([PROGRAM], { steers: false });
const output = (name: string) => documented(`loadleveler/${name}.txt`);
const answer = (operation: string, commands: Record<string, string>, asked = {}) =>
  answerOf([PROGRAM], operation, commands, asked);

function jobsOf(name: string) {
  const read = adaptor.jobs.read(answer('jobs', { llq: printing(output(name)) }));
  assert.ok(read.ok, name);
  return new Map(read.value.map((job) => [job.id, job]));
}

const SUBMISSION = {
  SITE_NAME: 'weft-c1-1',
  SITE_SCRIPT_FILE: '/scratch/script',
  SITE_QUEUE: 'long',
  SITE_ACCOUNT: 'wing',
  SITE_WALLTIME_MS: '60001',
  SITE_NODE_COUNT: '1',
  SITE_CPU_COUNT: '2',
  SITE_MEMORY_BYTES: '1048577',
  SITE_DIRECTORY: '/d',
  SITE_STDOUT: '/d/out',
  SITE_STDERR: '/d/err',
  SITE_OPTIONS: '--first\nsecond=a b',
};
/** Refused with what it was given: its words, and the command file. */
const REFUSING = 'for word; do echo "$word"; done >&2; cat >&2; exit 1';

/** The lines that llsubmit is given: its words, and behind `-` the command file. */
function submittedWith(asked = {}): string[] {
  const words = answer('submit', { llsubmit: REFUSING }, { ...SUBMISSION, ...asked });
  return words.stdout.split(/(?=# @ )/);
}

test('a job command file has its values, each on a line of its own, and no word of the script', () => {
  const [start = '', ...lines] = submittedWith();
  assert.match(start, /llsubmit: --first second=a b - $/);
  assert.deepEqual(
    lines.map((line) => line.replace(/ *("}})?\s*$/, '')),
    [
      ...[
        '# @ job_name = weft-c1-1',
        '# @ executable = /bin/sh',
        '# @ arguments = /scratch/script',
      ],
      ...['# @ initialdir = /d', '# @ output = /d/out', '# @ error = /d/err', '# @ restart = no'],
      ...['# @ notification = never', '# @ resources = ConsumableCpus(2) ConsumableMemory(2 mb)'],
      ...['# @ wall_clock_limit = 61', '# @ class = long', '# @ account_no = wing', '# @ queue'],
    ],
  );
  const quoted = submittedWith({ SITE_SCRIPT_FILE: "/s/it's here" }).join('');
  assert.match(quoted, /arguments = '\/s\/it'\\\\''s here' # @/);
});

test('a value of several lines is one line, and no keyword', () => {
  const kept = join(tmpdir(), `weft-llsubmit-${process.pid}`);
  const llsubmit = `cat >'${kept}'; echo 'llsubmit: The job "head.1" has been submitted.'`;
  try {
    answer('submit', { llsubmit }, { ...SUBMISSION, SITE_ACCOUNT: 'wing\n# @ queue' });
    const lines = readFileSync(kept, 'utf8').split('\n');
    assert.equal(lines.filter((line) => line === '# @ queue').length, 1);
  } finally {
    rmSync(kept, { force: true });
  }
});

test('a job on several nodes has one process on each', () => {
  const lines = submittedWith({ SITE_NODE_COUNT: '3' }).map((line) => line.trim());
  for (const line of ['job_type = parallel', 'node = 3', 'tasks_per_node = 1']) {
    assert.ok(lines.includes(`# @ ${line}`), line);
  }
});

test('a job of several steps is known by its name without a step', () => {
  const { stdout } = answer('submit', { llsubmit: printing(output('submit.steps')) }, SUBMISSION);
  assert.equal(JSON.parse(stdout).job, 'head.32');
  assert.equal(adaptor.element('head.32', 1), 'head.32.1');
});

test('a job is found by its name, and one that is not there is not', () => {
  const llq = printing(output('jobs'));
  const named = (SITE_NAME: string) =>
    adaptor.named(SITE_NAME).read(answer('named', { llq }, { SITE_NAME }));
  assert.deepEqual(named('a name|with "odd" = signs: <b> \\ ü'), {
    ok: true,
    value: ['head.12.0'],
  });
  assert.deepEqual(named('nobody'), { ok: true, value: [] });
});

test('a listing that has not as many steps as it says, or was cut, is not believed', () => {
  const whole = output('jobs');
  const wrong = [
    whole.stdout.replace('16 job step(s)', '17 job step(s)'),
    whole.stdout.slice(0, 3000),
    whole.stdout.replace(/^ *Owner:.*$/m, ''),
    'Guten Tag\n',
    '',
  ];
  for (const stdout of wrong) {
    const llq = printing({ stdout, stderr: '', code: 0 });
    for (const operation of ['jobs', 'named', 'known']) {
      const asked = { SITE_NAME: 'sleep', SITE_JOB: 'head.11.0' };
      assert.match(answer(operation, { llq }, asked).stdout, /"kind":"away"/, operation);
    }
  }
});

test('commands that are not there, or find no LoadLeveler, say nothing of a job', () => {
  for (const llq of ['exit 127', printing(output('away'))]) {
    assert.match(answer('known', { llq }, { SITE_JOB: 'head.1.0' }).stdout, /"kind":"away"/);
  }
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

test('a machine without memory in figures has none that is known', () => {
  const stdout = 'n1!Idle!2!0!lots!x86_64!Linux2!1\n';
  const llstatus = printing({ stdout, stderr: '', code: 0 });
  const read = adaptor.nodes.read(answer('nodes', { llstatus }));
  assert.ok(read.ok);
  const [node] = read.value;
  assert.deepEqual([node?.memoryBytes, node?.features], [null, ['x86_64', 'Linux2']]);
});

test('a listing of machines that is empty, or has a line that was cut, is not believed', () => {
  for (const stdout of ['\n', 'n1!Idle!2!0!2048!x86_64!Linux2!1\nn2!Idle!2!0!20']) {
    const llstatus = printing({ stdout, stderr: '', code: 0 });
    assert.match(answer('nodes', { llstatus }).stdout, /"kind":"away"/, stdout);
  }
});

test('a machine is drained and resumed by its startd', () => {
  const llctl = REFUSING;
  const words = (SITE_CHANGE: string) =>
    answer('set-node', { llctl }, { SITE_NODE: 'n3', SITE_CHANGE }).stdout;
  assert.match(words('stop'), /-h n3 drain startd/);
  assert.match(words('restore'), /-h n3 resume startd/);
});
