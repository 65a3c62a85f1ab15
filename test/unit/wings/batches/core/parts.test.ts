// A batch as arrays of tasks: what is submitted for each job, and the script that runs it, run for
// real in a folder as a node lays it out.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { parseFileSet } from '../../../../../src/kernel/files/file-set.ts';
import { BUILD_LOG_FILE } from '../../../../../src/kernel/files/folders.ts';
import { matchesGlobs, parseGlob } from '../../../../../src/kernel/files/glob.ts';
import { BUILD_FAILED_SIGNAL } from '../../../../../src/wings/batches/core/build-script.ts';
import {
  belowSave,
  buildKey,
  type Contents,
  partsOf,
} from '../../../../../src/wings/batches/core/parts.ts';
import { taskLine, taskScript } from '../../../../../src/wings/batches/core/task-script.ts';
import type { WrittenBatch } from '../../../../../src/wings/batches/core/written.ts';
import { batchOf, Node } from './task-node.ts';

const HASH = 'a'.repeat(64) as never;
const CONTENTS: Contents = {
  entries: (file, at) => [{ path: at, kind: 'file', size: file.length, mode: 0o644, sha256: HASH }],
  digest: (text) => createHash('sha256').update(text).digest('hex'),
};

test('jobs that ask for the same are one array, with their files by task', () => {
  const jobs = [
    { name: 'a', run: 'job.py', args: ['{{cpus}}', "it's"], files: ['a.json'] },
    { name: 'b', run: 'job.py', cpus: 2, memory: '1G', time: '5m', retries: 1 },
    { name: 'c', run: 'job.py' },
  ];
  const batch = batchOf({ jobs, files: ['mesh'], needs: ['fast'], outputs: ['**', '!*.tmp'] });
  const [first, second, ...others] = partsOf(batch, CONTENTS);
  assert.deepEqual([first?.numbers, second?.numbers, others], [[0, 2], [1], []]);
  const { each, exclusive, cpuCount, labels, staging } = first?.submission ?? {};
  assert.deepEqual(each, [
    { name: 'a', line: `python3 job.py "$cpus" 'it'\\''s'` },
    { name: 'c', line: 'python3 job.py "$cpus"' },
  ]);
  assert.deepEqual([exclusive, cpuCount, labels], [true, 0, ['fast']]);
  assert.deepEqual(staging, { outputs: ['distribute_save/**', '!distribute_save/**/*.tmp'] });
  const kept = (more: object) => {
    const [part] = partsOf(batchOf({ jobs, files: ['mesh'], ...more }), CONTENTS);
    return part?.submission.staging?.outputs;
  };
  // Nothing but the save folder, also where the first pattern takes away.
  const all = ['distribute_save/**', '!distribute_save/**/*.tmp'];
  assert.deepEqual(kept({ outputs: ['!*.tmp'] }), all);
  assert.deepEqual(kept({ outputs: [] }), []);
  const built = { solver: { build: 'b.py' }, outputs: ['**'] };
  assert.deepEqual(kept(built), ['distribute_save/**', BUILD_LOG_FILE]);
  const asked = second?.submission;
  assert.deepEqual(
    [asked?.cpuCount, asked?.memoryBytes, asked?.walltimeMs, asked?.retriesMax],
    [...[2, 2 ** 30, 300_000, 1]],
  );
  const set = parseFileSet(first?.fileSet ?? '');
  assert.ok(set.ok);
  const paths = (list: readonly { path: string }[] = []) => list.map((one) => one.path);
  const common = ['_weft', '_weft/shared/mesh', 'distribute_save', 'job.py'];
  assert.deepEqual(paths(set.value.common), common, 'what all of them have is named once');
  assert.deepEqual(paths(set.value.tasks?.['0']), ['_weft/own/a.json']);
  assert.equal(set.value.tasks?.['1'], undefined);
});

