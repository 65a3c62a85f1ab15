// Steps between two processes of a task, over a real connection of this machine: what comes
// through, what ends with what, and who gets no answer.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect as connectPlain, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import type { Allocation } from '../../../../../src/wings/mpi/steps/allocation.ts';
import { connectTo } from '../../../../../src/wings/mpi/steps/connect.ts';
import type { StepEnd } from '../../../../../src/wings/mpi/steps/frames.ts';
import { watchPeer } from '../../../../../src/wings/mpi/steps/peer-watch.ts';
import { startRemote } from '../../../../../src/wings/mpi/steps/remote.ts';
import {
  identityOf,
  keyOf,
  portsOf,
  TLS_OPTIONS,
} from '../../../../../src/wings/mpi/steps/secrecy.ts';
import { type StepServer, serveSteps } from '../../../../../src/wings/mpi/steps/serve.ts';
import { until } from '../../../../launcher/harness.ts';

const NODES = ['first.test', 'second.test'];

function allocation(self: string, of: Partial<Allocation> = {}): Allocation {
  return { epochId: `${process.pid}#1`, nodes: NODES, self, key: 'a key of this test', ...of };
}

const CLIENT = allocation('first.test');

interface Ran {
  readonly end: StepEnd;
  readonly stdout: Buffer;
  readonly stderr: string;
}

async function run(command: string, input: Buffer | null = null): Promise<Ran> {
  const found = await connectTo(CLIENT, 'second.test');
  assert.ok(found.ok);
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const texts = [gather(stdout), gather(stderr)] as const;
  if (input !== null) stdin.end(input);
  const from = input === null ? null : (stdin as never);
  const step = startRemote(found.value, command, { stdin: from, stdout, stderr });
  const end = await step.ended;
  stdout.end();
  stderr.end();
  return { end, stdout: await texts[0], stderr: String(await texts[1]) };
}

