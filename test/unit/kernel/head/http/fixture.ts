// A whole head with both listeners open, on a store in memory and a temporary directory, and an
// agent that does what the test says.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { HEAD_MACHINE } from '../../../../../sim/head-machine.ts';
import { MemoryDisk, MemoryStore } from '../../../../../sim/memory-store.ts';
import type { HeadOptions } from '../../../../../src/bin/head-options.ts';
import { openWings } from '../../../../../src/bin/head-wings.ts';
import { type Client, createClient } from '../../../../../src/kernel/api/client.ts';
import { ok } from '../../../../../src/kernel/base/result.ts';
import { References } from '../../../../../src/kernel/files/blobs/references.ts';
import { Archive } from '../../../../../src/kernel/head/archive/archive.ts';
import type { Shelving } from '../../../../../src/kernel/head/archive/shelving.ts';
import { makeCertificate } from '../../../../../src/kernel/head/auth/certificate.ts';
import { BlobStore } from '../../../../../src/kernel/head/blobs/blob-store.ts';
import { JobFiles } from '../../../../../src/kernel/head/files/job-files.ts';
import { type Head, startHead } from '../../../../../src/kernel/head/head.ts';
import { type HttpSide, startHttp } from '../../../../../src/kernel/head/http/server.ts';
import { LogFiles } from '../../../../../src/kernel/head/logs/log-files.ts';
import { logJobsOf } from '../../../../../src/kernel/head/logs/log-jobs.ts';
import type { UidsOf } from '../../../../../src/kernel/listeners/peer-owners.ts';
import type { EpochId, NodeName } from '../../../../../src/kernel/model/ids.ts';
import { NODE_FEATURES } from '../../../../../src/kernel/model/node-features.ts';
import type { LaunchOrder, Order, Report } from '../../../../../src/kernel/model/orders.ts';
import { plainScheduling } from '../../../../../src/kernel/model/scheduling.ts';
import type { Settings } from '../../../../../src/kernel/model/settings.ts';
import { systemChance } from '../../../../../src/kernel/os/chance.ts';
import { systemClock } from '../../../../../src/kernel/os/clock.ts';
import type { Clock } from '../../../../../src/kernel/ports/clock.ts';
import type { Log, LogFields } from '../../../../../src/kernel/ports/log.ts';
import type { Wing } from '../../../../../src/kernel/wing.ts';
import { decodeHeadMessage, encode } from '../../../../../src/kernel/wire/codec.ts';
import { type HeadToAgent, PROTOCOL_VERSION } from '../../../../../src/kernel/wire/messages.ts';
import { OrderReader } from '../../../../../src/kernel/wire/orders.ts';
import { WINGS } from '../../../../../src/wings.ts';

const PATIENCE_MS = 120_000;
const SETTINGS: Settings = {
  // Agents of tests do not beat, and may have a slow machine.
  nodeTimeoutMs: 600_000,
  killGraceMs: 1000,
  crashLimit: 3,
  defaults: {
    nodeCount: 1,
    processesPerNode: 1,
    perNode: { cpuCount: 1, memoryBytes: 1_048_576, gpuCount: 0, counted: {} },
    walltimeMs: null,
  },
  scheduling: plainScheduling('first_fit'),
  retainedJobsMax: 10_000,
  archiveDefaultBytes: 64 * 1_048_576,
  buildMsMax: 3_600_000,
};

/** Keeps what is logged, for tests that look at it. */
export class KeptLog implements Log {
  readonly lines: { level: string; fields: LogFields; message: string }[] = [];
  debug = (fields: LogFields, message: string) => this.#keep('debug', fields, message);
  info = (fields: LogFields, message: string) => this.#keep('info', fields, message);
  warn = (fields: LogFields, message: string) => this.#keep('warn', fields, message);
  error = (fields: LogFields, message: string) => this.#keep('error', fields, message);

  #keep(level: string, fields: LogFields, message: string): void {
    this.lines.push({ level, fields, message });
  }
}