test('what jobs ask for, and come after, makes arrays of them', () => {
  const run = 'job.py';
  const batch = batchOf({
    env: { A: 'batch', SEED: 1 },
    needs: ['linux'],
    jobs: [
      { name: 'mesh1', run },
      { name: 'mesh2', run },
      { name: 'solve1', run, after: ['mesh1', 'mesh2'] },
      { name: 'free', run },
      { name: 'solve2', run, after: ['mesh2', 'mesh1'] },
      { name: 'odd', run, cpus: 1, gpus: 2, env: { A: 'own' }, needs: ['fast'] },
      { name: 'late', run, partition: 'big', qos: 'low', priority: -3 },
    ],
  });
  const parts = partsOf(batch, CONTENTS);
  assert.deepEqual(
    parts.map(({ numbers, after }) => [numbers, after]),
    [
      [[0, 1], []],
      [
        [2, 4],
        [0, 1],
      ],
      [[3], []],
      [[5], []],
      [[6], []],
    ],
  );
  const [mesh, , , odd, late] = parts.map(({ submission }) => submission);
  assert.deepEqual(mesh?.environment, { A: 'batch', SEED: '1' });
  assert.deepEqual(odd?.environment, { A: 'own', SEED: '1', weft_batch_A: 'batch' });
  assert.deepEqual([odd?.gpuCount, odd?.labels], [2, ['linux', 'fast']]);
  assert.deepEqual([late?.partition, late?.qos, late?.nice], ['big', 'low', 3]);
  for (const key of ['partition', 'qos', 'nice', 'gpuCount'])
    assert.ok(!(key in (mesh ?? {})), key);
  const prints = (env: WrittenBatch['env']) =>
    partsOf(batchOf(env === undefined ? {} : { env }), CONTENTS)[0]?.prints;
  assert.notDeepEqual(prints({ A: 1 }), prints(undefined));
  assert.notDeepEqual(prints({ A: 1 }), prints({ A: 2 }));
});

test('[V10] a batch asks for gpus by memory or by a share, one where it does not say how many', () => {
  const batch = batchOf({
    defaults: { cpus: 1 },
    jobs: [
      { name: 'a', run: 'job.sh', gpuMemory: '20G' },
      { name: 'b', run: 'job.sh', gpus: 2, gpuShare: '8G' },
      { name: 'c', run: 'job.sh', gpus: 1 },
      { name: 'd', run: 'job.sh', gpus: 2, gpuLinks: 'nvlink' },
      { name: 'e', run: 'job.sh', gpus: 2, gpuLinks: 'any' },
    ],
  });
  const asked = partsOf(batch, CONTENTS).map(({ submission }) => {
    const { gpuCount, gpuMemoryBytes, gpuShareBytes, gpuLinks } = submission;
    return [gpuCount, gpuMemoryBytes, gpuShareBytes, ...(gpuLinks === undefined ? [] : [gpuLinks])];
  });
  const gib = 2 ** 30;
  assert.deepEqual(asked, [
    [1, 20 * gib, undefined],
    [2, undefined, 8 * gib],
    [1, undefined, undefined],
    [2, undefined, undefined, 'nvlink'],
    [2, undefined, undefined],
  ]);
});

