// The launcher for machines without a C compiler: the same protocol on Node's child_process.
// Slower, and weaker where launcher/README.md says so. A program of its own, as it outlives the
// agent.

import { rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { constants as os } from 'node:os';
import {
  type ANSWERS,
  LAUNCHER_ERROR as ERROR,
  type Fields,
  LEASE_OVER,
  SPAWN_FLAG,
  STAGE,
  RECORD_STATE as STATE,
  LAUNCHER_VERSION as VERSION,
} from '../../ports/launcher-frames.ts';
import { readStat, type Seen, ticksNow } from '../process-list.ts';
import { Ends } from './ends.ts';
import { type Leased, Leases } from './leases.ts';
import { countMembers, inSession, type Root, signalMembers } from './members.ts';
import { start } from './start.ts';
import { encodeAnswer, Malformed, type Request, RequestReader, type SpawnRequest } from './wire.ts';

const EXIT_USAGE = 2;
const EXIT_ALREADY_RUNNING = 3;
const RECORDS_MAX = 100_000;
const OUT_BYTES_MAX = 16 << 20;
/** Node does not tell of stops; they are looked for this often. */
const LOOK_EVERY_MS = 250;
const NO_USAGE = { userUs: 0n, systemUs: 0n, rssPeakKib: 0n };

interface ProcessEntry extends Leased {
  state: number;
  pid: number;
  startTicks: bigint;
  startedAt: bigint;
  status: number;
  stage: number;
  endedAt: bigint;
  endedTicks: number;
  readonly uid: number;
  mark: string | undefined;
  /** 1: as its lease was over. */
  why: number;
}

const records = new Map<bigint, ProcessEntry>();
const leases = new Leases();
let ends: Ends;
let agent: Socket | null = null;
let idleSince = Date.now();

type Answers = typeof ANSWERS;

function say<K extends keyof Answers>(kind: K, fields: Fields<Answers[K], bigint>): void {
  if (!agent) return;
  agent.write(encodeAnswer(kind, fields));
  if (agent.writableLength > OUT_BYTES_MAX) agent.destroy();
}

function sayRecord(id: bigint, entry: ProcessEntry): void {
  say('record', { ...entry, ...NO_USAGE, id });
}

function isLive(entry: ProcessEntry): boolean {
  return entry.state !== STATE.exited && entry.state !== STATE.failed;
}

function rootOf(entry: ProcessEntry): Root {
  const isOthers = (seen: Seen): boolean =>
    [...records.values()].some(
      (other) => other !== entry && inSession(seen, { ...other, isLive: isLive(other) }),
    );
  return { ...entry, isLive: isLive(entry), isOthers };
}

function onSpawn(request: SpawnRequest): void {
  const { id } = request;
  const known = records.get(id);
  if (known) {
    sayRecord(id, known);
    return;
  }
  if (records.size >= RECORDS_MAX) {
    say('failed', { id, errno: os.errno.EAGAIN, stage: STAGE.fork });
    return;
  }
  const entry: ProcessEntry = {
    state: STATE.launching,
    pid: 0,
    startTicks: 0n,
    startedAt: BigInt(Date.now()),
    status: 0,
    stage: 0,
    endedAt: 0n,
    endedTicks: 0,
    uid: request.flags & SPAWN_FLAG.setIds ? request.uid : (process.getuid?.() ?? 0),
    mark: request.environment.find((text) => text.startsWith('WEFT_LAUNCH=')),
    why: 0,
    leaseMs: Number(request.leaseMs),
  };
  records.set(id, entry);
  if (!leases.lasts(entry)) {
    Object.assign(entry, { state: STATE.failed, status: os.errno.ETIME, stage: STAGE.lease });
    say('failed', { id, errno: os.errno.ETIME, stage: STAGE.lease });
    return;
  }
  const pid = start(request, {
    onStarted: () => {
      entry.state = STATE.running;
      const { pid, startTicks, startedAt } = entry;
      say('started', { id, pid, startTicks, startedAt });
    },
    onFailed: ({ errno, stage }) => {
      const endedAt = BigInt(Date.now());
      Object.assign(entry, { state: STATE.failed, pid: 0, status: errno, stage, endedAt });
      say('failed', { id, errno, stage });
    },
    onExited: (status) => {
      const endedAt = BigInt(Date.now());
      Object.assign(entry, { state: STATE.exited, status, endedAt, endedTicks: ticksNow() });
      ends.note(id, entry);
      say('exited', { id, status, ...NO_USAGE, endedAt, why: entry.why });
    },
  });
  if (entry.state === STATE.failed) return;
  entry.pid = pid;
  entry.startTicks = BigInt(readStat(pid)?.startTicks ?? 0);
}

function onSignal(
  id: bigint,
  entry: ProcessEntry,
  { signal, scope }: { readonly signal: number; readonly scope: number },
): void {
  const count = entry.pid === 0 ? 0 : signalMembers(rootOf(entry), signal, scope);
  say('signalled', { id, count });
}

function onShutdown(): void {
  const roots = [...records.values()].filter((entry) => entry.pid !== 0).map(rootOf);
  const SIGKILL = 9;
  // Nobody shall take what we kill for ended by itself.
  ends.close();
  for (const root of roots) signalMembers(root, SIGKILL);
  finish();
}

/** Requests about one id that is known. */
function onKnown(request: Extract<Request, { kind: 'signal' | 'forget' | 'leftovers' }>): void {
  const { id } = request;
  const entry = records.get(id);
  if (!entry) {
    say('error', { code: ERROR.unknownId, id, text: 'no such id' });
    return;
  }
  if (request.kind === 'signal') {
    onSignal(id, entry, request);
    return;
  }
  if (request.kind === 'leftovers') {
    say('leftovers', { id, count: entry.pid === 0 ? 0 : countMembers(rootOf(entry)) });
    return;
  }
  if (isLive(entry)) {
    say('error', { code: ERROR.stillLive, id, text: 'still alive' });
    return;
  }
  ends.forget(id);
  records.delete(id);
}

function onRequest(request: Request): void {
  switch (request.kind) {
    case 'hello':
      say('error', { code: ERROR.knowsScopes, id: 0n, text: 'signals have scopes' });
      return;
    case 'spawn':
      onSpawn(request);
      return;
    case 'heard':
      leases.heard(Number(request.monotonic));
      return;
    case 'list':
      for (const [id, entry] of records) sayRecord(id, entry);
      say('list_end', { count: records.size });
      return;
    case 'shutdown':
      onShutdown();
      return;
    default:
      onKnown(request);
  }
}

/** A connection becomes the agent's with its hello: one that only looks who is there replaces
 * nobody. */
function onConnection(socket: Socket): void {
  const reader = new RequestReader();
  const refuse = (code: number, text: string): void => {
    socket.end(encodeAnswer('error', { code, id: 0n, text }));
    socket.removeAllListeners('data');
    socket.resume();
    if (agent === socket) agent = null;
  };
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    if (agent === socket) agent = null;
  });
  const startTicks = BigInt(readStat(process.pid)?.startTicks ?? 0);
  const self = { version: VERSION, pid: process.pid, startTicks, uid: process.geteuid?.() ?? 0 };
  socket.write(encodeAnswer('hello', self));
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const request of reader.push(chunk)) {
        if (request.kind === 'hello' && request.version !== VERSION) {
          const words = `launcher speaks version ${VERSION}, agent ${request.version}`;
          return refuse(ERROR.version, words);
        }
        if (request.kind !== 'hello' && agent !== socket) {
          return refuse(ERROR.noHello, 'hello comes first');
        }
        if (agent !== socket) agent?.destroy();
        agent = socket;
        onRequest(request);
      }
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      refuse(ERROR.malformed, error.message);
    }
  });
}