export interface World {
  readonly directory: string;
  readonly socketPath: string;
  readonly disk: MemoryDisk;
  readonly head: Head;
  readonly http: HttpSide;
  readonly logs: LogFiles;
  readonly blobs: BlobStore;
  readonly archive: Archive;
  readonly shelving: Shelving | undefined;
  /** What names which blobs. */
  readonly names: References;
  readonly log: KeptLog;
  readonly audit: KeptLog;
  /** Logged in locally as whoever runs the tests: an admin. */
  readonly admin: Client;
  readonly url: string;
  /** Lets so many days go by for file contents. */
  agePlus(days: number): void;
  /** What a head that starts again on the same files would name. */
  restartFiles(): Promise<References>;
  /** A client over TLS with a token of this user, made by the admin. */
  client(user: string, token?: string): Promise<Client>;
  token(user: string): Promise<string>;
}

export interface WorldOptions {
  readonly settings?: Partial<Settings>;
  readonly requestRateMax?: number;
  /** Default: true. */
  readonly multiUser?: boolean;
  /** The clock of the listeners, over the system's. */
  readonly clock?: Partial<Clock>;
  /** Default: nobody tells whose connections to the socket are. */
  readonly uidsOf?: UidsOf;
  /** The disk of a head before; default: an empty one. */
  readonly disk?: MemoryDisk;
  readonly headersMs?: number;
  /** Addresses of the machine, as join tokens carry them; default: none. */
  readonly ownAddresses?: readonly string[];
  readonly blobBytesMax?: number;
  /** Parts of these wings instead of those of the program. */
  readonly parts?: Readonly<Record<string, NonNullable<Wing['head']>>>;
  readonly archiveBytesMax?: number;
  readonly archiveClock?: Partial<Clock>;
}

