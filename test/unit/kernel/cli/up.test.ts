// `up` and `down` with stand-ins for the daemons: what is started, restarted, stopped and kept.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { daemonNotes } from '../../../../src/kernel/cli/daemons/daemon-notes.ts';
import { type Invocation, runWeft } from '../../../../src/kernel/cli/main.ts';
import type { AgentOptions } from '../../../../src/kernel/config/daemon-options.ts';
import { isAlive, readLiveMark } from '../../../../src/kernel/connect/process-file.ts';
import { whenKilled } from '../../../support/when-killed.ts';
import { capture, type Said } from './fake-head.ts';

const program = fileURLToPath(new URL('../../../../bin/weft.mjs', import.meta.url));
const stub = (name: string) => fileURLToPath(new URL(`./stub/${name}.ts`, import.meta.url));

/** A state directory whose daemons are ended with the test, whatever happens. */
class Sandbox implements AsyncDisposable {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  readonly #forget = whenKilled(() => {
    spawnSync(process.execPath, [program, 'down', '--now', '--dir', this.directory]);
    rmSync(this.directory, { recursive: true, force: true });
  });

  weft(argv: readonly string[], headScript = 'head'): Promise<Said> {
    return capture(this.directory, { program: 'weft', argv }, (invocation: Invocation) => {
      const scripts = { headScript: stub(headScript), agentScript: stub('agent') };
      return runWeft({ ...invocation, programs: { ...invocation.programs, ...scripts } });
    });
  }

  mark(daemon: string) {
    return readLiveMark(path.join(this.directory, 'run', `${daemon}.pid`));
  }

  /** Each node's agent is a process of its own, which can be killed alone. */
  keepApart(): void {
    writeFileSync(
      path.join(this.directory, 'weft.yaml'),
      'up: {nodes_per_process: 1, keep: false}',
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.weft(['down', '--now']);
    this.#forget();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A port that another program listens on, until it is closed. */
async function listening(t: TestContext, port = 0) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  t.after(close);
  return { port: (server.address() as AddressInfo).port, close };
}

test('clusters that are started at one moment get a port each, and one start of their head', async () => {
  const [one, other] = [new Sandbox(), new Sandbox()];
  await using _one = one;
  await using _other = other;
  const ups = await Promise.all([one, other].map((box) => box.weft(['up', '--nodes', '1'])));
  const ports = ups.map(({ out }) => /head on https:\/\/127\.0\.0\.1:(\d+)\n/.exec(out)?.[1]);
  assert.deepEqual(
    ups.map(({ code, error }) => [code, error]),
    [
      [0, ''],
      [0, ''],
    ],
  );
  assert.ok(ports.every((port) => port !== undefined));
  assert.notEqual(ports[0], ports[1]);
});

test('up tells and keeps the port that the head found in place of one that is taken', async (t) => {
  await using box = new Sandbox();
  const read = (file: string) => JSON.parse(readFileSync(path.join(box.directory, file), 'utf8'));
  const kept = () => [read('cluster.json').listen, read('head/options.json').listen];
  // Far from where others look first: they run beside this.
  const { port, close } = await listening(t);
  await close();
  const before = { host: '127.0.0.1', port };
  await box.weft(['up', '--nodes', '1', '--listen', `127.0.0.1:${port}`]);
  await box.weft(['down']);
  const again = await box.weft(['up']);
  assert.deepEqual(kept(), [before, before], 'as tokens name it');
  assert.equal(again.error, '');
  await box.weft(['down']);
  await listening(t, port);
  const elsewhere = await box.weft(['up']);
  const [now, started] = kept();
  assert.notEqual(now.port, port);
  assert.deepEqual(started, now, 'a keeper starts it there again');
  const words = `port ${port} is taken; the head listens on 127.0.0.1:${now.port}`;
  assert.match(elsewhere.error, new RegExp(words));
});

test('up asks a head for its port whose starter was killed before it could', async () => {
  await using box = new Sandbox();
  await box.weft(['up', '--nodes', '1']);
  const [cluster, head] = ['cluster.json', 'head/options.json'].map((file) => {
    return path.join(box.directory, file);
  });
  const read = (file = '') => JSON.parse(readFileSync(file, 'utf8'));
  const { listen } = read(cluster);
  const wanted = { ...listen, port: listen.port + 1 };
  writeFileSync(cluster ?? '', JSON.stringify({ ...read(cluster), listen: wanted }));
  const unsettled = { ...wanted, orNear: true };
  writeFileSync(head ?? '', JSON.stringify({ ...read(head), listen: unsettled }));
  const again = await box.weft(['up']);
  assert.ok(again.out.includes(`head on https://127.0.0.1:${listen.port}\n`), again.out);
  assert.deepEqual([read(cluster).listen, read(head).listen], [listen, listen]);
});

test('up refuses a port that was asked for and is taken, and starts nothing', async (t) => {
  await using box = new Sandbox();
  const { port } = await listening(t);
  const wished = ['up', '--nodes', '1', '--listen', `127.0.0.1:${port}`];
  const refused = await box.weft(wished);
  assert.equal(refused.code, 2);
  assert.match(refused.error, new RegExp(`cannot listen on 127.0.0.1:${port}: another program`));
  assert.equal(box.mark('head'), null);
  // Words of the configuration are as good as a flag.
  writeFileSync(path.join(box.directory, 'weft.yaml'), `head: {listen: 127.0.0.1:${port}}`);
  assert.equal((await box.weft(['up', '--nodes', '1'])).code, 2);
});

test('up takes the address of the configuration also after its first start', async (t) => {
  await using box = new Sandbox();
  await box.weft(['up', '--nodes', '1', '--listen', 'none']);
  const { port, close } = await listening(t);
  await close();
  writeFileSync(path.join(box.directory, 'weft.yaml'), `head: {listen: 127.0.0.1:${port}}`);
  const running = await box.weft(['up']);
  assert.match(running.error, /the head runs and listens on no port; `weft down` and `weft up`/);
  await box.weft(['down']);
  assert.match((await box.weft(['up'])).out, new RegExp(`head on https://127.0.0.1:${port}\n`));
});

test('more nodes than the machine has cpus are said to share them', async () => {
  await using box = new Sandbox();
  const words = /weft: 9 nodes divide the 8 cpus of this machine: each offers 1, and tasks share/;
  assert.match((await box.weft(['up', '--nodes', '9', '--listen', 'none'])).error, words);
  assert.equal((await box.weft(['up', '--nodes', '9'])).error, '', 'they were there before');
});

test('nodes that are added to one with all of the machine are not said to divide it', async () => {
  await using box = new Sandbox();
  assert.equal((await box.weft(['up', '--nodes', '1', '--listen', 'none'])).error, '');
  const { error } = await box.weft(['up', '--nodes', '9']);
  assert.doesNotMatch(error, /divide|each offers/);
  assert.match(
    error,
    /the 9 nodes offer \d+ cpus and \S+ memory together; this machine has 8 cpus/,
  );
  assert.equal((await box.weft(['up'])).error, '', 'told once');
});

test('no two nodes of a machine have the same gpu', async () => {
  await using box = new Sandbox();
  const gpusOf = (name: string) => {
    const file = path.join(box.directory, 'nodes', name, 'options.json');
    const { gpuFrom, resources } = JSON.parse(readFileSync(file, 'utf8')) as AgentOptions;
    return [gpuFrom, resources?.gpuCount];
  };
  await box.weft(['up', '--nodes', '2', '--gpus', '2', '--listen', 'none']);
  assert.deepEqual(
    [gpusOf('n1'), gpusOf('n2')],
    [
      [0, 2],
      [2, 2],
    ],
  );
  await box.weft(['up', '--nodes', '3']);
  assert.deepEqual(gpusOf('n3'), [4, 0], 'the first ones keep all');
  await box.weft(['up', '--nodes', '4', '--gpus', '1']);
  assert.deepEqual(gpusOf('n4'), [4, 1]);
});

test('up starts a head and nodes, a second one only what is missing, down all of it', async () => {
  await using box = new Sandbox();
  box.keepApart();
  const up = await box.weft(['up', '--nodes', '2', '--listen', 'none']);
  assert.deepEqual([up.code, up.error], [0, '']);
  assert.match(
    up.out,
    /^The cluster is running\.\n {2}2 nodes, each with 2 cpus and 512M memory\n/,
  );
  const marks = ['head', 'n1', 'n2'].map((daemon) => box.mark(daemon));
  assert.ok(marks.every((mark) => mark !== null));
  assert.match((await box.weft(['up'])).out, /^The cluster is already running\./);

  const second = box.mark('n2');
  process.kill(second?.pid ?? 0, 'SIGKILL');
  while (second !== null && isAlive(second)) await new Promise(setImmediate);
  assert.match((await box.weft(['up'])).out, /^The head was running; started n2\./);
  assert.match((await box.weft(['up', '--nodes', '3'])).out, /started n3/);
  const smaller = await box.weft(['up', '--nodes', '1', '--cpus', '8']);
  assert.match(smaller.error, /keeps its 3 nodes[\s\S]*existing nodes keep their cpus/);

  const down = await box.weft(['down']);
  assert.deepEqual(down, { code: 0, out: 'The cluster is stopped.\n', error: '' });
  assert.deepEqual(
    readdirSync(path.join(box.directory, 'run')).filter((it) => /pid$/.test(it)),
    [],
  );
  assert.match((await box.weft(['down'])).out, /was not running/);
});

test('the agents of all nodes that up starts are one process, those that it adds another', async () => {
  await using box = new Sandbox();
  const pids = (...names: string[]) => names.map((name) => box.mark(name)?.pid ?? 0);
  await box.weft(['up', '--nodes', '3', '--listen', 'none']);
  const [first = 0, ...others] = pids('n1', 'n2', 'n3');
  assert.deepEqual(others, [first, first]);
  await box.weft(['up', '--nodes', '5']);
  const [second = 0, ...more] = pids('n4', 'n5', 'n1');
  assert.deepEqual(more, [second, first]);
  process.kill(first, 'SIGKILL');
  await eventually(() => box.mark('n2') === null);
  assert.match((await box.weft(['up'])).out, /^The head was running; started n1, n2, n3\./);
  assert.deepEqual(new Set(pids('n1', 'n2', 'n3')).size, 1);
  assert.deepEqual(pids('n4', 'n5'), [second, second]);
  // One that was removed is taken in anew; who shares its process goes on in the next one.
  await box.weft(['node', 'remove', 'n2']);
  assert.match((await box.weft(['up'])).out, /^The head was running; started n2\./);
  const marks = ['n1', 'n3', 'n5'].map((name) => box.mark(name));
  const down = await box.weft(['down']);
  assert.deepEqual(down, { code: 0, out: 'The cluster is stopped.\n', error: '' });
  assert.ok(marks.every((mark) => mark !== null && !isAlive(mark)));
});

test('up makes one node of the whole machine, gpus too, and --nodes divides it', async () => {
  const GIB = 1024 ** 3;
  const rest = { gpuCount: 0, counted: {} };
  for (const [options, nodeCount, perNode] of [
    [[], 1, { cpuCount: 8, memoryBytes: 7 * GIB, gpuCount: 1, counted: {} }],
    [['--nodes', '2'], 2, { cpuCount: 4, memoryBytes: 3.5 * GIB, ...rest }],
    [['--nodes', '2', '--cpus', '3'], 2, { cpuCount: 3, memoryBytes: 3.5 * GIB, ...rest }],
  ] as const) {
    await using box = new Sandbox();
    await box.weft(['up', '--listen', 'none', ...options]);
    const record = JSON.parse(readFileSync(path.join(box.directory, 'cluster.json'), 'utf8'));
    assert.deepEqual([record.nodeCount, record.perNode], [nodeCount, perNode]);
    const more = await box.weft(['up', '--nodes', '3']);
    assert.match(more.error, /existing nodes keep their cpus, memory and gpus/);
  }
});

test('the nodes keep their secrets, and nobody else can read them', async () => {
  await using box = new Sandbox();
  await box.weft(['up', '--nodes', '1', '--listen', 'none']);
  const file = path.join(box.directory, 'nodes', 'n1', 'options.json');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const before = readFileSync(file, 'utf8');
  await box.weft(['down']);
  assert.equal((await box.weft(['up'])).code, 0);
  assert.equal(readFileSync(file, 'utf8'), before);
});

test('a head whose store was removed gets its nodes enrolled anew', async () => {
  await using box = new Sandbox();
  await box.weft(['up', '--nodes', '1', '--listen', 'none']);
  await box.weft(['down']);
  rmSync(path.join(box.directory, 'head', 'nodes.json'));
  assert.deepEqual((await box.weft(['up'])).code, 0);
});

test('up names nodes of a head that was put back, which it does not start by itself', async () => {
  await using box = new Sandbox();
  await box.weft(['up', '--nodes', '3', '--listen', 'none']);
  await box.weft(['down']);
  rmSync(path.join(box.directory, 'cluster.json'));
  const { code, error } = await box.weft(['up', '--listen', 'none']);
  const words =
    /^weft: n2, n3 are known to the head and not started: `weft up --nodes 3` starts them/;
  assert.deepEqual([code, words.test(error)], [0, true], error);
  assert.doesNotMatch((await box.weft(['up', '--nodes', '3'])).error, /not started/);
});

test('up takes in anew a node that was removed while its agent ran', async () => {
  await using box = new Sandbox();
  await box.weft(['up', '--nodes', '2', '--listen', 'none']);
  const before = box.mark('n2')?.pid;
  assert.equal((await box.weft(['node', 'remove', 'n2'])).error, '');
  assert.match((await box.weft(['up'])).out, /^The head was running; started n2\./);
  assert.notEqual(box.mark('n2')?.pid ?? before, before);
});

test('up tells what the head said when it does not start', async () => {
  await using box = new Sandbox();
  const { code, error } = await box.weft(['up', '--listen', 'none'], 'broken');
  assert.equal(code, 7);
  assert.match(error, /the head does not start: it ended\nthe store is locked by process 7\n/);
});

test('down --clean asks whoever sits there before jobs and records are lost', async () => {
  await using box = new Sandbox();
  await box.weft(['up', '--nodes', '1', '--listen', 'none']);
  const asked: string[] = [];
  const typed = (answer: string, ...words: string[]) =>
    capture(box.directory, { program: 'weft', argv: ['down', '--clean', ...words] }, (it) => {
      const ask = async (question: string) => {
        asked.push(question);
        return answer;
      };
      return runWeft({ ...it, terminal: { ...it.terminal, ask } });
    });
  const no = await typed('');
  assert.deepEqual([no.code, no.out, asked.length], [1, '', 1]);
  assert.match(asked[0] ?? '', /^This removes .* in .*\. Go on\? \[y\/N\] $/);
  assert.ok(existsSync(path.join(box.directory, 'head')), 'nothing was stopped or removed');
  assert.ok(box.mark('head') !== null);
  const yes = await typed('', '--yes');
  assert.deepEqual([yes.code, asked.length], [0, 1]);
  assert.equal(existsSync(path.join(box.directory, 'head')), false);
  assert.equal((await typed('')).code, 0, 'where nothing is left nobody is asked');
  assert.equal(asked.length, 1);
});

test('down --clean removes the state and leaves what is not its own', async () => {
  await using box = new Sandbox();
  await box.weft(['up', '--nodes', '1', '--listen', 'none']);
  const unasked = await box.weft(['down', '--clean']);
  assert.equal(unasked.code, 2, 'nobody sits there who could be asked');
  assert.match(
    unasked.error,
    /this would remove the queue, .* in \S+; add --yes if all of it may go/,
  );
  assert.ok(box.mark('head') !== null, 'nothing was stopped');
  const { out } = await box.weft(['down', '--clean', '--yes']);
  assert.match(out, /stopped\.\nRemoved its state/);
  assert.equal(existsSync(path.join(box.directory, 'head')), false);
  assert.ok(
    existsSync(path.join(box.directory, 'weft', 'sessions')),
    'the session cache is not ours',
  );
});

test('down --clean empties a folder that is a mount point, and says that it stays', {
  skip: process.getuid?.() !== 0 && 'only root mounts a small disk',
}, async () => {
  await using box = new Sandbox();
  const disk = path.join(box.directory, 'disk');
  const blobs = path.join(disk, 'head', 'blobs');
  for (const folder of [disk, blobs]) {
    mkdirSync(folder, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'weft', folder]);
  }
  using _mounted = { [Symbol.dispose]: () => execFileSync('umount', ['-R', disk]) };
  for (const name of ['head/weft.db', 'head/z', 'head/blobs/x', 'cluster.json']) {
    writeFileSync(path.join(disk, name), '{}');
  }
  const clean = ['down', '--clean', '--yes', '--dir', disk];
  const { code, out, error } = await box.weft(clean);
  assert.deepEqual([code, out.split('\n')[1]], [0, `Removed its state in ${disk}; kept head.`]);
  assert.equal(error, `weft: ${blobs} itself stays: it is a mount point\n`);
  assert.deepEqual(readdirSync(path.join(disk, 'head'), { recursive: true }), ['blobs']);
  execFileSync('umount', [blobs]);
  const again = await box.weft(clean);
  assert.deepEqual([again.code, readdirSync(disk)], [0, []]);
  assert.equal(again.error, `weft: ${disk} itself stays: it is a mount point\n`);
});

