// The agent's program with a real launcher, real processes and real limits, against a fake head on
// a unix socket.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import type { UserName } from '../../../../src/kernel/model/ids.ts';
import { detectMachine } from '../../../../src/kernel/os/detect.ts';
import { systemMarks } from '../../../../src/kernel/os/marks.ts';
import type { Session } from '../../../../src/kernel/ports/net.ts';
import { daemonScript } from '../../../support/daemon-script.ts';
import { endNow, whenKilled } from '../../../support/when-killed.ts';
import { FakeHead } from './fake-head.ts';
import { idOf, launch, share, shell } from './orders.ts';

const PROGRAM = daemonScript('agent');
const root = mkdtempSync(join(tmpdir(), 'weft-agent-'));
const state = join(root, 'state');
const head = new FakeHead({ killGraceMs: 2000 });
const server = createServer();
const sockets = new WebSocketServer({ server });
const isRoot = process.getuid?.() === 0;
const NOBODY = { user: 'nobody' as UserName, uid: null };
const MIB = 1_048_576;
let agent: ChildProcess | null = null;
let nextJob = 1;

function sessionOf(socket: WebSocket): Session {
  return {
    peer: 'n1',
    send: (message) => socket.send(message),
    onMessage: (handler) => void socket.on('message', (data) => handler(data as Buffer)),
    onClose: (handler) => void socket.on('close', () => handler('closed')),
    close: () => socket.close(),
  };
}

async function startAgent(): Promise<void> {
  const greeted = head.hellos.length;
  agent = spawn(process.execPath, [PROGRAM, join(root, 'options.json')], { stdio: 'inherit' });
  await head.until(() => head.hellos.length > greeted);
}

async function stopAgent(signal: NodeJS.Signals): Promise<void> {
  if (agent === null || agent.exitCode !== null || agent.signalCode !== null) return;
  agent.kill(signal);
  await once(agent, 'exit');
}

function job(line: string, other: Parameters<typeof launch>[2] = {}): ReturnType<typeof launch> {
  const order = launch(nextJob, shell(line), other);
  nextJob += 1;
  return order;
}

async function run(line: string, other: Parameters<typeof launch>[2] = {}) {
  const order = job(line, { account: NOBODY, ...other });
  head.order(order);
  await head.until(() => head.endOf(order.epochId) !== undefined);
  const key = (stream: string): string => `${order.epochId}/0/${stream}`;
  const isSilent = head.endOf(order.epochId)?.silentNodeRank !== undefined;
  await head.until(() => isSilent || ['stdout', 'stderr'].every((one) => head.ended.has(key(one))));
  return {
    end: head.endOf(order.epochId)!,
    stdout: head.logs.get(key('stdout'))?.toString() ?? '',
    stderr: head.logs.get(key('stderr'))?.toString() ?? '',
  };
}

/** How many processes carry a mark of this agent. */
function marked(): number {
  const instance = readFileSync(join(state, 'instance'), 'utf8');
  return [...systemMarks().memory().keys()].filter((mark) => mark.startsWith(instance)).length;
}

before(async () => {
  chmodSync(root, 0o711);
  const socketPath = join(root, 'head.sock');
  server.listen(socketPath);
  await once(server, 'listening');
  sockets.on('connection', (socket) => head.accept(sessionOf(socket)));
  const options = {
    name: 'n1',
    stateDir: state,
    head: { socketPath },
    secret: 'x',
    labels: ['big'],
    sharedPaths: ['/'],
    switchUser: 'auto',
    logFile: join(state, 'agent.log'),
    resources: { cpuCount: 3 },
  };
  writeFileSync(join(root, 'options.json'), JSON.stringify(options), { mode: 0o600 });
  await startAgent();
});

const forget = whenKilled(() => {
  if (agent?.pid !== undefined) endNow(agent.pid, 'SIGUSR2');
  rmSync(root, { recursive: true, force: true });
});

after(async () => {
  await stopAgent('SIGUSR2');
  forget();
  for (const socket of sockets.clients) socket.terminate();
  server.close();
  rmSync(root, { recursive: true, force: true });
});