/** Everything is stopped and removed after the test. */
export async function startWorld(t: TestContext, options: WorldOptions = {}): Promise<World> {
  const directory = await mkdtemp(path.join(tmpdir(), 'weft-http-'));
  const log = new KeptLog();
  const audit = new KeptLog();
  const { disk = new MemoryDisk() } = options;
  let head: Head | undefined;
  const names = new References();
  let agedMs = 0;
  const logs = new LogFiles({
    directory: path.join(directory, 'logs'),
    fileBytesMax: 1_048_576,
    totalBytesMax: 16 * 1_048_576,
    jobs: logJobsOf(() => head?.engine ?? null),
    log,
  });
  await logs.prepare();
  const blobs = new BlobStore({
    directory: path.join(directory, 'blobs'),
    bytesMax: options.blobBytesMax ?? 16 * 1_048_576,
    diskFreeMin: 0,
    names,
    namesFilled: () => jobFiles.filled(),
    givers: [
      {
        mayGive: (user) => (jobFiles.hasIdle(user) ? Number.POSITIVE_INFINITY : 0),
        give: (user) => jobFiles.relinquish(user),
      },
      {
        mayGive: (user) => archive.bytesOf(user),
        give: (user, bytes) => archive.relinquish(user, bytes),
      },
    ],
    clock: { ...systemClock, now: () => Date.now() + agedMs },
    log,
  });
  const jobFiles = new JobFiles({ blobs, names, log });
  const wings = await wingsOf(directory, options.parts ?? {}, { log, audit });
  const shelving = wings.parts.find((part) => part.shelving !== undefined)?.shelving;
  const archive = new Archive({
    directory: path.join(directory, 'archive'),
    bytesMax: options.archiveBytesMax ?? 16 * 1_048_576,
    ageMs: 86_400_000,
    shelving,
    blobs,
    names,
    logs,
    clock: { ...systemClock, ...options.archiveClock },
    log,
  });
  await blobs.prepare();
  await archive.prepare();
  const store = new MemoryStore({ disk });
  const ports = { machine: HEAD_MACHINE, clock: systemClock, log, logs };
  const settings = { ...SETTINGS, ...options.settings };
  head = await startHead(
    {
      ...ports,
      store,
      parts: wings.parts,
    },
    {
      settings,
      heartbeatMs: 1000,
      tickMs: 1000,
      logBytesMax: 1_048_576,
    },
  );
  blobs.attach(head.engine);
  jobFiles.attach(head.engine);
  archive.attach(head.engine);
  const socketPath = path.join(directory, 'weft.sock');
  const certificate = await makeCertificate({
    clusterName: 'test',
    names: ['localhost', '127.0.0.1'],
    now: Date.now(),
    chance: systemChance,
  });
  const clock = { ...systemClock, ...options.clock };
  const running = head;
  const http = await startHttp(
    {
      ...ports,
      blobs,
      jobFiles,
      archive,
      clock,
      chance: systemChance,
      audit,
      engine: head.engine,
      agents: head.agents,
      reload: async () => ok({ file: null, changed: [], afterRestart: [] }),
    },
    {
      clusterName: 'test',
      version: '0.0.0',
      multiUser: options.multiUser ?? true,
      capacity: {},
      socketPath,
      secure: {
        host: '127.0.0.1',
        port: 0,
        certificate,
        publicNames: [],
        ownAddresses: () => options.ownAddresses ?? [],
      },
      page: { files: path.join(directory, 'page'), state: directory },
      loginDirectory: path.join(directory, 'login'),
      requestRateMax: options.requestRateMax ?? 20_000,
      uidsOf: options.uidsOf,
      wings,
      ...(options.headersMs === undefined ? {} : { headersMs: options.headersMs }),
    },
  );
  t.after(async () => {
    await wings.end();
    await http.close();
    await archive.close();
    await blobs.close();
    await running.stop();
    // Last: all of them may still write there before.
    await rm(directory, { recursive: true, force: true });
  });
  const admin = createClient({ address: { socketPath } });
  t.after(() => admin.close());
  const url = `https://127.0.0.1:${http.port}`;
  const address = { url, fingerprint: http.fingerprint ?? undefined };
  const token = async (user: string): Promise<string> =>
    (await admin.call('createToken', { body: { user } })).token;
  const client = async (user: string, known?: string): Promise<Client> => {
    const made = createClient({ address, token: known ?? (await token(user)) });
    t.after(() => made.close());
    return made;
  };
  const restartFiles = async (): Promise<References> => {
    const fresh = new References();
    const files = new JobFiles({ blobs, names: fresh, log });
    files.attach(running.engine);
    await files.filled();
    return fresh;
  };
  return {
    restartFiles,
    agePlus: (days) => {
      agedMs += days * 86_400_000;
    },
    directory,
    socketPath,
    disk,
    head,
    http,
    logs,
    blobs,
    archive,
    shelving,
    names,
    log,
    audit,
    admin,
    url,
    client,
    token,
  };
}

/** Wings like those of the program, where nothing is configured. */
function wingsOf(
  directory: string,
  parts: NonNullable<WorldOptions['parts']>,
  logs: { readonly log: Log; readonly audit: Log },
) {
  const notify = { matrix: null, webhook: null, commands: {}, mail: null, timeoutMs: 1000 };
  const options = { directory, clusterName: 'test', notify } as unknown as HeadOptions;
  const wings = WINGS.map((wing) => ({ ...wing, head: parts[wing.name] ?? wing.head }) as Wing);
  return openWings({ options, ...logs }, wings);
}

/** An agent in the hands of a test: launches are collected, reports are sent as told. */
export interface FakeAgent {
  readonly name: string;
  readonly secret: string;
  readonly socket: WebSocket;
  readonly launches: LaunchOrder[];
  /** All that came, repeated ones too. */
  readonly orders: Order[];
  readonly messages: HeadToAgent[];
  tell(message: unknown): void;
  report(report: Report): void;
  started(order: LaunchOrder): void;
  ended(order: LaunchOrder, code: number): void;
  output(epochId: EpochId, text: string, at: { offset: number; end: boolean }): void;
  launch(count?: number): Promise<LaunchOrder>;
}