function lookForStops(): void {
  for (const [id, entry] of records) {
    if (entry.state !== STATE.running && entry.state !== STATE.stopped) continue;
    const state = readStat(entry.pid)?.state === 'T' ? STATE.stopped : STATE.running;
    if (state === entry.state) continue;
    entry.state = state;
    say(state === STATE.stopped ? 'stopped' : 'continued', { id });
  }
}

/** Kills what belongs to leases that are over, until nothing is left. */
function endLeases(): void {
  const SIGKILL = 9;
  for (const entry of records.values()) {
    if (entry.pid === 0 || leases.lasts(entry)) continue;
    if (isLive(entry)) entry.why = LEASE_OVER;
    signalMembers(rootOf(entry), SIGKILL);
    if (!isLive(entry) && countMembers(rootOf(entry)) === 0) entry.leaseMs = 0;
  }
}

/** What the launcher before had seen end without the agent's knowing. */
function takeOver(noted: Ends): void {
  ends = noted;
  for (const [id, end] of noted.take()) {
    records.set(id, { ...end, state: STATE.exited, stage: 0, mark: undefined, leaseMs: 0 });
  }
}

let finish = (): void => process.exit(0);

function serve(path: string, idleExitMs: number): void {
  const server: Server = createServer(onConnection);
  takeOver(new Ends(path));
  finish = () => {
    ends.close();
    rmSync(path, { force: true });
    process.exit(0);
  };
  rmSync(path, { force: true });
  process.umask(0o177);
  server.listen(path, () => process.umask(0o022));
  setInterval(() => {
    lookForStops();
    // After what the head was heard to say, if we were held up: timers come before sockets.
    setImmediate(endLeases);
    if (agent || records.size > 0) idleSince = Date.now();
    else if (idleExitMs > 0 && Date.now() - idleSince >= idleExitMs) finish();
  }, LOOK_EVERY_MS);
}

function main(args: readonly string[]): void {
  const options = new Map<string, string>();
  for (let i = 0; i + 1 < args.length; i += 2) options.set(args[i] ?? '', args[i + 1] ?? '');
  const path = options.get('--socket');
  if (!path?.startsWith('/')) {
    process.stderr.write('usage: main --socket PATH [--log PATH] [--idle-exit SECONDS]\n');
    process.exit(EXIT_USAGE);
  }
  process.on('SIGHUP', () => undefined);
  const probe = connect(path);
  probe.once('connect', () => {
    process.stderr.write('weft-launcher: already running\n');
    process.exit(EXIT_ALREADY_RUNNING);
  });
  probe.once('error', () => serve(path, Number(options.get('--idle-exit') ?? 60) * 1000));
}

main(process.argv.slice(2));
