// A cluster on the hosts of a Lan: one head, agents on the others, real certificates, real cuts.
// Jobs leave receipts in a directory that all hosts share, so that tests judge by what ran, not by
// what the head says. The state of head and agents is on their own disks.

import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { HeadOptions } from '../../../src/kernel/config/daemon-options.ts';
import { plainScheduling } from '../../../src/kernel/model/scheduling.ts';
import type { Settings } from '../../../src/kernel/model/settings.ts';
import { daemonScript } from '../../support/daemon-script.ts';
import { type Call, connectLocally, type LocalClient } from '../../support/local-client.ts';
import { whenKilled } from '../../support/when-killed.ts';
import { type Disk, type Host, Lan, type Program, until } from './hosts.ts';

export interface Member {
  readonly host: Host;
  readonly name: string;
  /** State directory of the node as this machine sees it. */
  readonly stateDir: string;
  /** The same directory as its host has it, and no other host. */
  readonly place: string;
  readonly optionsFile: string;
  agent: Program | null;
  /** Environment of the agent, for a clock that is moved. */
  env: Record<string, string>;
}

/** Cpus of each node. */
export const CPUS = 4;
export const NODE_TIMEOUT_MS = 3000;
const SETTINGS: Settings = {
  nodeTimeoutMs: NODE_TIMEOUT_MS,
  killGraceMs: 500,
  crashLimit: 5,
  defaults: {
    nodeCount: 1,
    processesPerNode: 1,
    perNode: { cpuCount: 1, memoryBytes: 64 * 1_048_576, gpuCount: 0, counted: {} },
    walltimeMs: null,
  },
  scheduling: plainScheduling('first_fit'),
  retainedJobsMax: 10_000,
  archiveDefaultBytes: 64 * 1_048_576,
  buildMsMax: 3_600_000,
};

/** Named for this process: tests find programs by it, and others run the same tests beside it. */
function diskOf(from: string): Disk {
  return { from, to: `/var/lib/weft-${process.pid}/${basename(from)}` };
}

/** How patient head and agents are with each other. */
export type Timing = Pick<HeadOptions, 'settings' | 'heartbeatMs' | 'tickMs'>;

/** A tenth of what a real cluster has, so that a test need not wait. */
export const QUICK: Timing = { settings: SETTINGS, heartbeatMs: 300, tickMs: 200 };

/** Sizes of the disks that may be filled. */
const SMALL = { head: '48m', lastNode: '80m' };

/** What one epoch of one task left behind. Times are seconds of the machine's uptime. */
export interface Receipt {
  readonly task: string;
  readonly epoch: number;
  readonly host: string;
  readonly from: number;
  /** The instant of the last sign of life. */
  readonly until: number;
  readonly ended: boolean;
}

const WORKER = `#!/bin/sh
# Signs of life every tenth of a second, $1 times or until the file $1 is there; then the end.
file="$RECEIPTS/$WEFT_TASK_ID@$WEFT_EPOCH@$(hostname)"
beats=0
is_over() {
  case "$1" in /*) [ -e "$1" ] ;; *) [ "$beats" -ge "$1" ] ;; esac
}
until [ "$beats" -gt 0 ] && is_over "$1"; do
  cut -d' ' -f1 /proc/uptime >> "$file"
  beats=$((beats + 1))
  sleep 0.1
done
echo end >> "$file"
`;

/** What a job waits for, so that a test and not the speed of a machine says when it ends. */
export interface Gate {
  readonly path: string;
  open(): void;
}

/** What a host is given before its agent starts; `directory` is the cluster's. */
type Prepare = (host: Host, directory: string) => Promise<void>;

