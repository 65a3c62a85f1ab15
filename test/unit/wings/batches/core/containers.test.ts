// The exact words by which containers and programs are started.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineEndArgv, engineHoldArgv } from '../../../../../src/kernel/model/container-engine.ts';
import {
  apptainerArgv,
  canBind,
  engineWords,
} from '../../../../../src/wings/batches/core/containers.ts';
import { fillCpus } from '../../../../../src/wings/batches/core/placeholders.ts';
import { programArgv } from '../../../../../src/wings/batches/core/programs.ts';

const WORK = { save: '/w/distribute_save', input: '/w/input', args: ['16'] };

test('apptainer without mounts', () => {
  const solver = { mounts: [] };
  assert.deepEqual(apptainerArgv({ ...WORK, solver, image: '/w/wing.sif', binds: [] }), [
    ...['apptainer', 'run', '--nv', '--app', 'distribute'],
    ...['--bind', '/w/distribute_save:/distribute_save:rw,/w/input:/input:rw'],
    ...['/w/wing.sif', '16'],
  ]);
});

test('apptainer with two mounts', () => {
  const solver = { mounts: ['/output', '/scratch/a'] };
  const binds = ['/w/_bind_path_0', '/w/_bind_path_1'];
  assert.deepEqual(apptainerArgv({ ...WORK, solver, image: 'wing.sif', binds }), [
    ...['apptainer', 'run', '--nv', '--app', 'distribute', '--bind'],
    '/w/distribute_save:/distribute_save:rw,/w/input:/input:rw,' +
      '/w/_bind_path_0:/output:rw,/w/_bind_path_1:/scratch/a:rw',
    ...['wing.sif', '16'],
  ]);
});

const FOLDERS = { save: '/w/distribute_save', input: '/w/input' };
const PASSED_ON = ['WEFT_BATCH', 'WEFT_JOB_NAME', 'WEFT_CPUS', 'OMP_NUM_THREADS'];
const VARIABLES = [
  ...['--env', 'WEFT_INPUT=/input', '--env', 'WEFT_SAVE=/distribute_save'],
  ...PASSED_ON.flatMap((name) => ['--env', name]),
];

test('docker as the user of the job, with a mount and a variable', () => {
  const solver = { kind: 'docker', mounts: ['/data'] } as const;
  const start = { ...FOLDERS, solver, name: 'weft-7', user: '1000:100', env: ['SEED'] };
  assert.deepEqual(engineWords({ ...start, binds: ['/w/_bind_path_0'] }), [
    ...['docker', 'run', '--rm', '--init', '--pull', 'never', '--name', 'weft-7'],
    ...['--user', '1000:100', '--security-opt', 'label=disable'],
    ...['--volume', '/w/distribute_save:/distribute_save:rw'],
    ...['--volume', '/w/input:/input:rw', '--volume', '/w/_bind_path_0:/data:rw'],
    ...[...VARIABLES, '--env', 'SEED'],
  ]);
});

test('podman with nothing else', () => {
  const solver = { kind: 'podman', mounts: [] } as const;
  const start = { ...FOLDERS, solver, name: 'weft-7', user: '0:0', binds: [], env: [] };
  assert.deepEqual(engineWords(start), [
    ...['podman', 'run', '--rm', '--init', '--pull', 'never', '--name', 'weft-7'],
    ...['--user', '0:0', '--security-opt', 'label=disable'],
    ...['--volume', '/w/distribute_save:/distribute_save:rw', '--volume', '/w/input:/input:rw'],
    ...VARIABLES,
  ]);
});

test('a container is ended by its own runtime', () => {
  assert.deepEqual(engineEndArgv('docker', 'weft-7'), ['docker', 'rm', '--force', 'weft-7']);
  assert.deepEqual(engineHoldArgv('podman', 'weft-7', 'pause'), ['podman', 'pause', 'weft-7']);
});

test('folders whose names would read as another mount are seen before', () => {
  assert.equal(canBind(['/w/input', '/w/a b']), true);
  assert.equal(canBind(['/w/input', '/w/a:b']), false);
  assert.equal(canBind(['/w/a,b']), false);
});

test('python3 runs what ends in .py, and the number of cpus is filled in at the start', () => {
  assert.deepEqual(programArgv({ as: 'run.py' }, fillCpus(['{{cpus}}'], 16)), [
    ...['python3', 'run.py', '16'],
  ]);
  const args = fillCpus(['-n', '{{ cpus }}', '{{re}}'], 4);
  assert.deepEqual(programArgv({ as: 'solve.sh' }, args), ['./solve.sh', '-n', '4', '{{re}}']);
});