test('a cache folder that cannot be written ends the agent with what to do, not with a bug', async () => {
  const stateDir = join(root, 'other');
  const logFile = join(root, 'other.log');
  const options = { name: 'n2', stateDir, head: { socketPath: join(root, 'none') }, logFile };
  const file = join(root, 'other.json');
  writeFileSync(file, JSON.stringify({ ...options, secret: 'x', labels: [], sharedPaths: [] }));
  const env = { ...process.env, XDG_CACHE_HOME: file };
  const child = spawn(process.execPath, [PROGRAM, file], { stdio: 'inherit', env });
  const [code] = (await once(child, 'exit')) as [number | null];
  const said = readFileSync(logFile, 'utf8');
  assert.equal(code, 2, said);
  assert.match(
    said,
    /the agent ends: .*kept in \S+other\.json\/weft: a part of its path is not a dir/,
  );
  assert.match(said, /set XDG_CACHE_HOME to a folder where it may/);
  assert.doesNotMatch(said, /a bug/);
});

test('the hello says what is declared, and for the rest what the machine has', async () => {
  const { node, resources, facts, labels } = head.hellos[0]!;
  assert.equal(node, 'n1');
  const found = await detectMachine();
  const { memoryBytes, gpuCount } = found;
  assert.ok(memoryBytes > MIB);
  assert.deepEqual(resources, { cpuCount: 3, memoryBytes, gpuCount, counted: {} });
  assert.ok(labels.includes('big') && labels.includes('os=linux'));
  assert.equal(facts.switchesUser, isRoot);
  assert.match(facts.limits, /^(cgroup (v1|v2|hybrid)|polling)$/);
});

test('a job runs as its user and its output arrives', async () => {
  const { end, stdout, stderr } = await run('id -u; pwd; echo oops >&2; exit 3');
  assert.deepEqual(end.processes, [{ rank: 0, exit: { code: 3 } }]);
  const nobody = execFileSync('id', ['-u', 'nobody']).toString().trim();
  assert.equal(stdout, `${isRoot ? nobody : process.getuid?.()}\n/tmp\n`);
  assert.equal(stderr, 'oops\n');
  assert.ok(end.usage.memoryPeakBytes > 0);
});

test("a private directory is the user's own, and is gone afterwards", async () => {
  const line = 'mkdir -p a/b && touch a/b/c && chmod 500 a/b && stat -c "%U %a" . && pwd';
  const { stdout, end } = await run(line, { directory: { kind: 'private' } });
  assert.equal(end.cause, 'exited');
  const [first, path] = stdout.trim().split('\n');
  if (isRoot) assert.equal(first, 'nobody 700');
  assert.ok(path?.startsWith(join(state, 'work')));
});

test('a program that does not exist is a failed launch in words', async () => {
  const order = launch(nextJob, { kind: 'argv', argv: ['./no-such'] }, { account: NOBODY });
  nextJob += 1;
  head.order(order);
  await head.until(() => head.endOf(order.epochId) !== undefined);
  const { cause, detail, nodeFault } = head.endOf(order.epochId)!;
  assert.deepEqual([cause, nodeFault], ['launch_failed', false]);
  assert.match(
    detail ?? '',
    /^cannot execute \.\/no-such: No such file or directory \(ENOENT\): it is not there, or /,
  );
});

test('memory over the limit ends a job as out_of_memory', async () => {
  const { end } = await run('exec tail /dev/zero', { share: share(1, 64 * MIB) });
  assert.equal(end.cause, 'out_of_memory');
});

test('[S11] walltime ends a job that ignores TERM, within the grace', async () => {
  // A shell whose time is over before it has trapped TERM dies of it: then the next gets more.
  for (const walltimeMs of [300, 2000, 10_000]) {
    const line = 'trap "" TERM; echo deaf; while :; do sleep 1; done';
    const { end, stdout } = await run(line, { walltimeMs });
    assert.equal(end.cause, 'timeout');
    if (stdout === '') continue;
    assert.deepEqual(end.processes, [{ rank: 0, exit: { signal: 9 } }]);
    return;
  }
  assert.fail('the shell never came to its first line');
});

test('children that left the session are ended with the job', async () => {
  await run('setsid -f sleep 300; (setsid sleep 300 &); exit 0');
  assert.equal(marked(), 0);
});