export class HostedCluster {
  readonly directory = mkdtempSync(join(tmpdir(), 'weft-hosts-'));
  readonly receipts = join(this.directory, 'receipts');
  readonly headDirectory = join(this.directory, 'head');
  readonly lan = new Lan([this.directory]);
  readonly members: Member[] = [];
  readonly #mounted: string[] = [];
  readonly #gates: Gate[] = [];
  readonly socketPath = join(this.directory, 'head.sock');
  /** What the next head that starts may keep of files. */
  blobBytesMax = 64 * 1_048_576;
  #headHost: Host | null = null;
  #head: Program | null = null;
  #client: LocalClient | null = null;
  #prepare: Prepare = async () => undefined;
  readonly #timing: Timing;
  readonly #forget = whenKilled(() => {
    this.lan.closeNow();
    this.#removeFiles();
  });

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  static async start(
    nodeCount: number,
    timing = QUICK,
    disks = SMALL,
    prepare: Prepare = async () => undefined,
  ): Promise<HostedCluster> {
    const cluster = new HostedCluster(timing);
    cluster.#prepare = prepare;
    mkdirSync(cluster.receipts);
    mkdirSync(cluster.headDirectory, { mode: 0o700 });
    // Disks of their own, small enough to be filled by a test; before the hosts, who see no later.
    cluster.#mountSmall(cluster.headDirectory, `size=${disks.head},mode=0700`);
    const last = join(cluster.directory, `n${nodeCount}`);
    mkdirSync(last);
    cluster.#mountSmall(last, `size=${disks.lastNode},mode=0711`);
    writeFileSync(join(cluster.directory, 'worker.sh'), WORKER, { mode: 0o755 });
    // Who logs in on a machine proves it by a directory in /tmp, and tests ask the head from this
    // one.
    const headDisk = diskOf(cluster.headDirectory);
    cluster.#headHost = await cluster.lan.addHost('head', headDisk, ['/tmp']);
    await cluster.startHead();
    for (let at = 1; at <= nodeCount; at += 1) await cluster.#addNode(`n${at}`, CPUS);
    await cluster.nodesUp();
    return cluster;
  }

  #mountSmall(path: string, options: string): void {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'weft', path]);
    this.#mounted.push(path);
  }

  async startHead({ acceptLoss = false } = {}): Promise<void> {
    const options: HeadOptions = {
      config: { file: null, flags: [], directory: this.directory, written: {} },
      directory: diskOf(this.headDirectory).to,
      clusterName: 'hosts',
      socketPath: this.socketPath,
      listen: { host: '0.0.0.0', port: 5001 },
      publicNames: ['10.77.0.1'],
      multiUser: false,
      ...this.#timing,
      logFile: join(this.directory, 'head.log'),
      auditFile: join(this.directory, 'audit.log'),
      capacity: {},
      acceptLoss,
      requestRateMax: 20_000,
      fence: null,
      logBytesMax: 1_048_576,
      logBytesTotalMax: 64 * 1_048_576,
      archiveBytesMax: 2 ** 30,
      archiveAgeMs: 86_400_000,
      blobBytesMax: this.blobBytesMax,
      userFilesBytesMax: 2 ** 40,
    };
    const file = join(this.directory, 'head.json');
    writeFileSync(file, JSON.stringify(options), { mode: 0o600 });
    const host = this.#headHost as Host;
    const args = [daemonScript('head'), file];
    this.#head = await host.start(process.execPath, args, { stderr: this.#output('head') });
    await until('the head answers', async () => {
      this.#client?.close();
      this.#client = await connectLocally(this.socketPath).catch(() => null);
      return this.#client === null ? undefined : true;
    });
  }

  /** The head's machine and its process. */
  get head(): { readonly host: Host; readonly program: Program } {
    return { host: this.#headHost as Host, program: this.#head as Program };
  }

  /** Ends the head like `kill -9` or a crash would. */
  async killHead(): Promise<void> {
    const head = this.#head as Program;
    process.kill(head.pid, 'SIGKILL');
    await head.ended;
  }

  readonly call: Call = (method, path, body) => {
    if (this.#client === null) throw new Error('no head has been started');
    return this.#client.call(method, path, body);
  };

  async startAgent(member: Member): Promise<void> {
    const args = [daemonScript('agent'), member.optionsFile];
    const stderr = this.#output(member.name);
    member.agent = await member.host.start(process.execPath, args, { stderr, env: member.env });
  }

  async killAgent(member: Member): Promise<void> {
    const agent = member.agent as Program;
    process.kill(agent.pid, 'SIGKILL');
    await agent.ended;
  }

  member(name: string): Member {
    const member = this.members.find((one) => one.name === name);
    if (member === undefined) throw new Error(`no node ${name}`);
    return member;
  }

  /** Waits until all nodes, or these, are connected. */
  async nodesUp(names = this.members.map((member) => member.name)): Promise<void> {
    await until(`${names.join(', ')} are up`, async () => {
      const { nodes } = await this.call<{ nodes: { name: string; state: string }[] }>(
        'GET',
        '/v1/nodes',
      );
      return names.every((name) => nodes.some((node) => node.name === name && node.state === 'up'))
        ? true
        : undefined;
    });
  }

  /** A new gate, closed. */
  gate(): Gate {
    const path = join(this.directory, `gate-${this.#gates.length}`);
    const gate = { path, open: () => writeFileSync(path, '') };
    this.#gates.push(gate);
    return gate;
  }

  /** Submits work of that many tenths of a second, or until the gate is open. */
  async submit(beats: number | Gate, more: Record<string, unknown> = {}): Promise<number> {
    const reply = await this.call<{ jobId: number }>('POST', '/v1/jobs', this.work(beats, more));
    return reply.jobId;
  }

  work(beats: number | Gate, more: Record<string, unknown> = {}): object {
    const until = typeof beats === 'number' ? String(beats) : beats.path;
    return {
      program: { kind: 'argv', argv: [join(this.directory, 'worker.sh'), until] },
      environment: { RECEIPTS: this.receipts, PATH: process.env.PATH ?? '/usr/bin:/bin' },
      directory: { kind: 'shared', path: this.directory },
      ...more,
    };
  }

  async job(id: number): Promise<JobShown> {
    return this.call('GET', `/v1/jobs/${id}`);
  }

  async done(id: number): Promise<JobShown> {
    return until(`job ${id} is done`, async () => {
      const job = await this.job(id);
      return job.state === 'done' ? job : undefined;
    });
  }

  /** What ran, by the receipts of the processes themselves. */
  ran(id: number): Receipt[] {
    return this.#filesOf(id)
      .map((file) => this.#receipt(file))
      .sort((a, b) => a.epoch - b.epoch);
  }

  /** All signs of life of a job, in seconds of the machine's uptime. */
  beats(id: number): number[] {
    return this.#filesOf(id).flatMap((file) => this.#beats(file));
  }

  /** Waits for the first sign of life of an epoch. */
  async started(id: number, epoch = 1, timeoutMs?: number): Promise<Receipt> {
    const find = () => this.ran(id).find((receipt) => receipt.epoch === epoch && receipt.from > 0);
    return until(`job ${id} epoch ${epoch} runs`, find, timeoutMs);
  }

  /** Nothing of any job runs on any host, and no node holds anything. */
  async clean(): Promise<void> {
    // A test that failed may have left some closed.
    for (const gate of this.#gates) gate.open();
    await until('no process of a job is left', () => {
      const left = this.members.flatMap((member) => member.host.processes());
      return left.some((line) => line.includes('worker.sh')) ? undefined : true;
    });
    await until('all resources are free', async () => {
      const { nodes } = await this.call<{ nodes: NodeShown[] }>('GET', '/v1/nodes');
      const free = nodes.every((node) => node.total.cpuCount === node.free.cpuCount);
      return free ? true : undefined;
    });
  }

  async close(): Promise<void> {
    this.#client?.close();
    await this.lan.close();
    this.#forget();
    this.#removeFiles();
  }

  #removeFiles(): void {
    for (const path of this.#mounted) execFileSync('umount', [path]);
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** The last lines of every log, for the message of a failed test. */
  logs(): string {
    const files = readdirSync(this.directory).filter((file) => file.endsWith('.log'));
    return files
      .map(
        (file) => `== ${file}\n${execFileSync('tail', ['-n', '15', join(this.directory, file)])}`,
      )
      .join('\n');
  }

  async #addNode(name: string, cpus: number): Promise<void> {
    const stateDir = join(this.directory, name);
    mkdirSync(stateDir, { recursive: true });
    const disk = diskOf(stateDir);
    const host = await this.lan.addHost(name, disk);
    await this.#prepare(host, this.directory);
    const { secret } = await this.call<{ secret: string }>('POST', '/v1/nodes', { name });
    const certificate = new X509Certificate(
      readFileSync(join(this.headDirectory, 'tls', 'certificate.pem')),
    );
    const place = disk.to;
    const optionsFile = join(this.directory, `${name}.json`);
    const options = {
      name,
      stateDir: place,
      head: {
        url: 'https://10.77.0.1:5001',
        fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
      },
      secret,
      resources: { cpuCount: cpus, memoryBytes: 2 ** 30, gpuCount: 0, counted: {} },
      labels: [name],
      sharedPaths: [this.directory],
      switchUser: false,
      logFile: join(this.directory, `${name}.log`),
    };
    writeFileSync(optionsFile, JSON.stringify(options), { mode: 0o600 });
    const member: Member = { host, name, stateDir, place, optionsFile, agent: null, env: {} };
    this.members.push(member);
    await this.startAgent(member);
  }

  #output(name: string): number {
    const file = join(this.directory, `${name}.stderr.log`);
    if (!existsSync(file)) appendFileSync(file, '');
    return openSync(file, 'a');
  }

  #filesOf(id: number): string[] {
    const isOf = (file: string): boolean => file.split('@')[0]?.split('[')[0] === String(id);
    return readdirSync(this.receipts).filter(isOf);
  }

  #lines(file: string): string[] {
    // As far as they are whole: it may be written this very moment.
    return readFileSync(join(this.receipts, file), 'utf8').split('\n').slice(0, -1);
  }

  #beats(file: string): number[] {
    return this.#lines(file)
      .filter((line) => line !== 'end')
      .map(Number);
  }

  #receipt(file: string): Receipt {
    const [task = '', epoch, host = ''] = file.split('@');
    const beats = this.#beats(file);
    return {
      task,
      epoch: Number(epoch),
      host,
      from: beats[0] ?? 0,
      until: beats.at(-1) ?? 0,
      ended: this.#lines(file).at(-1) === 'end',
    };
  }
}

export interface JobShown {
  readonly id: number;
  readonly state: string;
  readonly outcome: { readonly kind: string; readonly detail: string | null } | null;
  readonly notice: string | null;
  readonly nodes: readonly string[];
}

interface NodeShown {
  readonly name: string;
  readonly total: { readonly cpuCount: number };
  readonly free: { readonly cpuCount: number };
}

/** Two epochs of one task that lived at the same time, if any. */
export function overlap(receipts: readonly Receipt[]): string | null {
  for (const a of receipts) {
    for (const b of receipts) {
      if (a.task !== b.task || a.epoch >= b.epoch) continue;
      if (a.until >= b.from) {
        return `${a.task}: epoch ${a.epoch} on ${a.host} lived until ${a.until}, epoch ${b.epoch} on ${b.host} began at ${b.from}`;
      }
    }
  }
  return null;
}
