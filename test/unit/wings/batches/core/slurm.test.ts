// Header lines and words of the scripts for Slurm.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  BatchFile,
  BatchJob,
  SlurmFields,
} from '../../../../../src/wings/batches/core/batch.ts';
import { commandLine, VARIABLES } from '../../../../../src/wings/batches/core/command-words.ts';
import { buildHeader, jobHeader } from '../../../../../src/wings/batches/core/slurm/header.ts';
import { PLAIN_BATCH_JOB } from '../plain-batch.ts';

const JOB: BatchJob = {
  ...PLAIN_BATCH_JOB,
  name: 're100',
  run: { path: 'job.py', as: 'job.py' },
  files: [],
};
const BATCH: BatchFile = {
  namespace: 'wing',
  name: 'sweep',
  origin: 'weft',
  needs: [],
  solver: null,
  files: [],
  env: {},
  jobs: [JOB],
  outputs: ['**'],
  after: [],
  notices: [],
  slurm: {},
};

function header(batch: SlurmFields, job: Partial<BatchJob>): string[] {
  return jobHeader({ ...BATCH, slurm: batch }, { ...JOB, ...job }).map((line) => {
    assert.ok(line.startsWith('#SBATCH --'), line);
    return line.slice('#SBATCH --'.length);
  });
}

const ALL: SlurmFields = {
  job_name: 'all',
  output: 'out-%j.txt',
  nodes: '1',
  ntasks: '4',
  cpus_per_task: '2',
  mem_per_cpu: '10M',
  hint: 'nomultithread',
  time: '00:30:00',
  partition: 'cpu-core-0',
  account: 'lab',
  mail_user: 'alice@example.org',
  mail_type: 'END',
};

test('all twelve keys of the batch, each under its own word', () => {
  assert.deepEqual(header(ALL, {}), [
    ...['job-name=all', 'output=out-%j.txt', 'nodes=1', 'ntasks=4', 'cpus-per-task=2'],
    ...['mem-per-cpu=10M', 'hint=nomultithread', 'time=00:30:00', 'partition=cpu-core-0'],
    ...['account=lab', 'mail-user=alice@example.org', 'mail-type=END'],
  ]);
});

test('a job stands over the batch, field by field', () => {
  const slurm = { time: '00:05:00', ntasks: '8', output: 'own.txt' };
  assert.deepEqual(header({ time: '00:30:00', partition: 'cpu' }, { slurm }), [
    ...['job-name=re100', 'output=own.txt', 'ntasks=8', 'time=00:05:00', 'partition=cpu'],
  ]);
});

test('where nothing is said there is a name and two files for the streams', () => {
  assert.deepEqual(header({}, {}), ['job-name=re100', 'output=stdout', 'error=stderr']);
});

test('what a job says for any system counts where the fields of Slurm are silent', () => {
  const limits = { cpuCount: 4, memoryBytes: 2 ** 31 + 1, walltimeMs: 90_000_500 };
  assert.deepEqual(header({}, limits).slice(3), [
    ...['cpus-per-task=4', 'mem=2049M', 'time=1-01:00:01'],
  ]);
  assert.deepEqual(header({ ntasks: '2', mem_per_cpu: '1G', time: '60' }, limits), [
    ...['job-name=re100', 'ntasks=2', 'mem-per-cpu=1G', 'time=60', 'output=stdout'],
    'error=stderr',
  ]);
});

test('a value with blanks and quotes is one word', () => {
  const [name] = header({ job_name: 'my "own" \\ job' }, {});
  assert.equal(name, 'job-name="my \\"own\\" \\\\ job"');
});

test('a build has a name and streams of its own', () => {
  assert.deepEqual(buildHeader({ ...BATCH, slurm: ALL }).slice(0, 2), [
    ...['#SBATCH --job-name=sweep-build', '#SBATCH --nodes=1'],
  ]);
  assert.deepEqual(buildHeader(BATCH), [
    ...['#SBATCH --job-name=sweep-build', '#SBATCH --output=stdout', '#SBATCH --error=stderr'],
  ]);
});

test('words keep what the shell would take for its own, but for variables', () => {
  const { save, cpus } = VARIABLES;
  assert.equal(
    commandLine(['run', "it's $HOME", `${save}:/distribute_save:rw,x y`, cpus, '']),
    `run 'it'\\''s $HOME' "$WEFT_SAVE"':/distribute_save:rw,x y' "$cpus" ''`,
  );
});
