// Batches in real containers: docker and podman, on one machine and on a cluster. Whatever ends a
// job ends its container too.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  asNobody,
  containers,
  type Kind,
  NOBODY,
  type OwnEngine,
  saveImage,
  startDocker,
  startPodman,
  whyNoEngines,
} from './support/container-engines.ts';
import { until } from './support/hosts.ts';
import { repository, runProgram, type Said } from './support/local-cluster.ts';

const WEFT = join(repository, 'bin', 'weft.mjs');

/** Says where and who it is, keeps its input, and ends as its arguments say. */
const PROGRAM = `#!/bin/sh
echo "$* in $(pwd) as $(id -u), $WEFT_JOB_NAME of $WEFT_BATCH"
echo "to stderr" >&2
cat /sys/fs/cgroup/memory/memory.limit_in_bytes || cat /sys/fs/cgroup/memory.max
cp "$WEFT_INPUT/own" "$WEFT_SAVE/own" && touch "$WEFT_SAVE/.gone" && cp /input/own /data/own
case $1 in
  fail) exit 3 ;;
  hang) exec sleep 600 ;;
esac
`;

const skip = whyNoEngines();

for (const kind of ['docker', 'podman'] as const) {
  describe(`batches in ${kind} on one machine`, { skip, timeout: 900_000 }, () => {
    onOneMachine(kind);
  });
}