test('[N17] a health command that cannot be run is told before anything starts, and by doctor', async () => {
  await using box = new Sandbox();
  const config = path.join(box.directory, 'weft.yaml');
  writeFileSync(config, 'health: {command: [/no/such/check, --all]}');
  const up = await box.weft(['up', '--nodes', '1']);
  assert.equal(up.code, 2);
  assert.match(up.error, /health\.command cannot be run: ENOENT.*\/no\/such\/check/);
  assert.equal(box.mark('head'), null);
  const doctor = await box.weft(['doctor']);
  assert.match(doctor.out, /health command +it cannot be run: ENOENT/);
  writeFileSync(config, 'health: {command: [sh, -c, "exit 0"], interval: 5s}');
  assert.equal((await box.weft(['up', '--nodes', '1'])).code, 0);
  const options = path.join(box.directory, 'nodes', 'n1', 'options.json');
  const told = JSON.parse(readFileSync(options, 'utf8')) as { health: unknown };
  const health = { command: ['sh', '-c', 'exit 0'], timeoutMs: 10_000, intervalMs: 5000 };
  assert.deepEqual(told.health, health);
  assert.match((await box.weft(['doctor'])).out, /ok +health command +sh\n/);
  assert.match((await box.weft(['doctor'])).out, /containers +(none; batches|\w+)/);
});

