// The exact words by which containers and programs are started.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  apptainerArgv,
  canBind,
  engineArgv,
  engineEndArgv,
  engineLoadArgv,
  loadedImage,
} from '../../../../src/core/batch/containers.ts';
import { fillCpus } from '../../../../src/core/batch/placeholders.ts';
import { programArgv } from '../../../../src/core/batch/programs.ts';

const WORK = { save: '/w/distribute_save', input: '/w/input', args: ['16'] };

test('apptainer without mounts', () => {
  const solver = { kind: 'apptainer', gpu: false, mounts: [] } as const;
  assert.deepEqual(apptainerArgv({ ...WORK, solver, image: '/w/wing.sif', binds: [] }), [
    ...['apptainer', 'run', '--nv', '--app', 'distribute'],
    ...['--bind', '/w/distribute_save:/distribute_save:rw,/w/input:/input:rw'],
    ...['/w/wing.sif', '16'],
  ]);
});

test('apptainer with two mounts', () => {
  const solver = { kind: 'apptainer', gpu: true, mounts: ['/output', '/scratch/a'] } as const;
  const binds = ['/w/_bind_path_0', '/w/_bind_path_1'];
  assert.deepEqual(apptainerArgv({ ...WORK, solver, image: 'wing.sif', binds }), [
    ...['apptainer', 'run', '--nv', '--app', 'distribute', '--bind'],
    '/w/distribute_save:/distribute_save:rw,/w/input:/input:rw,' +
      '/w/_bind_path_0:/output:rw,/w/_bind_path_1:/scratch/a:rw',
    ...['wing.sif', '16'],
  ]);
});

const ENGINE = { ...WORK, image: 'wing:1', name: 'weft-7', memoryBytes: null, cpus: null };

test('docker as another user, with limits, gpus and a mount', () => {
  const solver = { kind: 'docker', gpu: true, mounts: ['/data'] } as const;
  const more = { user: '1000:100', memoryBytes: 2 ** 31, cpus: '4' };
  assert.deepEqual(engineArgv({ ...ENGINE, solver, binds: ['/w/_bind_path_0'], ...more }), [
    ...['docker', 'run', '--rm', '--init', '--name', 'weft-7', '--gpus', 'all'],
    ...['--user', '1000:100', '--cpus', '4', '--memory', '2147483648'],
    ...['--volume', '/w/distribute_save:/distribute_save:rw'],
    ...['--volume', '/w/input:/input:rw', '--volume', '/w/_bind_path_0:/data:rw'],
    ...['--env', 'WEFT_INPUT=/input', '--env', 'WEFT_SAVE=/distribute_save', 'wing:1', '16'],
  ]);
});

test('podman with a gpu, and nothing else', () => {
  const solver = { kind: 'podman', gpu: true, mounts: [] } as const;
  assert.deepEqual(engineArgv({ ...ENGINE, solver, binds: [], user: null }), [
    ...['podman', 'run', '--rm', '--init', '--name', 'weft-7'],
    ...['--device', 'nvidia.com/gpu=all'],
    ...['--volume', '/w/distribute_save:/distribute_save:rw', '--volume', '/w/input:/input:rw'],
    ...['--env', 'WEFT_INPUT=/input', '--env', 'WEFT_SAVE=/distribute_save', 'wing:1', '16'],
  ]);
});

test('images are loaded and containers ended by the same runtime', () => {
  assert.deepEqual(engineLoadArgv('podman', '/w/a.tar'), ['podman', 'load', '--input', '/w/a.tar']);
  assert.deepEqual(engineEndArgv('docker', 'weft-7'), ['docker', 'rm', '--force', 'weft-7']);
  assert.equal(loadedImage('abc: Loading layer\nLoaded image: wing:1\n'), 'wing:1');
  assert.equal(loadedImage('Loaded image ID: sha256:12ab\n'), 'sha256:12ab');
  assert.equal(loadedImage('Loaded image(s): localhost/wing:1\n'), 'localhost/wing:1');
  assert.equal(loadedImage('open a.tar: no such file\n'), null);
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