function onOneMachine(kind: Kind): void {
  const directory = mkdtempSync(join(tmpdir(), `weft-${kind}-`));
  let engine: OwnEngine;

  before(async () => {
    // Other users pass through.
    chmodSync(directory, 0o755);
    const place = join(directory, 'engine');
    engine = kind === 'docker' ? await startDocker(place) : startPodman(place);
    await saveImage(engine, { folder: directory, program: PROGRAM, name: 'solver:1' });
    writeFileSync(join(directory, 'own.txt'), 'own\n');
    writeFileSync(join(directory, 'broken.tar'), 'this is no archive\n');
  });
  after(async () => {
    await engine?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const write = (name: string, solver: string, jobs: string): string => {
    const file = join(directory, `${name}.yaml`);
    writeFileSync(file, `namespace: lab\nname: ${name}\nsolver: ${solver}\njobs: [${jobs}]\n`);
    return file;
  };
  const image = `{${kind}: ${kind}.tar, mounts: [/data]}`;
  const own = 'files: [{path: own.txt, as: own}]';
  const argv = (file: string, ...more: string[]) => {
    return [process.execPath, WEFT, 'batch', 'run', '--local', file, ...more];
  };
  const run = (file: string, ...more: string[]): Promise<Said> => {
    return runProgram(argv(file, ...more), { cwd: directory, env: engine.env });
  };
  const archived = (...names: string[]): string => join(directory, 'archive', 'lab', ...names);
  const outcomeOf = (batch: string, job: string): [outcome: string, exitCode: number | null] => {
    const text = readFileSync(archived(batch, job, '_weft', 'manifest.json'), 'utf8');
    const { outcome, exitCode } = JSON.parse(text) as { outcome: string; exitCode: number | null };
    return [outcome, exitCode];
  };
  /** Begins a batch whose only job hangs; comes back when its container is there. */
  const hanging = async (name: string, ...more: string[]) => {
    const file = write(name, image, `{name: a, cpus: 1, args: [hang], ${own}}`);
    const begun = join(archived(name, '_work', 'jobs', 'a', 'distribute_save'), '.gone');
    rmSync(begun, { force: true });
    const child = spawn(process.execPath, argv(file, ...more).slice(1), {
      cwd: directory,
      env: engine.env,
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await until('the job has begun', () => existsSync(begun) || undefined);
    assert.equal((await containers(engine)).length, 1);
    return { child, ended, file };
  };
  const none = () =>
    until('no container is left', async () => {
      return (await containers(engine)).length === 0 || undefined;
    });

  it('gives jobs what they ask for, and keeps what they leave', async () => {
    const jobs = [
      `{name: good, cpus: 1, memory: 64M, args: ["{{cpus}}", two words], ${own}}`,
      `{name: bad, cpus: 1, args: [fail], ${own}}`,
    ];
    const { code, out, error } = await run(write('both', image, jobs.join(', ')));
    assert.equal(code, 1, `${out}${error}`);
    assert.deepEqual(outcomeOf('both', 'good'), ['completed', 0]);
    assert.deepEqual(outcomeOf('both', 'bad'), ['failed', 3]);
    const [said, limit] = readFileSync(archived('both', 'good', '_weft/stdout'), 'utf8').split(
      '\n',
    );
    assert.equal(said, '1 two words in /srv as 0, good of lab/both');
    assert.equal(limit, String(64 * 1_048_576));
    assert.match(readFileSync(archived('both', 'bad', '_weft/stderr'), 'utf8'), /^to stderr$/m);
    assert.equal(readFileSync(archived('both', 'bad', 'own'), 'utf8'), 'own\n');
    const [log = ''] = readdirSync(archived('both', '_build'));
    assert.match(readFileSync(archived('both', '_build', log), 'utf8'), /^Loaded image: /m);
    assert.deepEqual(await containers(engine), []);
  });

  it('ends the container of a job that is out of time', async () => {
    const job = `{name: a, cpus: 1, time: 1s, args: [hang], ${own}}`;
    const { code } = await run(write('late', image, job));
    assert.equal(code, 1);
    const [outcome] = outcomeOf('late', 'a');
    assert.equal(outcome, 'timeout');
    assert.deepEqual(await containers(engine), []);
  });

  it('ends it when the run is told to end, and when it is killed', async () => {
    const { child, ended } = await hanging('killed');
    child.kill('SIGKILL');
    await ended;
    await none();
    const again = await hanging('killed', '--resume');
    again.child.kill('SIGTERM');
    await again.ended;
    assert.deepEqual(await containers(engine), []);
    assert.deepEqual(outcomeOf('killed', 'a'), ['cancelled', 143]);
  });

  it('ends what was left when everything was killed, at the next start', async () => {
    const { child, ended } = await hanging('left');
    const pids = archived('left', '_work', 'pids');
    const [mark = ''] = readdirSync(pids);
    const { pid } = JSON.parse(readFileSync(join(pids, mark), 'utf8')) as { pid: number };
    child.kill('SIGSTOP');
    process.kill(-pid, 'SIGKILL');
    child.kill('SIGKILL');
    await ended;
    const [name] = await containers(engine);
    assert.ok(name !== undefined, 'nobody was there to end it');
    const again = await hanging('left', '--resume');
    again.child.kill('SIGTERM');
    await again.ended;
    assert.deepEqual(await containers(engine), []);
  });

  it('runs an export in it, as the user of the job', async () => {
    const jobs = ['a', 'b'].map((name) => `{name: ${name}, args: [x], ${own}}`);
    const file = write('exported', image, jobs.join(', '));
    const made = [process.execPath, WEFT, 'batch', 'export', 'slurm', 'out', file];
    const { code, out, error } = await runProgram(made, { cwd: directory, env: engine.env });
    assert.equal(code, 0, `${out}${error}`);
    const folder = join(directory, 'out');
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, folder]);
    const user = asNobody(engine, directory);
    try {
      for (const [at, job] of ['a', 'b'].entries()) {
        const place = join(folder, 'jobs', job);
        const slurm = { SLURM_SUBMIT_DIR: place, SLURM_JOB_ID: `7${at}`, SLURM_MEM_PER_NODE: '64' };
        const said = await runProgram([...user.enter, 'bash', join(place, 'job.sl')], {
          env: { ...user.env, ...slurm },
        });
        assert.equal(said.code, 0, said.error);
        const who = kind === 'docker' ? NOBODY : 0;
        assert.match(said.out, new RegExp(`^x in /srv as ${who}, ${job} of lab/exported$`, 'm'));
        assert.equal(said.error.includes('Loaded image'), job === 'a', 'loaded once');
        assert.equal(statSync(join(place, 'results', 'own')).uid, NOBODY);
        assert.equal(readFileSync(join(place, 'exit_code'), 'utf8'), '0\n');
      }
    } finally {
      await user.close();
    }
    assert.deepEqual(await containers(engine), []);
  });

  it('says in the words of the engine why there is no image', async () => {
    const archive = await run(write('broken', `{${kind}: broken.tar}`, '{name: a}'));
    assert.match(archive.error, /The build of lab\/broken failed \(exit code 1\)/);
    assert.match(archive.error, /unexpected EOF/);
    const unknown = await run(write('unknown', `{${kind}: 127.0.0.1:1/solver:7}`, '{name: a}'));
    assert.match(unknown.error, /127\.0\.0\.1:1.*connection refused/);
    assert.equal(existsSync(archived('unknown', 'a')), false);
  });
}