test('[B11] the build sees the variables of the batch, and each job its own over them', (t) => {
  const node = new Node(t);
  const jobs = [
    { name: 'a', run: 'job.sh', env: { A: 'own', B: 'b' } },
    { name: 'b', run: 'job.sh' },
  ];
  const batch = batchOf({ solver: { build: 'build.sh' }, env: { A: "it's", SEED: 1 }, jobs });
  const said = 'echo "$A $(printenv B || echo none) $SEED $(env | grep -c weft_batch)"';
  const files = {
    'build/build.sh': `#!/bin/sh\n${said}\n`,
    'program/job.sh': `#!/bin/sh\n${said}\n`,
  };
  const [first, second] = partsOf(batch, CONTENTS).map(({ submission }) => submission.environment);
  const own = node.run(node.task('t1', files), batch, first);
  assert.equal(own.stdout, 'own b 1 0\n', own.stderr);
  assert.match(own.stderr, /^it's none 1 \d$/m, 'what the build has printed');
  assert.equal(node.run(node.task('t2', files), batch, second).stdout, "it's none 1 0\n");
});

test('files of a job lie at their places, unless those of the batch may be there', () => {
  const own = (written: Partial<WrittenBatch>) => {
    const [part] = partsOf(batchOf(written), CONTENTS);
    const set = parseFileSet(part?.fileSet ?? '');
    assert.ok(set.ok);
    return { paths: set.value.tasks?.['0']?.map(({ path: name }) => name), prints: part?.prints };
  };
  const jobs = [{ name: 'a', run: 'job.sh', files: ['x'] }];
  const alone = own({ jobs });
  assert.deepEqual(alone.paths, ['input/x', 'job.sh']);
  assert.deepEqual(own({ jobs, files: ['mesh'] }).paths, ['_weft/own/x', 'job.sh']);
  const odd = own({ jobs: [{ name: 'a', run: '_weft', files: ['x'] }] });
  assert.deepEqual(odd.paths, ['_weft/program/_weft', 'input/x']);
  // As a release has made it that moved them all: what is done by it is not done again.
  assert.deepEqual(alone.prints, ['baa4952812ee2ea1']);
});

test('patterns of the save folder mean the same below it', () => {
  const cases = ['**', '*.txt', 'a/*.txt', '/top', 'dir/', 'a/**', '**/x'];
  const paths = ['x', 'b.txt', 'a/b.txt', 'c/a/b.txt', 'top', 'c/top', 'dir/f', 'c/dir/f', 'a/x/y'];
  for (const pattern of cases) {
    const [own, below] = [pattern, belowSave(pattern)].map((text) => {
      const glob = parseGlob(text);
      assert.ok(glob.ok, text);
      return [glob.value];
    });
    for (const one of paths) {
      const expected = matchesGlobs(own ?? [], one);
      assert.equal(
        matchesGlobs(below ?? [], `distribute_save/${one}`),
        expected,
        `${pattern} ${one}`,
      );
      assert.equal(matchesGlobs(below ?? [], `input/${one}`), false);
    }
  }
});

test('a solver that is built has a key, of the build and all its files', () => {
  const keyOf = (written: Partial<WrittenBatch>) => buildKey(batchOf(written), CONTENTS);
  assert.equal(keyOf({}), null);
  const key = keyOf({ solver: { build: 'build.py' } });
  assert.match(key ?? '', /^[0-9a-f]{40}$/);
  assert.notEqual(keyOf({ solver: { build: 'build.py' }, files: ['mesh'] }), key);
  const sifs = ['a.sif', 'b.sif'].map((image) =>
    keyOf({ jobs: [{ name: 'a' }], solver: { image } }),
  );
  assert.match(sifs[0] ?? '', /^[0-9a-f]{40}$/, 'of the runtime alone');
  assert.equal(sifs[1], sifs[0]);
  const [docker, podman] = [{ docker: 'debian:12' }, { podman: 'debian:12' }].map((solver) => {
    return keyOf({ jobs: [{ name: 'a' }], solver });
  });
  assert.match(docker ?? '', /^[0-9a-f]{40}$/);
  assert.notEqual(docker, podman);
});

test('a container is started with the words of local runs and exports', () => {
  const jobs = [{ name: 'a', args: ['{{cpus}}'], memory: '1G' }];
  const sif = batchOf({ jobs, solver: { image: 'solver.sif', mounts: ['/data'] } });
  const binds = `"$WEFT_SAVE":/distribute_save:rw,"$WEFT_INPUT":/input:rw,"$work"/_bind_path_0:/data:rw`;
  assert.equal(
    taskLine(sif, sif.jobs[0] as never),
    `apptainer run --nv --app distribute --bind ${binds} "$image" "$cpus"`,
  );
  assert.match(taskScript(sif), /^image=\$work\/_weft\/image$/m);
  assert.deepEqual(partsOf(sif, CONTENTS)[0]?.submission.labels, ['apptainer|singularity']);
  const docker = batchOf({ jobs, needs: ['gpu'], solver: { docker: 'debian:12' } });
  assert.equal(taskLine(docker, docker.jobs[0] as never), 'in_container "$cpus"');
  assert.deepEqual(partsOf(docker, CONTENTS)[0]?.submission.labels, ['gpu', 'docker']);
});

test('a node that has apptainer only by its older name runs it by that', (t) => {
  const node = new Node(t);
  const batch = batchOf({ jobs: [{ name: 'a', args: ['{{cpus}}'] }], solver: { image: 'a.sif' } });
  for (const names of [['singularity'], ['singularity', 'apptainer']]) {
    const work = node.task(names.join(), { image: 'image' });
    const bin = path.join(work, 'bin');
    mkdirSync(bin);
    for (const name of names) {
      writeFileSync(path.join(bin, name), '#!/bin/sh\necho "$(basename "$0") $*"\n', {
        mode: 0o755,
      });
    }
    const { stdout, stderr } = node.run(work, batch, { PATH: `${bin}:${process.env['PATH']}` });
    const binds = `${work}/distribute_save:/distribute_save:rw,${work}/input:/input:rw`;
    const words = `run --nv --app distribute --bind ${binds} ${work}/_weft/image 3`;
    assert.equal(stdout, `${names.at(-1)} ${words}\n`, stderr);
  }
});

const read = (...names: string[]) => readFileSync(path.join(...names), 'utf8');

test('a job finds its files, and its own take the place of those of the batch', (t) => {
  const node = new Node(t);
  const job =
    '#!/bin/sh\ncat input/a input/b; ls -A distribute_save; echo "$@ $WEFT_JOB_NAME $WEFT_CPUS"; pwd > "$WEFT_SAVE/where"; exit 4\n';
  const files = {
    'shared/a': 'common ',
    'shared/b': 'common',
    'own/b': 'own\n',
    'program/job.sh': job,
  };
  const work = node.task('t', files);
  const end = node.run(work, batchOf({}));
  assert.deepEqual([end.status, end.stdout, end.stderr], [4, 'common own\n3 a 3\n', '']);
  assert.equal(read(work, 'distribute_save/where'), `${work}\n`);
});

test('many files of a job, and links to nowhere, come to those of the batch', (t) => {
  const node = new Node(t);
  const many = Array.from({ length: 250 }, (_, at) => [`own/f${at}`, ''] as const);
  const job = '#!/bin/sh\nls -A input | wc -l; cat input/f7\n';
  const files = { 'shared/f7': 'common', 'program/job.sh': job, ...Object.fromEntries(many) };
  const work = node.task('t', { ...files, 'own/f7': 'own', 'own/.hidden': '' });
  symlinkSync('nowhere', path.join(work, '_weft/own/link'));
  const end = node.run(work, batchOf({}));
  assert.deepEqual([end.status, end.stdout, end.stderr], [0, '252\nown', '']);
});

const BUILT = {
  solver: { build: 'build.sh' },
  jobs: [{ name: 'a', run: 'job.sh', args: [] }],
};
const BUILD =
  '#!/bin/sh\ncat input/mesh > solver; echo built >> "$COUNT"; echo compiling; test ! -e "$FAIL"\n';
const JOB = '#!/bin/sh\ncat solver; ls -A input; echo changed > solver\n';
const FILES = { 'shared/mesh': 'mesh\n', 'build/build.sh': BUILD, 'program/job.sh': JOB };

function counted(node: Node) {
  const count = path.join(node.folder, 'count');
  const fail = path.join(node.folder, 'fail');
  const more = { COUNT: count, FAIL: fail };
  const builds = () => (existsSync(count) ? read(count).trim().split('\n').length : 0);
  return { builds, fail, more };
}

test('[B7] the solver is built once on a node, and every job begins with what the build left', (t) => {
  const node = new Node(t);
  const { builds, more } = counted(node);
  for (const name of ['t1', 't2']) {
    const work = node.task(name, FILES);
    const end = node.run(work, batchOf(BUILT), more);
    assert.deepEqual([end.status, end.stdout], [0, 'mesh\nmesh\n'], end.stderr);
    const log = path.join(work, BUILD_LOG_FILE);
    assert.equal(existsSync(log) && read(log), name === 't1' && 'compiling\n', 'goes with one');
    assert.equal(end.stderr.includes('compiling'), name === 't1', 'its log is live');
  }
  assert.equal(builds(), 1);
  assert.equal(read(node.builds, 'key/log'), 'compiling\n');
  assert.deepEqual(readdirSync(path.join(node.builds, 'key/products')).sort(), [
    'build.sh',
    'solver',
  ]);
});

test('[B7] a program takes the place of what the build has left under its name', (t) => {
  const node = new Node(t);
  const { more } = counted(node);
  const { 'program/job.sh': job, ...others } = FILES;
  const build = `${BUILD}echo 'echo product' > job.sh; mkdir lib; echo l > lib/l; echo h > .hidden\n`;
  const work = node.task('t1', { ...others, 'build/build.sh': build });
  const own = `${job}cat lib/l .hidden\n`;
  writeFileSync(path.join(work, 'job.sh'), own, { mode: 0o755 });
  const end = node.run(work, batchOf(BUILT), more);
  assert.deepEqual([end.status, end.stdout], [0, 'mesh\nmesh\nl\nh\n'], end.stderr);
});

test('[B7] tasks that start together build once', async (t) => {
  const node = new Node(t);
  const { builds, more } = counted(node);
  const ends = ['t1', 't2', 't3'].map((name) => {
    const { command, args, options } = node.start(node.task(name, FILES), batchOf(BUILT), more);
    const child = spawn(command, args, { ...options, stdio: 'ignore' });
    return new Promise((resolve) => child.once('exit', resolve));
  });
  assert.deepEqual(await Promise.all(ends), [0, 0, 0]);
  assert.equal(builds(), 1);
});

test('[B7] a failed build is told by its own signal, is not tried again by the same batch', (t) => {
  const node = new Node(t);
  const { builds, fail, more } = counted(node);
  writeFileSync(fail, '');
  for (const name of ['t1', 't2']) {
    const work = node.task(name, FILES);
    const end = node.run(work, batchOf(BUILT), more);
    assert.equal(end.status, null);
    assert.match(read(work, BUILD_LOG_FILE), /the build ended with exit code 1/);
    // One that Node.js has a name for: of another it tells exit code 0, as launchers do without C.
    assert.equal(constants.signals[end.signal ?? 'SIGTERM'], BUILD_FAILED_SIGNAL);
    assert.match(end.stderr, /compiling\nweft: the build ended with exit code 1\n$/);
  }
  assert.equal(builds(), 1, 'the second has read the log');
  rmSync(fail);
  const other = node.run(node.task('t3', FILES), batchOf(BUILT), { ...more, WEFT_BATCH: 'lab/x' });
  assert.deepEqual([other.status, builds()], [0, 2], 'another batch tries');
});

test('[B7] a builder that is killed leaves the lock, and the next builds anew', async (t) => {
  const node = new Node(t);
  const { builds, more } = counted(node);
  const hanging = {
    ...FILES,
    'build/build.sh': '#!/bin/sh\necho half > solver; echo $$; exec sleep 600 >&-\n',
  };
  const { command, args, options } = node.start(node.task('t1', hanging), batchOf(BUILT), more);
  const child = spawn(command, args, {
    ...options,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const group = child.pid as number;
  t.after(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-group, 'SIGKILL');
  });
  await new Promise((resolve) =>
    child.stderr?.on('data', (data) => /^\d+$/m.test(`${data}`) && resolve(null)),
  );
  process.kill(-group, 'SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  const end = node.run(node.task('t2', FILES), batchOf(BUILT), more);
  assert.deepEqual([end.status, end.stdout, builds()], [0, 'mesh\nmesh\n', 1], end.stderr);
  assert.deepEqual(readdirSync(path.join(node.builds, 'key')).sort(), [
    'done',
    'lock',
    'log',
    'products',
  ]);
});
