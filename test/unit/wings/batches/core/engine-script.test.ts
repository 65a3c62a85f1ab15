// Jobs in docker and podman: the shell text that fetches images and runs containers, with a program
// that stands for the engine. test/e2e/containers.test.ts has real ones.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { batchOf, Node } from './task-node.ts';

/** Writes down its words, a line for each call; `run` does what the image's name says. */
const ENGINE = `#!/bin/sh
echo "$*" >> "$ENGINE/calls"
case "$1 $2" in
  'image inspect') [ -e "$ENGINE/has-$5" ] && echo "sha256:of-\${5#sha256:of-}" ;;
  'load '*) [ "$(cat "$3")" = good ] || { echo 'no archive'; exit 1; }
    : > "$ENGINE/has-wing:1"; : > "$ENGINE/has-sha256:of-wing:1"; echo 'Loaded image: wing:1' ;;
  'pull '*) echo "no registry has $2"; exit 1 ;;
  'info '*) echo '[cpu memory]' ;;
  'run '*) for last in "$@"; do :; done; . "$ENGINE/run" ;;
esac
`;

class Engine {
  readonly node: Node;
  readonly folder: string;
  readonly #kind: string;

  constructor(t: TestContext, kind: string, run: string) {
    this.node = new Node(t);
    this.#kind = kind;
    this.folder = path.join(this.node.folder, 'engine');
    mkdirSync(this.folder);
    writeFileSync(path.join(this.folder, 'calls'), '');
    writeFileSync(path.join(this.folder, 'run'), run);
    writeFileSync(path.join(this.folder, kind), ENGINE);
    chmodSync(path.join(this.folder, kind), 0o755);
  }

  get variables() {
    const PATH = `${this.folder}:${process.env['PATH']}`;
    return { PATH, ENGINE: this.folder, WEFT_LAUNCH: 'a1b2:7', WEFT_MEMORY_BYTES: '0' };
  }

  has(image: string): void {
    writeFileSync(path.join(this.folder, `has-${image}`), '');
  }

  /** Those that begin with this word. */
  calls(word: string): string[] {
    const lines = readFileSync(path.join(this.folder, 'calls'), 'utf8').split('\n');
    return lines.filter((line) => line.startsWith(`${word} `));
  }

  mark(work: string): boolean {
    return existsSync(path.join(work, `_weft/container-${this.#kind}`));
  }
}

const ARCHIVED = { jobs: [{ name: 'a', args: ['{{cpus}}', "it's"] }] };

