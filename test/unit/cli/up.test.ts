// `up` and `down` with stand-ins for the daemons: what is started, restarted, stopped and kept.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isAlive, readLiveMark } from '../../../src/cli/daemons/process-file.ts';
import { type Invocation, runWeft } from '../../../src/cli/main.ts';
import { whenKilled } from '../../support/when-killed.ts';
import { capture, type Said } from './fake-head.ts';

const program = fileURLToPath(new URL('../../../bin/weft.mjs', import.meta.url));
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.weft(['down', '--now']);
    this.#forget();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

test('up takes another port when its own is taken between the choice and the start', async () => {
  await using box = new Sandbox();
  const up = await box.weft(['up', '--nodes', '1'], 'outrun');
  assert.deepEqual([up.code, up.error], [0, '']);
  assert.match(up.out, /^The cluster is running\.\n {2}1 node with [\s\S]* head on https:/);
});

test('up starts a head and nodes, a second one only what is missing, down all of it', async () => {
  await using box = new Sandbox();
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
  assert.match((await box.weft(['up'])).out, /^Head was running; started n2\./);
  assert.match((await box.weft(['up', '--nodes', '3'])).out, /started n3/);
  const smaller = await box.weft(['up', '--nodes', '1', '--cpus', '8']);
  assert.match(smaller.error, /there are 3 nodes[\s\S]*existing nodes keep their cpus/);

  const down = await box.weft(['down']);
  assert.deepEqual(down, { code: 0, out: 'The cluster is stopped.\n', error: '' });
  assert.deepEqual(
    readdirSync(path.join(box.directory, 'run')).filter((it) => /pid$/.test(it)),
    [],
  );
  assert.match((await box.weft(['down'])).out, /was not running/);
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

test('up takes in anew a node that was removed while its agent ran', async () => {
  await using box = new Sandbox();
  await box.weft(['up', '--nodes', '2', '--listen', 'none']);
  const before = box.mark('n2')?.pid;
  assert.equal((await box.weft(['node', 'remove', 'n2'])).error, '');
  assert.match((await box.weft(['up'])).out, /^Head was running; started n2\./);
  assert.notEqual(box.mark('n2')?.pid ?? before, before);
});

test('up tells what the head said when it does not start', async () => {
  await using box = new Sandbox();
  const { code, error } = await box.weft(['up', '--listen', 'none'], 'broken');
  assert.equal(code, 7);
  assert.match(error, /the head does not start: it ended\nthe store is locked by process 7\n/);
});

test('down --clean removes the state and leaves what is not its own', async () => {
  await using box = new Sandbox();
  await box.weft(['up', '--nodes', '1', '--listen', 'none']);
  const { out } = await box.weft(['down', '--clean']);
  assert.match(out, /stopped\.\nRemoved its state/);
  assert.equal(existsSync(path.join(box.directory, 'head')), false);
  assert.ok(
    existsSync(path.join(box.directory, 'weft', 'sessions')),
    'the session cache is not ours',
  );
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
});
