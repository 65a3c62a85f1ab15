// Batches in real containers on a cluster: a host with docker, one with podman, one with neither.
// Jobs run where their engine is, and whatever ends a job ends its container too.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect, WorkerLost } from '../../src/library.ts';
import {
  ask,
  containers,
  type Engine,
  HostEngines,
  importNode,
  OF_IMAGE,
  saveImage,
  whyNoEngines,
} from './support/container-engines.ts';
import { HostedCluster, QUICK } from './support/hosted-cluster.ts';
import { commandLine, until } from './support/hosts.ts';
import { cleanEnvironment, repository, runProgram, type Said } from './support/local-cluster.ts';

const WEFT = join(repository, 'bin', 'weft.mjs');

const PROGRAM = `#!/bin/sh
echo "$* in $(pwd) as $(id -u), $WEFT_JOB_NAME of $WEFT_BATCH"
cp /input/own "$WEFT_SAVE/own" && cp /input/own /data/own
case $1 in
  fail) exit 3 ;;
  hang) exec sleep 600 ;;
esac
`;

const HOSTS = { n1: 'docker', n2: 'podman', n3: null } as const;

describe('batches in containers on a cluster', { skip: whyNoEngines(), timeout: 900_000 }, () => {
  let cluster: HostedCluster;
  const engines = new HostEngines();
  let folder = '';

  before(async () => {
    cluster = await HostedCluster.start(3, QUICK, { head: '1g', lastNode: '512m' }, (host, at) => {
      return engines.prepare(host, HOSTS[host.name as keyof typeof HOSTS], at);
    });
    folder = join(cluster.directory, 'batches');
    mkdirSync(folder);
    writeFileSync(join(folder, 'own.txt'), 'own\n');
    writeFileSync(join(folder, 'broken.tar'), 'this is no archive\n');
  });
  after(async () => {
    await cluster?.close();
    await engines.close();
  });

  const weft = (...args: string[]): Promise<Said> => {
    const env = cleanEnvironment({ WEFT_SOCKET: cluster.socketPath });
    return runProgram([process.execPath, WEFT, ...args], { cwd: folder, env });
  };
  const ok = async (...args: string[]): Promise<string> => {
    const { code, out, error } = await weft(...args);
    assert.equal(code, 0, `weft ${args.join(' ')}: ${out}${error}`);
    return out;
  };
  const write = (name: string, solver: string, jobs: string): string => {
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, `namespace: lab\nname: ${name}\nsolver: ${solver}\njobs: [${jobs}]\n`);
    return file;
  };
  const shown = async (name: string): Promise<Shown> => {
    return JSON.parse(await ok('batch', 'show', `lab/${name}`, '-o', 'json')) as Shown;
  };
  const done = (name: string): Promise<Shown> => {
    return until(`lab/${name} is done`, async () => {
      const batch = await shown(name);
      return batch.state === 'done' ? batch : undefined;
    });
  };
  const own = 'files: [{path: own.txt, as: own}]';

  it('say which of their nodes can run which of them, and why not', async () => {
    assert.match(await ok('node', 'show', 'n1'), /^Labels: .*\bdocker\b/m);
    assert.match(await ok('node', 'show', 'n2'), /^Containers: .*podman \d/m);
    const none = await ok('node', 'show', 'n3');
    assert.match(none, /^Containers: +docker cannot be used: Cannot connect to the Docker daemon/m);
    assert.doesNotMatch(none, /^Labels: .*\b(docker|podman)\b/m);
    const file = write('checked', '{docker: debian:12}', '{name: a}');
    assert.match(await ok('batch', 'check', file), /^1 of 3 nodes could run it/m);
  });

  // Side by side: what each waits for is on another node.
  describe('of both engines', { concurrency: 2 }, () => {
    for (const [node, kind] of [
      ['n1', 'docker'],
      ['n2', 'podman'],
    ] as const) {
      describe(`of ${kind}`, { concurrency: 1 }, () => {
        let engine: Engine;
        let image = '';

        before(async () => {
          engine = engines.engine(cluster.member(node).host, kind);
          await saveImage(engine, { folder, program: PROGRAM, name: 'solver:1' });
          image = `{${kind}: ${kind}.tar, mounts: [/data]}`;
        });

        /** Submits a batch whose only job hangs; comes back when its container is there. */
        const hanging = async (name: string): Promise<string> => {
          const job = `{name: a, cpus: 1, args: [hang], ${own}}`;
          await ok('batch', 'submit', write(name, image, job));
          return until('its container is there', async () => {
            const logs = await weft('batch', 'logs', `lab/${name}`, 'a');
            return logs.out.startsWith('hang in /srv') ? (await containers(engine))[0] : undefined;
          });
        };
        it('run where it is, by an image that was loaded once', async () => {
          const jobs = ['a', 'b', 'c'].map((job) => `{name: ${job}, cpus: 1, args: [x], ${own}}`);
          const bad = `{name: bad, cpus: 1, args: [fail], ${own}}`;
          const name = `all-${kind}`;
          await ok('batch', 'submit', write(name, image, [...jobs, bad].join(', ')));
          const batch = await done(name);
          assert.deepEqual(batch.ended, { completed: 3, failed: 1 });
          for (const { nodes } of batch.jobs) assert.deepEqual(nodes, [node]);
          const log = await ok('batch', 'logs', `lab/${name}`, 'a');
          assert.equal(log, `x in /srv as 0, a of lab/${name}\n`);
          let loads = 0;
          for (const job of ['a', 'b', 'c', 'bad']) {
            const { out } = await weft('batch', 'logs', `lab/${name}`, job, '-e');
            loads += out.split('Loaded image').length - 1;
          }
          assert.equal(loads, 1);
          const results = join(folder, 'results');
          await ok('batch', 'pull', `lab/${name}`, '--save-dir', results);
          const pulled = join(results, 'lab', name);
          assert.deepEqual(
            readdirSync(pulled)
              .filter((one) => !one.startsWith('_'))
              .sort(),
            [...['a', 'b', 'bad', 'c']],
          );
          assert.equal(readFileSync(join(pulled, 'bad', 'own'), 'utf8'), 'own\n');
          assert.deepEqual(await containers(engine), []);
        });

        it('end with their container when they are cancelled or out of time', async () => {
          await hanging(`cancelled-${kind}`);
          await ok('batch', 'cancel', `lab/cancelled-${kind}`);
          assert.equal((await done(`cancelled-${kind}`)).outcome, 'cancelled');
          assert.deepEqual(await containers(engine), []);
          const late = `{name: a, cpus: 1, args: [hang], time: 5s, ${own}}`;
          await ok('batch', 'submit', write(`late-${kind}`, image, late));
          assert.deepEqual((await done(`late-${kind}`)).ended, { timeout: 1 });
          assert.deepEqual(await containers(engine), []);
        });

        it('stand still with their container', async () => {
          const name = `paused-${kind}`;
          const container = await hanging(name);
          const stateIs = (wanted: string) =>
            until(`its container is ${wanted}`, async () => {
              const state = await ask(
                engine,
                'inspect',
                '--format',
                '{{.State.Status}}',
                container,
              );
              return state === wanted || undefined;
            });
          const [id = 0] = (await shown(name)).jobIds;
          await ok('suspend', String(id));
          await stateIs('paused');
          await ok('resume', String(id));
          await stateIs('running');
          await ok('batch', 'cancel', `lab/${name}`);
          await done(name);
          assert.deepEqual(await containers(engine), []);
        });

        it('leave no container when the client, or agent and client, are killed', async () => {
          const first = await hanging(`client-${kind}`);
          kill(`${kind} run `, ` ${first} `);
          assert.deepEqual((await done(`client-${kind}`)).ended, { failed: 1 });
          assert.deepEqual(await containers(engine), []);
          const member = cluster.member(node);
          const second = await hanging(`agent-${kind}`);
          await cluster.killAgent(member);
          killIn(`${member.place}/`, 'in_container');
          assert.deepEqual(await containers(engine), [second], 'nobody was there to end it');
          await cluster.startAgent(member);
          await until('it is gone', async () => {
            return !(await containers(engine)).includes(second) || undefined;
          });
          // On a slow machine the node was away for so long that the job runs again.
          await weft('batch', 'cancel', `lab/agent-${kind}`);
          await done(`agent-${kind}`);
          assert.deepEqual(await containers(engine), []);
        });

        it('[K14] run workers of pools, and leave none of their containers', async () => {
          await importNode(engine, folder, 'lab/node:24');
          const name = `calls-${kind}`;
          const wish = ['-n', '1', '--cpus', '1', '--memory', '300M', '--private'];
          const image = ['--image', 'lab/node:24', '--engine', kind];
          await ok('pool', 'start', '--name', name, ...wish, ...image);
          const client = await connect({ socket: cluster.socketPath, environment: {} });
          try {
            const pool = await client.pool({ name });
            const seen = await pool.run(() => [existsSync(OF_IMAGE), process.cwd()] as const);
            assert.deepEqual([seen[0], existsSync(OF_IMAGE)], [true, false]);
            assert.match(seen[1], /\/work\/\d+\.0-1$/);
            const [first = ''] = await containers(engine);
            const lost = pool.submit(() => new Promise<void>(() => setInterval(Object, 1000)));
            await until('it runs', () => lost.state === 'running' || undefined);
            // The script, which would see the end of its container: the agent has to remove it.
            const [script = 0] = pidsOf('/bin/sh', ` ${first} `);
            process.kill(script, 'SIGKILL');
            await assert.rejects(lost, WorkerLost);
            assert.equal(await pool.run((x: number) => 2 * x, 21), 42);
            const [second = ''] = await containers(engine);
            assert.notEqual(second, first);
            await pool.stop();
          } finally {
            client.close();
          }
          await until('no container is left', async () => {
            return (await containers(engine)).length === 0 || undefined;
          });
        });

        it('fail in its words when there is no image', async () => {
          const name = `broken-${kind}`;
          await ok('batch', 'submit', write(name, `{${kind}: broken.tar}`, '{name: a, cpus: 1}'));
          const { outcome, failedBuilds } = await done(name);
          assert.equal(outcome, 'build_failed');
          const [{ id, epoch } = { id: '', epoch: 0 }] = failedBuilds;
          const said = await weft('logs', '-f', '-e', id, '--epoch', String(epoch));
          assert.match(said.out, /unexpected EOF[\s\S]*weft: the image cannot be used\n$/);
        });
      });
    }
  });
});

/** Ends like kill -9 the processes whose command line has all of these words. */
function kill(...words: string[]): void {
  const pids = pidsOf(...words);
  assert.ok(pids.length > 0, `${words.join(', ')} runs`);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
}

/** The same of those that work below a folder: a job's script is an argument, and names none. */
function killIn(folder: string, word: string): void {
  const pids = pidsOf(word).filter((pid) => standsIn(pid).startsWith(folder));
  assert.ok(pids.length > 0, `${word} runs in ${folder}`);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
}

/** Empty for a process of anybody that has gone meanwhile. */
function standsIn(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function pidsOf(...words: string[]): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const line = commandLine(pid);
      return words.every((word) => line.includes(word));
    });
}

interface Shown {
  readonly state: string;
  readonly outcome: string | null;
  readonly ended: Readonly<Record<string, number>>;
  readonly jobIds: readonly number[];
  readonly jobs: readonly { readonly name: string; readonly nodes: readonly string[] }[];
  readonly failedBuilds: readonly { readonly id: string; readonly epoch: number }[];
}