test('[B7] an image is loaded once on a node, and its jobs run by its number', async (t) => {
  const engine = new Engine(t, 'docker', 'echo "ran $last"');
  const batch = batchOf({ ...ARCHIVED, solver: { docker: 'wing.tar', mounts: ['/data'] } });
  const works = ['t1', 't2', 't3'].map((name) => engine.node.task(name, { image: 'good' }));
  const ends = works.map((work) => {
    const { command, args, options } = engine.node.start(work, batch, engine.variables);
    const child = spawn(command, args, { ...options, stdio: 'ignore' });
    return new Promise((resolve) => child.once('exit', resolve));
  });
  assert.deepEqual(await Promise.all(ends), [0, 0, 0]);
  assert.equal(engine.calls('load').length, 1);
  const [work = ''] = works;
  const user = `${process.getuid?.()}:${process.getgid?.()}`;
  const said = engine.calls('run').find((line) => line.includes(`${work}/`)) ?? '';
  assert.ok(said.startsWith('run --rm --init --pull never --name weft-a1b2-7 --user '), said);
  assert.ok(said.includes(` --user ${user} `), said);
  assert.ok(said.includes(`--volume ${work}/distribute_save:/distribute_save:rw`), said);
  assert.ok(said.includes(`--volume ${work}/_bind_path_0:/data:rw`), said);
  assert.match(said, /--env OMP_NUM_THREADS --cpus [1-3] sha256:of-wing:1 3 it's$/);
  assert.ok(!engine.mark(work), 'nothing is left for the node to end');
  const kept = path.join(engine.node.builds, 'key');
  assert.ok(existsSync(path.join(kept, 'done')), 'by its time the node sees when it was used');
  assert.equal(readFileSync(path.join(kept, 'log'), 'utf8'), 'Loaded image: wing:1\n');
});

test('a container gets the gpus of its job, and the variables of the batch', (t) => {
  for (const [kind, own, all] of [
    ['docker', '--gpus "device=1,3"', '--gpus all'],
    [
      'podman',
      '--device nvidia.com/gpu=3 --device nvidia.com/gpu=1',
      '--device nvidia.com/gpu=all',
    ],
  ] as const) {
    const engine = new Engine(t, kind, 'echo "ran $SEED"');
    engine.has('debian:12');
    const said = (written: object, gpus: string): string => {
      const batch = batchOf({ env: { SEED: 7 }, ...written } as never);
      const work = engine.node.task(`t${engine.calls('run').length}`, {});
      const end = engine.node.run(work, batch, { ...engine.variables, SEED: '7', WEFT_GPUS: gpus });
      assert.deepEqual([end.status, end.stdout], [0, 'ran 7\n'], end.stderr);
      return engine.calls('run').at(-1) ?? '';
    };
    const asked = { jobs: [{ name: 'a', cpus: 1, gpus: 2 }], solver: { [kind]: 'debian:12' } };
    assert.ok(said(asked, '1,3').includes(` ${own} `));
    assert.ok(said(asked, '').includes('--env SEED '));
    assert.doesNotMatch(said(asked, ''), /gpu/, 'where nobody gives them out');
    const whole = { jobs: [{ name: 'a' }], solver: { [kind]: 'debian:12', gpu: true } };
    assert.ok(said(whole, '1,3').includes(` ${own} `));
    assert.ok(said(whole, '').includes(` ${all} `));
    const without = { jobs: [{ name: 'a' }], solver: { [kind]: 'debian:12' } };
    assert.doesNotMatch(said(without, '1,3'), /gpu/);
  }
});

test('limits are those of the job, and as far as podman can set them', (t) => {
  const engine = new Engine(t, 'podman', 'echo ran');
  engine.has('debian:12');
  const batch = batchOf({ ...ARCHIVED, solver: { podman: 'debian:12' } });
  const variables = { ...engine.variables, WEFT_MEMORY_BYTES: '64', WEFT_CPUS: '1' };
  const run = (work: string) => engine.node.run(engine.node.task(work, {}), batch, variables);
  assert.equal(run('t1').status, 0);
  assert.match(engine.calls('run')[0] ?? '', / --user 0:0 .* --cpus 1 --memory 64 sha256:/);
  const program = path.join(engine.folder, 'podman');
  writeFileSync(program, ENGINE.replace('[cpu memory]', '[]'));
  assert.equal(run('t2').status, 0);
  assert.doesNotMatch(engine.calls('run')[1] ?? '', /--cpus|--memory/);
});

test('[B7] an archive that cannot be loaded is a build that has failed, in the words of docker', (t) => {
  const engine = new Engine(t, 'docker', '');
  const batch = batchOf({ ...ARCHIVED, solver: { docker: 'wing.tar' } });
  for (const name of ['t1', 't2']) {
    const work = engine.node.task(name, { image: 'bad' });
    const end = engine.node.run(work, batch, engine.variables);
    assert.equal(end.status, null, 'ended by a signal');
    assert.match(end.stderr, /no archive\nweft: the image cannot be used\n$/);
  }
  assert.equal(engine.calls('load').length, 1, 'the second has read the log');
});

test('[B7] an image is pulled only where it is missing', (t) => {
  const engine = new Engine(t, 'docker', '');
  const batch = batchOf({ ...ARCHIVED, solver: { docker: 'debian:12' } });
  const end = engine.node.run(engine.node.task('t1', {}), batch, engine.variables);
  assert.equal(end.status, null, 'ended by a signal');
  assert.match(end.stderr, /no registry has debian:12\nweft: the image cannot be used\n$/);
  engine.has('debian:12');
  const more = { ...engine.variables, WEFT_BATCH: 'lab/other' };
  assert.equal(engine.node.run(engine.node.task('t2', {}), batch, more).status, 0);
  assert.equal(engine.calls('pull').length, 1);
});

test('a job ends as its container does, and one that may still be there is ended', (t) => {
  const engine = new Engine(t, 'docker', 'exit $(cat "$ENGINE/code")');
  engine.has('debian:12');
  const batch = batchOf({ ...ARCHIVED, solver: { docker: 'debian:12' } });
  const endWith = (code: number) => {
    writeFileSync(path.join(engine.folder, 'code'), String(code));
    const work = engine.node.task(`t${code}`, {});
    return { work, status: engine.node.run(work, batch, engine.variables).status };
  };
  const failed = endWith(3);
  assert.deepEqual([failed.status, engine.mark(failed.work)], [3, false]);
  assert.deepEqual(engine.calls('rm'), []);
  const killed = endWith(137);
  assert.deepEqual([killed.status, engine.mark(killed.work)], [137, true]);
  assert.deepEqual(engine.calls('rm'), ['rm --force weft-a1b2-7']);
});

for (const [kind, said] of [
  ['podman', 'Error: could not find slirp4netns: executable file not found in $PATH'],
  ['docker', 'docker: Error response from daemon: failed to create shim task'],
] as const) {
  test(`[B7] a ${kind} that starts no container is a build that has failed, not a job`, (t) => {
    const engine = new Engine(t, kind, `echo '${said}' >&2; exit 127`);
    engine.has('debian:12');
    const batch = batchOf({ ...ARCHIVED, solver: { [kind]: 'debian:12' } });
    const work = engine.node.task('t', {});
    const end = engine.node.run(work, batch, engine.variables);
    assert.equal(end.status, null, 'ended by a signal');
    assert.ok(end.stderr.includes(`weft: ${kind} starts no container on `), end.stderr);
    assert.ok(end.stderr.endsWith(`${said}\n`), end.stderr);
    assert.ok(readFileSync(path.join(work, '.weft_build.log'), 'utf8').endsWith(`${said}\n`));
  });

  test(`a job that ends with a code of ${kind} is a job that failed`, (t) => {
    const init = kind === 'podman' ? 'ERROR (catatonit:6): failed' : '[FATAL tini (7)] exec failed';
    const run = `case "$*" in *--entrypoint*) echo '${init}' >&2; exit 127 ;; esac; exit 127`;
    const engine = new Engine(t, kind, run);
    engine.has('debian:12');
    const batch = batchOf({ ...ARCHIVED, solver: { [kind]: 'debian:12' } });
    const end = engine.node.run(engine.node.task('t', {}), batch, engine.variables);
    assert.deepEqual([end.status, end.stderr], [127, '']);
  });
}

for (const kind of ['docker', 'podman'] as const) {
  test(`[B7] a node without ${kind} has failed to build, and names where it has looked`, (t) => {
    const engine = new Engine(t, kind, 'echo ran');
    const batch = batchOf({ jobs: [{ name: 'a' }], solver: { [kind]: 'debian:12' } });
    const bin = programsBut(engine.node, kind);
    const run = (name: string, PATH: string) =>
      engine.node.run(engine.node.task(name, {}), batch, { ...engine.variables, PATH });
    const end = run('t1', bin);
    assert.equal(end.status, null, 'ended by a signal');
    assert.match(
      end.stderr,
      new RegExp(
        `^weft: ${kind} is not found on \\S+, in PATH=${bin}:/usr/local/sbin:/usr/sbin:/sbin$`,
        'm',
      ),
    );
    const log = readFileSync(path.join(engine.node.folder, 't1/.weft_build.log'), 'utf8');
    assert.match(log, new RegExp(`^weft: ${kind} is not found on `));
    engine.has('debian:12');
    assert.equal(run('t2', `${engine.folder}:${bin}`).stdout, 'ran\n', 'when it is there');
  });
}

/** All programs of this machine but that one, in one folder. */
function programsBut({ folder }: Node, kind: string): string {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  for (const place of ['/usr/bin', '/bin']) {
    for (const name of readdirSync(place)) {
      const link = path.join(bin, name);
      if (name !== kind && !existsSync(link)) symlinkSync(path.join(place, name), link);
    }
  }
  return bin;
}

test('[B7] a node without apptainer has failed to build, and names where it has looked', (t) => {
  const node = new Node(t);
  const batch = batchOf({ jobs: [{ name: 'a' }], solver: { image: 'wing.sif' } });
  const bin = path.join(node.folder, 'bin');
  const run = (name: string) => {
    return node.run(node.task(name, { image: '' }), batch, { PATH: `${bin}:/usr/bin:/bin` });
  };
  const end = run('t1');
  assert.equal(end.status, null, 'ended by a signal');
  assert.match(
    end.stderr,
    /^weft: apptainer is not found on \S+, in PATH=\S+\/bin:\/usr\/bin:\/bin$/m,
  );
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'singularity'), '#!/bin/sh\necho ran\n');
  chmodSync(path.join(bin, 'singularity'), 0o755);
  assert.deepEqual([run('t2').status, run('t3').stdout], [0, 'ran\n']);
  assert.ok(existsSync(path.join(node.folder, 't3/_weft/built')));
});

test('a task that is told to end waits for its container', async (t) => {
  const wait = 'trap "echo told; exit 143" TERM; echo up; while :; do sleep 0.05; done';
  const engine = new Engine(t, 'docker', wait);
  engine.has('debian:12');
  const batch = batchOf({ ...ARCHIVED, solver: { docker: 'debian:12' } });
  const { command, args, options } = engine.node.start(
    engine.node.task('t', {}),
    batch,
    engine.variables,
  );
  const child = spawn(command, args, { ...options, detached: true, stdio: 'pipe' });
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
    if (said === 'up\n') process.kill(-(child.pid as number), 'SIGTERM');
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.deepEqual([code, said], [143, 'up\ntold\n']);
});
