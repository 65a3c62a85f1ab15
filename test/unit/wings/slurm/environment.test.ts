// Which variables ranks of `srun` on other nodes are given beside those of the node.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import type { Surroundings } from '../../../../src/kernel/agent/part.ts';
import { part } from '../../../../src/wings/slurm/agent/part.ts';
import { type Begun, taskEnvironment } from '../../../../src/wings/slurm/cli/task-environment.ts';
import {
  changedVariables,
  variablesSet,
} from '../../../../src/wings/slurm/core/changed-variables.ts';

const MARK = '7-1';

test('[X1] what a script has exported, changed or taken away since its task began goes along', () => {
  const origin = { PATH: '/bin', HOME: '/h', LANG: 'C', SHLVL: '1', GONE: 'x' };
  const own = { PATH: '/opt/bin:/bin', HOME: '/h', LANG: 'C', SHLVL: '2', _: '/x', NEW: "it's" };
  assert.deepEqual(changedVariables(origin, own), ['-u', 'GONE', 'PATH=/opt/bin:/bin', "NEW=it's"]);
  assert.deepEqual(changedVariables(origin, origin), []);
});

test('[X5] what the shell of an allocation has exported since it began is found', () => {
  const processes: Readonly<Record<number, Begun>> = {
    40: { environment: { SLURM_JOB_ID: '7', A: '1', LATE: '5' }, parent: 30 },
    30: { environment: { SLURM_JOB_ID: '7', A: '1' }, parent: 20 },
    20: { environment: { A: '0' }, parent: 1 },
  };
  const read = (pid: number): Begun | null => processes[pid] ?? null;
  const origin = taskEnvironment(40, '7', read, 'SLURM_JOB_ID');
  assert.deepEqual(origin, { SLURM_JOB_ID: '7', A: '1' });
  const own = { ...processes[40]?.environment, PWD: '/elsewhere' };
  assert.deepEqual(variablesSet(origin, own), { LATE: '5' });
});

test('[X1] the first process of a task tells what it began with, not those around it', () => {
  const processes: Readonly<Record<number, Begun>> = {
    40: { environment: { WEFT_LAUNCH: MARK, A: '1', B: '2' }, parent: 30 },
    30: { environment: { WEFT_LAUNCH: MARK, A: '1' }, parent: 20 },
    20: { environment: { A: '0' }, parent: 1 },
  };
  const read = (pid: number): Begun | null => processes[pid] ?? null;
  assert.deepEqual(taskEnvironment(40, MARK, read), { WEFT_LAUNCH: MARK, A: '1' });
  assert.equal(taskEnvironment(20, MARK, read), null);
  assert.equal(taskEnvironment(40, undefined, read), null);
  assert.equal(taskEnvironment(7, MARK, read), null);
});

test('[X1] it is read of the system, with values of several lines', () => {
  const module = new URL('../../../../src/wings/slurm/cli/task-environment.ts', import.meta.url);
  const program = `import { taskEnvironment } from '${module.href}';
    console.log(JSON.stringify(taskEnvironment(process.ppid, '${MARK}')));`;
  // The shell is the first of the task; it goes on after the program, so that it stays its parent.
  const script = 'export LATER=1; "$0" --input-type=module -e "$1"; exit $?';
  const env = { PATH: process.env['PATH'], WEFT_LAUNCH: MARK, LINES: 'a\nb=ü' };
  const { stdout, stderr } = spawnSync('sh', ['-c', script, process.execPath, program], {
    env,
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  assert.deepEqual(JSON.parse(stdout), env);
});

/** What a task on four cpus finds, with these variables of its job. */
function variablesOf(environment: Readonly<Record<string, string>>, gpus: readonly number[] = []) {
  const resources = { cpuCount: 4, memoryBytes: 0, gpuCount: gpus.length };
  const share = { resources, gpus };
  const account = { user: 'ann', uid: 1, gid: 1 };
  const place = { jobId: 7, index: null };
  const order = { environment, place, nodes: ['n1'], share, account, processesPerNode: 1 };
  const of = { order, account, settings: { jobPath: '/opt/mpi/bin', gpuFrom: 4 } };
  return part.variables?.(of as unknown as Surroundings).ours;
}

test('[X1] cpus of a rank are those that were typed, also where the node is whole', () => {
  const cpus = (more: object) => variablesOf({ WEFT_SLURM: '1', ...more })?.['SLURM_CPUS_PER_TASK'];
  assert.equal(cpus({}), '4');
  assert.equal(cpus({ WEFT_SLURM_CPUS_PER_TASK: '2', SLURM_CPUS_PER_TASK: '9' }), '2');
});

test('[X1] a job that brings no PATH finds the commands of Slurm before those of its node', () => {
  const pathOf = (environment: Readonly<Record<string, string>>) =>
    variablesOf(environment)?.['PATH'];
  const mark = { WEFT_SLURM: '1' };
  assert.equal(pathOf(mark), undefined);
  assert.equal(pathOf({ ...mark, WEFT_SLURM_FOLDER: '/front' }), '/front:/opt/mpi/bin');
  assert.equal(pathOf({ ...mark, WEFT_SLURM_FOLDER: '/front', PATH: '/bin' }), undefined);
});

test('[X1] gpus of a task are told by the numbers of the machine', () => {
  const { SLURM_JOB_GPUS: cards, SLURM_GPUS_ON_NODE: count } =
    variablesOf({ WEFT_SLURM: '1' }, [0, 2]) ?? {};
  assert.deepEqual([cards, count], ['4,6', '2']);
  assert.equal(variablesOf({ WEFT_SLURM: '1' })?.['SLURM_JOB_GPUS'], undefined);
});
