// The compose files as an operator uses them: image built from the Dockerfile, cluster brought up,
// jobs of several users, a node cut off, the head restarted. Nothing comes from a network.

import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ROOT } from '../../tools/tree.ts';
import { DockerDaemon, whyNoDocker } from './support/docker-daemon.ts';
import { makeBaseFolder, makeToolsFolder } from './support/docker-image.ts';
import { DockerProject } from './support/docker-project.ts';
import { until } from './support/hosts.ts';

const IMAGE = 'weft:test';
const NODE_COUNT = 4;
const VARIABLES = { WEFT_IMAGE: IMAGE, WEFT_PORT: '15001', WEFT_USERS: 'alice bob:1002' };
/** No registry and no network: both images are made of files of this machine. */
const BUILD_FLAGS = '--network none --build-arg BASE=weft-base --build-arg TOOLS=weft-tools';
/** The file shows the beginning and the end of every run. */
const BEATS = 'echo begun >> beats; until [ -e go-on ]; do sleep 0.1; done; echo end >> beats';
const EAT_MEMORY = 'const all = []; for (;;) all.push(Buffer.alloc(1e6, 1));';

interface JobShown {
  readonly state: string;
  readonly outcome: { readonly kind: string } | null;
  readonly nodes: readonly string[];
}

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