async function gather(stream: PassThrough): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe('steps', () => {
  let server: StepServer;
  before(async () => {
    server = await serveSteps(allocation('second.test'));
  });
  after(() => server.stop());

  it('output, errors and the exit code come back', async () => {
    const ran = await run('echo out; echo err >&2; exit 7');
    assert.deepEqual(
      { ...ran, stdout: String(ran.stdout) },
      { end: { code: 7 }, stdout: 'out\n', stderr: 'err\n' },
    );
  });

  it('a signal that ended the command comes back by name', async () => {
    assert.deepEqual((await run('kill -KILL $$')).end, { signal: 'SIGKILL' });
  });

  it('input goes there and back, byte for byte', async () => {
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => at % 251));
    const { stdout, end } = await run('cat', bytes);
    assert.deepEqual(end, { code: 0 });
    assert.ok(stdout.equals(bytes));
  });

  it('a command that does not want its input ends all the same', async () => {
    assert.deepEqual((await run('exit 0', Buffer.alloc(3_000_000))).end, { code: 0 });
  });

  it('a command whose client is gone is ended', async () => {
    const found = await connectTo(CLIENT, 'second.test');
    assert.ok(found.ok);
    const stdout = new PassThrough();
    const streams = { stdin: null, stdout, stderr: new PassThrough() };
    const step = startRemote(found.value, 'echo $$; exec sleep 1000', streams);
    const [bytes] = (await stdout.iterator({ destroyOnReturn: false }).next()).value
      .toString()
      .split('\n');
    found.value.destroy();
    await assert.rejects(step.ended);
    await until('it is gone', () => !isAlive(Number(bytes)));
  });

  it('who has another key gets no connection', async () => {
    const stranger = allocation('first.test', { key: 'another' });
    const psk = keyOf(stranger, 'second.test');
    const socket = connect({
      ...TLS_OPTIONS,
      host: '127.0.0.1',
      port: server.port,
      pskCallback: () => ({ psk, identity: identityOf(CLIENT, 'second.test') }),
      checkServerIdentity: () => undefined,
    });
    const said = await new Promise((resolve) => {
      socket.once('secureConnect', () => resolve('connected'));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    });
    assert.match(String(said), /^ERR_SSL_/);
  });

  it('[D6] however many connect without the key, who has it is served', async () => {
    const strangers: Socket[] = [];
    try {
      // Where more come at once than the kernel queues, it forgets some, whose side never hears of
      // it.
      while (strangers.length < 1100) {
        const wave = Array.from({ length: 100 }, () => {
          const one = connectPlain({ host: '127.0.0.1', port: server.port });
          return one.on('error', () => one.destroy()).resume();
        });
        strangers.push(...wave);
        await until('all of a wave are there', () => wave.every(({ connecting }) => !connecting));
      }
      await until('most are turned away', () => {
        return strangers.filter(({ destroyed }) => destroyed).length >= 800;
      });
      await until('a step runs', async () => {
        const ran = await run('echo out').catch(() => null);
        return ran !== null && String(ran.stdout) === 'out\n';
      });
    } finally {
      for (const one of strangers) one.destroy();
    }
  });

  it('[A33] a node that cannot be reached any more ends the step, in words', async () => {
    const found = await connectTo(CLIENT, 'second.test');
    assert.ok(found.ok);
    // The connection stays as it is; who looks for the node finds nobody.
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    Object.defineProperty(found.value, 'remotePort', { value: port });
    const watch = { everyMs: 10, attemptMs: 1000, missesMax: 3 };
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const streams = { stdin: null, stdout, stderr, watch };
    await assert.rejects(
      startRemote(found.value, 'exec sleep 1000', streams).ended,
      /it could not be reached for 0 s/,
    );
  });

  it('[A33] a node whose server is only suspended is there', async () => {
    const script = `require('net').createServer(() => 0).listen(0, '127.0.0.1', function () {
      console.log(this.address().port);
    })`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    let looks = 0;
    const watch = {
      attemptMs: 10_000,
      missesMax: 1,
      get everyMs() {
        looks += 1;
        return 5;
      },
    };
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const socket = connectPlain({ host: '127.0.0.1', port: Number(String(line)) });
      await once(socket, 'connect');
      child.kill('SIGSTOP');
      watchPeer(socket, watch);
      await until('it was looked for again and again', () => looks > 20);
      assert.equal(socket.destroyed, false);
      socket.destroy();
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('another task, epoch and node have other keys and ports', () => {
    const others = [
      portsOf(allocation('x', { epochId: `${process.pid}#2` }), 'second.test'),
      portsOf(CLIENT, 'first.test'),
      portsOf(allocation('x', { key: 'another' }), 'second.test'),
    ];
    for (const other of others) assert.notDeepEqual(other, portsOf(CLIENT, 'second.test'));
    const key = keyOf(allocation('x', { epochId: `${process.pid}#2` }), 'second.test');
    assert.notDeepEqual(key, keyOf(CLIENT, 'second.test'));
  });

  it('a node that does not answer is named, with what to do', async () => {
    const found = await connectTo(CLIENT, 'first.test', 0);
    assert.ok(!found.ok);
    assert.match(found.error, /first\.test.*no address.*\/etc\/hosts/);
  });
});

it('a server takes the next of its ports when somebody has the first', async () => {
  const own = allocation('first.test', { key: `busy ${process.pid}` });
  const [first = 0] = portsOf(own, 'first.test');
  const stranger = createServer().listen(first);
  await new Promise((resolve) => stranger.once('listening', resolve));
  const server = await serveSteps(own);
  assert.notEqual(server.port, first);
  const asked = allocation('second.test', { key: own.key });
  const found = await connectTo(asked, 'first.test');
  assert.ok(found.ok, 'it is found there');
  found.value.destroy();
  await server.stop();
  stranger.close();
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // ESRCH: it is gone.
  }
}