test('suspend and resume are seen, and are no end', async () => {
  // It starts nothing: a shell that is stopped while it does is seen to be so only seconds later.
  const order = job('exec sleep 300', { account: NOBODY });
  head.order(order);
  const kinds = (): string[] => head.kindsOf(order.epochId);
  await head.until(() => kinds().includes('task_started'));
  head.order({ kind: 'suspend', epochId: order.epochId, turn: 1 });
  await head.until(() => kinds().includes('task_suspended'));
  head.order({ kind: 'resume', epochId: order.epochId, turn: 2 });
  await head.until(() => kinds().includes('task_resumed'));
  head.order({ kind: 'end', epochId: order.epochId, graceMs: 2000, why: 'enough' });
  await head.until(() => kinds().includes('task_ended'));
  assert.deepEqual(kinds(), ['task_started', 'task_suspended', 'task_resumed', 'task_ended']);
});

test('kill -9 of the agent: nothing restarts, each end is reported once', async () => {
  const file = join(root, 'starts');
  writeFileSync(file, '');
  chmodSync(file, 0o666);
  const gate = join(root, 'while-away');
  const wait = `until [ -e ${gate} ]; do sleep 0.05; done`;
  const short = job(`echo short >> ${file}; ${wait}; exit 4`, { account: NOBODY });
  const long = job(`echo long >> ${file}; sleep 300`, { account: NOBODY });
  head.order(short, long);
  await head.until(() => readFileSync(file, 'utf8').split('\n').length === 3);
  await stopAgent('SIGKILL');
  writeFileSync(gate, '');
  await head.until(() => marked() === 1);
  await startAgent();
  await head.until(() => head.endOf(short.epochId) !== undefined);
  assert.deepEqual(head.endOf(short.epochId)?.processes, [{ rank: 0, exit: { code: 4 } }]);
  assert.equal(head.endOf(long.epochId), undefined);
  head.order({ kind: 'end', epochId: long.epochId, graceMs: 1000, why: 'test' });
  await head.until(() => head.endOf(long.epochId) !== undefined);
  assert.equal(head.endOf(long.epochId)?.cause, 'ended');
  assert.deepEqual(readFileSync(file, 'utf8').trim().split('\n').sort(), ['long', 'short']);
  for (const { epochId } of [short, long]) {
    assert.equal(head.kindsOf(epochId).filter((kind) => kind === 'task_ended').length, 1);
  }
});

test('kill -9 of the launcher: its job is lost and ended, the next one runs', async () => {
  const order = job('setsid -f sleep 300; sleep 300', { account: NOBODY });
  head.order(order);
  await head.until(() => head.kindsOf(order.epochId).includes('task_started'));
  process.kill(launcherPid(), 'SIGKILL');
  await head.until(() => head.endOf(order.epochId) !== undefined);
  assert.equal(head.endOf(order.epochId)?.cause, 'lost');
  assert.equal(marked(), 0);
  assert.equal((await run('echo again')).stdout, 'again\n');
});

/** The launcher of our state directory, by its command line. */
function launcherPid(): number {
  const socket = join(state, 'launcher.sock');
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    if (commandLine(name).split('\0').includes(socket)) return Number(name);
  }
  throw new Error('no launcher');
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // It ended meanwhile.
  }
}

test('SIGTERM leaves jobs to the next agent, SIGUSR2 ends them', async () => {
  const order = job('sleep 300', { account: NOBODY });
  head.order(order);
  await head.until(() => head.kindsOf(order.epochId).includes('task_started'));
  await stopAgent('SIGTERM');
  assert.equal(marked(), 1);
  await startAgent();
  assert.deepEqual(
    head.hellos.at(-1)?.held.map(({ epochId }) => epochId),
    [order.epochId],
  );
  await stopAgent('SIGUSR2');
  await head.until(() => marked() === 0);
  assert.equal(head.endOf(idOf(Number(order.place.jobId))), undefined);
});

test('nothing is left in the state directory of jobs that ended', async () => {
  await startAgent();
  await run('true', { directory: { kind: 'private' } });
  const left = (): string[] =>
    ['work', 'scripts'].flatMap((name) => readdirSync(join(state, name)));
  await head.until(() => left().length === 0);
});