test('[D5] the doctor names a wiki listener on TCP, and whom it lets in', async () => {
  await using box = new Sandbox();
  const config = path.join(box.directory, 'weft.yaml');
  const key = path.join(box.directory, 'wiki.key');
  writeFileSync(key, '42', { mode: 0o600 });
  const said = async (wiki: string): Promise<string> => {
    writeFileSync(config, `wiki: ${wiki}`);
    return (await box.weft(['doctor'])).out;
  };
  assert.match(
    await said('{listen: wiki.sock}'),
    /ok +wiki listener +\S+wiki\.sock, a unix socket for/,
  );
  const open = await said(
    `{listen: "0.0.0.0:7321", key_file: ${key}, allow: [10.1.0.0/16], group: maui}`,
  );
  assert.match(open, /note +wiki listener +TCP 0\.0\.0\.0:7321 GIVES THE JOBS .*members of maui/);
  assert.match(open, /and EVERY USER of 10\.1\.0\.0\/16; the checksum stops nobody/);
  assert.match(
    await said('{listen: "0.0.0.0:7321"}'),
    /BAD +wiki listener +wiki\.listen on TCP needs/,
  );
  assert.doesNotMatch(await said('{}'), /wiki/);
});

test('an agent that was killed is named, with what starts it again', async () => {
  await using box = new Sandbox();
  box.keepApart();
  await box.weft(['up', '--nodes', '2', '--listen', 'none']);
  const words = () => daemonNotes(box, path.join(box.directory, 'weft.sock'))[0]?.text ?? null;
  assert.equal(words(), null);
  const { pid = 0 } = box.mark('n2') ?? {};
  process.kill(pid, 'SIGKILL');
  const said = 'The agent of n2 does not run. Run `weft up` again: it starts what is missing.';
  await eventually(() => words() === said);
  assert.deepEqual(daemonNotes(box, '/run/weft/weft.sock'), [], 'of another head');
  assert.match((await box.weft(['up'])).out, /started n2/);
  assert.equal(words(), null);
});

async function eventually(holds: () => boolean): Promise<void> {
  const until = performance.now() + 60_000;
  while (!holds()) {
    assert.ok(performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