export async function startAgent(
  t: TestContext,
  world: World,
  name: string,
  of: AgentKind = 'machine',
): Promise<FakeAgent> {
  const { secret } = await world.admin.call('createNode', {
    body: { name, resources: { cpuCount: 4, memoryBytes: 2 ** 30, gpuCount: 0, counted: {} } },
  });
  const socket = new WebSocket(`ws+unix:${world.socketPath}:/v1/agent`, {
    headers: { authorization: `Node ${name}:${secret}` },
  });
  t.after(() => socket.terminate());
  const messages: HeadToAgent[] = [];
  const launches: LaunchOrder[] = [];
  const orders: Order[] = [];
  const kept = new OrderReader();
  let reported = 0;
  const send = (message: unknown): void => socket.send(encode(message));
  const report = (one: Report): void => {
    reported += 1;
    send({ kind: 'reports', first: reported, reports: [one] });
  };
  socket.on('message', (data: Buffer) => {
    const message = decodeHeadMessage(data, kept);
    if (!message.ok) throw new Error(message.error);
    messages.push(message.value);
    if (message.value.kind !== 'orders') return;
    orders.push(...message.value.orders);
    for (const order of message.value.orders) {
      if (order.kind !== 'launch') continue;
      if (!launches.some(({ epochId }) => epochId === order.epochId)) launches.push(order);
    }
  });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const features = [...(of === 'old machine' ? [] : NODE_FEATURES), 'wings'];
  const own = { features, dialedAt: performance.now() };
  send({ kind: 'hello', protocol: PROTOCOL_VERSION, hello: hello(name, of), ...own });
  await eventually(() => messages.some(({ kind }) => kind === 'welcome'));
  return {
    name,
    secret,
    socket,
    launches,
    orders,
    messages,
    tell: send,
    report,
    started: ({ epochId }) =>
      report({ kind: 'task_started', epochId, at: Date.now(), limits: 'none' }),
    ended: ({ epochId }, code) =>
      report({
        kind: 'task_ended',
        epochId,
        at: Date.now(),
        cause: 'exited',
        nodeFault: false,
        processes: [{ rank: 0, exit: { code } }],
        usage: { userUs: 1, systemUs: 1, memoryPeakBytes: 1 },
      }),
    output: (epochId, text, { offset, end }) =>
      send({
        kind: 'log',
        name: { epochId, nodeRank: 0, rank: 0, stream: 'stdout' },
        offset,
        bytes: Buffer.from(text),
        end,
        dropped: 0,
      }),
    async launch(count = 1) {
      await eventually(() => launches.length >= count);
      return launches[count - 1] as LaunchOrder;
    },
  };
}

/** `old machine`: of a release that knew none of the features. */
type AgentKind = 'machine' | 'old machine' | 'site';

function hello(name: string, of: AgentKind) {
  return {
    node: name as NodeName,
    bootId: 'boot',
    instance: 'instance',
    resources: { cpuCount: 4, memoryBytes: 2 ** 30, gpuCount: 0, counted: {} },
    labels: [],
    sharedPaths: ['/'],
    facts: {
      os: 'linux',
      arch: 'x64',
      kernel: '6',
      hostname: name,
      ...(of === 'site' ? { site: name } : {}),
      agentVersion: '0',
      diskFreeBytes: 1,
      diskBytes: 2,
      network: '',
      limits: 'polling',
      launcher: 'node',
      switchesUser: false,
      user: 'me',
    },
    held: [],
    pauseMaxMs: 1000,
  };
}

/** Waits until the condition holds; fails after far longer than a busy machine needs. */
export async function eventually(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS;
  while (!(await isTrue())) {
    if (performance.now() > endsAt) throw new Error(`never true: ${String(isTrue)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The smallest job there is. */
export const TRUE = { program: { kind: 'argv' as const, argv: ['true'] } };