describe('the compose files', { skip: whyNoDocker() }, () => {
  let directory: string;
  let daemon: DockerDaemon;
  let shared: DockerProject;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'weft-compose-'));
    daemon = await DockerDaemon.start(directory);
    await importImages(daemon, directory);
    shared = new DockerProject(daemon, {
      name: 'shared',
      files: ['compose.yaml'],
      variables: { ...VARIABLES, WEFT_HEAD_NODE_TIMEOUT: '5s' },
    });
    await shared.makeRun(NODE_COUNT, `BUILD_FLAGS=${BUILD_FLAGS}`);
  });

  after(async () => {
    await daemon?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  async function jobOf(user: string, id: string): Promise<JobShown> {
    return JSON.parse(await shared.mustAs(user, 'weft', 'job', id, '-o', 'json')) as JobShown;
  }

  /** Starts what runs until it may go on, in an emptied home directory. */
  async function startBeats(user: string): Promise<{ id: string; node: string }> {
    await shared.mustAs(user, 'rm', '-f', 'beats', 'go-on');
    const id = (await shared.mustAs(user, 'weft', 'run', BEATS)).trim();
    await until('the job beats', async () => (await beats(user)).length > 0 || undefined);
    const [node] = (await jobOf(user, id)).nodes;
    assert.ok(node, 'a running job has a node');
    return { id, node };
  }

  async function beats(user: string): Promise<string[]> {
    const { stdout } = await shared.as(user, 'cat', 'beats');
    return stdout.split('\n').filter((line) => line !== '');
  }

  it('brings up four nodes that limit jobs by cgroups and start them through the launcher', async () => {
    const nodes = await shared.nodes();
    assert.equal(nodes.length, NODE_COUNT);
    for (const { state, facts } of nodes) {
      assert.equal(state, 'up');
      assert.match(facts?.limits ?? '', /^cgroup/);
      assert.equal(facts?.launcher, 'c');
    }
  });

  it('keeps compiler and tools of development out of the image', async () => {
    const text = readFileSync(join(ROOT, 'package.json'), 'utf8');
    const { devDependencies, optionalDependencies } = JSON.parse(text) as Manifest;
    const tools = Object.keys({ ...devDependencies, ...optionalDependencies });
    assert.notEqual(tools.length, 0);
    const places = tools.map((name) => `/opt/weft/node_modules/${name}`);
    const there = await shared.as('root', 'ls', '-d', ...places, '/usr/bin/cc');
    assert.equal(there.stdout, '');
  });

  it('has the web page that was built here', async () => {
    const page = await shared.as('root', 'ls', '/opt/weft/dist/dashboard/index.html');
    assert.equal(page.code, 0, page.stderr);
  });

  it('runs the head as an ordinary user, whose secrets other users cannot read', async () => {
    assert.equal(await shared.mustAs('root', 'stat', '-c', '%U', '/proc/1'), 'weft\n');
    const secrets = ['/var/lib/weft/head/weft.db', '/run/weft-join/ticket'];
    for (const secret of secrets) {
      await shared.mustAs('root', 'test', '-s', secret);
      const { code, stderr } = await shared.as('alice', 'cat', secret);
      assert.equal(code, 1);
      assert.match(stderr, /Permission denied/);
    }
  });

  it('runs a job as the user who submitted it, and shows its output', async () => {
    for (const user of ['alice', 'bob']) {
      const output = await shared.mustAs(user, 'weft', 'run', '--follow', '--', 'id', '-un');
      assert.equal(output, `${user}\n`);
    }
  });

  it('gives the head a shell with the cm commands, in a home that jobs can write to', async () => {
    const submit = 'said=$(cmrun -n 2 hostname); echo "$said"; set -- $said';
    const line = `pwd; echo $HOME; cminfo; ${submit}; weft wait $2 >&2; cat cmlogs/*/$2/*.out.txt`;
    const plain = await shared.compose('exec', '-T', 'head', 'sh', '-c', line);
    assert.match(plain, /^(\/home\/weft\n){2}/);
    assert.match(plain, /Compute nodes/);
    const nodes = (await shared.nodes()).map(({ name }) => name);
    const told = plain.trim().split('\n').slice(-2);
    assert.ok(
      told.every((name) => nodes.includes(name)),
      plain,
    );
    assert.match(plain, /^Job \d+ started, pending resource allocation\.$/m);
  });

  it('takes a new account while it runs, and exec-head lands in its home', async () => {
    const line = 'id -un; pwd; touch here; weft run --follow -- stat -c %U here';
    const asked = ['exec-head', 'AS=carol', 'EXEC_FLAGS=-T', `COMMAND=sh -c '${line}'`];
    const told = (await shared.make(...asked)).trim().split('\n').slice(-3);
    assert.deepEqual(told, ['carol', '/home/carol', 'carol']);
    await assert.rejects(shared.make('user', 'NAME=../x'), /is not a login name/);
    const own = await shared.as('alice', 'weft-accounts', 'mallory');
    assert.notEqual(own.code, 0);
    const named = await shared.as('weft', 'weft-accounts', 'mallory');
    assert.deepEqual([named.code, named.stdout], [2, '']);
    await assert.rejects(shared.make('user', 'NAME=mallory:0'), /is not a uid of a user/);
  });

  it('refuses a job of root, and an operation that alice has no role for', async () => {
    const root = await shared.as('root', 'weft', 'run', '--wait', '--', 'true');
    assert.match(root.stderr, /root are refused/);
    assert.notEqual(root.code, 0);
    const [node] = await shared.nodes();
    const drain = await shared.as('alice', 'weft', 'node', 'drain', node?.name ?? '');
    assert.match(drain.stderr, /needs the role operator/);
    assert.equal(drain.code, 4);
  });

  it('lets a job write to the shared home, on every node', async () => {
    const line = 'hostname > on.$WEFT_NODE_RANK';
    await shared.mustAs('alice', 'weft', 'run', '--wait', '-n', `${NODE_COUNT}`, line);
    const names = await shared.mustAs('alice', 'sh', '-c', 'cat on.* && stat -c %U on.*');
    const nodes = (await shared.nodes()).map(({ name }) => name);
    const owners = Array.from(nodes, () => 'alice');
    assert.deepEqual(names.trim().split('\n').sort(), [...nodes, ...owners].sort());
  });

  it('ends a job that eats more memory than it asked for, and says so', async () => {
    const command = ['weft', 'run', '--wait', '--memory', '64M', '--', 'node', '-e', EAT_MEMORY];
    const { code, stderr } = await shared.as('alice', ...command);
    assert.match(stderr, /out_of_memory/);
    assert.equal(code, 137);
  });

  it('shows a node that was cut off, and its job goes on and ends once', async () => {
    const { id, node } = await startBeats('alice');
    const container = await containerOf(daemon, node);
    await daemon.run('docker', ['network', 'disconnect', 'shared_cluster', container]);
    await shared.nodesBecome(`${node} is unreachable`, (nodes) =>
      nodes.some(({ name, state }) => name === node && state !== 'up'),
    );
    assert.notEqual((await jobOf('alice', id)).state, 'done');
    const told = await shared.mustAs('alice', 'cminfo');
    assert.match(told, new RegExp(`${node} +Down \\(unreachable\\)`));
    assert.match(told, new RegExp(`^ *${id} .* Unknown `, 'm'));
    await daemon.run('docker', ['network', 'connect', 'shared_cluster', container]);
    await shared.nodesUp(NODE_COUNT);
    await shared.mustAs('alice', 'touch', 'go-on');
    await shared.mustAs('alice', 'weft', 'wait', id);
    assert.equal((await jobOf('alice', id)).outcome?.kind, 'completed');
    assert.deepEqual(await beats('alice'), ['begun', 'end']);
  });

  it('keeps jobs over a restart of the head, those that run and those that are done', async () => {
    const done = (await shared.mustAs('bob', 'weft', 'run', 'exit 3')).trim();
    await until('the job is done', async () =>
      (await jobOf('bob', done)).state === 'done' ? true : undefined,
    );
    const { id } = await startBeats('bob');
    await daemon.run('docker', ['restart', '--time', '5', shared.container('head')]);
    await shared.nodesUp(NODE_COUNT);
    await shared.mustAs('bob', 'touch', 'go-on');
    await shared.mustAs('bob', 'weft', 'wait', id);
    assert.equal((await jobOf('bob', id)).outcome?.kind, 'completed');
    assert.deepEqual(await beats('bob'), ['begun', 'end']);
    assert.equal((await jobOf('bob', done)).outcome?.kind, 'failed');
  });

  it('stop keeps jobs and ids, clean forgets them and keeps homes', async () => {
    const before = (await shared.mustAs('alice', 'weft', 'run', '--hold', 'true')).trim();
    await shared.make('stop');
    await shared.up(NODE_COUNT);
    assert.equal((await jobOf('alice', before)).state, 'pending');
    await shared.mustAs('alice', 'touch', 'mine');
    await shared.mustAs('alice', 'mkdir', '-p', 'cmlogs/n1/1');
    await shared.make('clean');
    await shared.up(1);
    assert.equal(await shared.mustAs('alice', 'weft', 'run', '--hold', 'true'), '1\n');
    assert.equal((await shared.as('alice', 'ls')).stdout.includes('cmlogs'), false);
    assert.equal(await shared.mustAs('alice', 'ls', 'mine'), 'mine\n');
    assert.equal(await shared.mustAs('carol', 'id', '-un'), 'carol\n');
  });

  it('works without a shared home: the output comes back through the head', async () => {
    await shared.down();
    const apart = new DockerProject(daemon, {
      name: 'apart',
      files: ['compose.yaml', 'compose.private.yaml'],
      variables: VARIABLES,
    });
    await apart.up(1);
    const line = 'pwd; id -un; echo told >&2; echo kept > file';
    const output = await apart.mustAs('alice', 'weft', 'run', '--wait', '--follow', line);
    const [place, name] = output.trim().split('\n');
    assert.equal(name, 'alice');
    assert.doesNotMatch(place ?? '', /^\/home/);
    assert.equal(await apart.mustAs('alice', 'weft', 'logs', '1'), output);
    assert.equal((await apart.as('alice', 'test', '-e', 'file')).code, 1);
    await apart.down();
  });
});

async function importImages(daemon: DockerDaemon, directory: string): Promise<void> {
  const base = join(directory, 'base');
  const tools = join(directory, 'tools');
  makeBaseFolder(base);
  makeToolsFolder(tools, globSync(join(ROOT, '{launcher,deploy}', '*.c')));
  await Promise.all([
    daemon.importFolder(base, 'weft-base'),
    daemon.importFolder(tools, 'weft-tools'),
  ]);
}

/** A node's name is the host name of its container, which is the beginning of its id. */
async function containerOf(daemon: DockerDaemon, node: string): Promise<string> {
  return (await daemon.run('docker', ['ps', '-q', '--filter', `id=${node}`])).trim();
}
