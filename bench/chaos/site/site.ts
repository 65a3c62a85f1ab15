// A real Slurm of two nodes that the head steers, on a host of the cluster's network: its daemons,
// its gateway, and the commands of its users.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentOptions } from '../../../src/kernel/config/daemon-options.ts';
import type { HostedCluster } from '../../../test/e2e/support/hosted-cluster.ts';
import { type Host, until } from '../../../test/e2e/support/hosts.ts';
import { endNow, whenKilled } from '../../../test/support/when-killed.ts';
import { type Slurm, startSlurm } from '../../mix/slurm.ts';
import { SITE, type TheirWork } from './evidence.ts';

export const SITE_NODES = ['n1', 'n2'];
export const SITE_CPUS = 2;
/** Each node has one. */
export const FEATURES = ['red', 'blue'];
/** The scheduler of the system looks only when something has happened. */
const SCHEDULER = 'batch_sched_delay=0,sched_interval=86400,default_queue_depth=10000';
const AGENT = join(import.meta.dirname, '..', '..', '..', 'src', 'bin', 'agent.ts');
const NOBODY = ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'];

/** All nodes are this machine: receipts say for which of them a process is. */
const AT_SITE = `#!/bin/sh
CHAOS_HOST=$(echo "$WEFT_NODELIST" | cut -d, -f$((WEFT_NODE_RANK + 1))) exec "$@"
`;
const THEIRS = `#!/bin/sh
export WEFT_TASK_ID=\${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}\${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}
export WEFT_EPOCH=\${SLURM_RESTART_COUNT:-0} WEFT_PROC_RANK=0 WEFT_NODE_RANK=0
pids= code=0
for node in $(scontrol show hostnames); do
  CHAOS_HOST=$node.${SITE} "$@" & pids="$pids $!"
  WEFT_NODE_RANK=$((WEFT_NODE_RANK + 1))
done
for pid in $pids; do wait "$pid" || code=$?; done
exit "$code"
`;

export class Site {
  /** What Weft's own tasks share there. */
  readonly directory = mkdtempSync(join(tmpdir(), 'weft-chaos-site-'));
  /** Starts a worker of a task of Weft's. */
  readonly atSite = this.#at('at-site');
  readonly host: Host;
  readonly #slurm: Slurm;
  readonly #worker = this.#at('worker');
  readonly #receipts = this.#at('receipts');
  #gateway: ChildProcess | null = null;
  readonly #forget: () => void;

  private constructor(host: Host, slurm: Slurm) {
    this.host = host;
    this.#slurm = slurm;
    this.#forget = whenKilled(() => {
      for (const pid of this.#pids()) endNow(pid, 'SIGKILL');
      this.#remove();
    });
  }

  /** Null: there is no Slurm on this machine. */
  static async start(cluster: HostedCluster): Promise<Site | null> {
    if (spawnSync('slurmctld-wlm', ['-V']).status !== 0) return null;
    const [setpriv = '', ...becoming] = NOBODY;
    if (spawnSync(setpriv, [...becoming, 'sh', '-c', ': >/dev/null']).status !== 0)
      throw new Error(
        '/dev/null: its users cannot write there, as Slurm does: chmod 666 /dev/null',
      );
    const host = await cluster.lan.addHost(SITE);
    const inside = ['nsenter', `--net=/run/netns/${host.netns}`, '--'];
    const count = SITE_NODES.length;
    const slurm = await startSlurm(count, SITE_CPUS, SCHEDULER, { steered: true, inside });
    const site = new Site(host, slurm);
    for (const [at, node] of SITE_NODES.entries()) {
      const feature = `availablefeatures=${FEATURES[at]}`;
      await slurm.command('scontrol', 'update', `nodename=${node}`, feature);
    }
    site.#furnish();
    const { secret } = await cluster.call<{ secret: string }>('POST', '/v1/nodes', { name: SITE });
    site.#enrol(cluster, secret);
    site.startGateway();
    return site;
  }

  #at(name: string): string {
    return join(this.directory, name);
  }

  /** The worker is another program than that of the other nodes: its users may run this one. */
  takeWorker(path: string): void {
    copyFileSync(path, this.#worker);
    chmodSync(this.#worker, 0o755);
  }

  #furnish(): void {
    chmodSync(this.directory, 0o755);
    mkdirSync(this.#receipts);
    chmodSync(this.#receipts, 0o1777);
    writeFileSync(this.atSite, AT_SITE, { mode: 0o755 });
    writeFileSync(this.#at('theirs'), THEIRS, { mode: 0o755 });
    mkdirSync(this.#at('gateway'), { mode: 0o711 });
  }

  #enrol(cluster: HostedCluster, secret: string): void {
    const member = JSON.parse(readFileSync(cluster.member('n1').optionsFile, 'utf8'));
    const { head } = member as AgentOptions;
    const options: AgentOptions = {
      name: SITE,
      stateDir: this.#at(`gateway/${SITE}`),
      head,
      secret,
      labels: [],
      sharedPaths: [this.directory],
      switchUser: false,
      logFile: join(cluster.directory, `${SITE}.log`),
      site: {
        system: 'slurm',
        mode: 'steer',
        takeover: 'execution_queue',
        main: 'main',
        execution: 'steer',
        ticket: 'ticket',
        environment: null,
        spread: [],
        program: [],
        url: null,
        queue: null,
        account: null,
        options: [],
        before: [],
        filters: null,
        pollMs: 500,
        timeoutMs: 30_000,
        commandsMax: 4,
      },
    };
    writeFileSync(this.optionsFile, JSON.stringify(options), { mode: 0o600 });
  }

  get optionsFile(): string {
    return this.#at('gateway.json');
  }

  startGateway(): void {
    const log = openSync(this.#at('gateway.log'), 'a', 0o600);
    const words = [`--net=/run/netns/${this.host.netns}`, '--', process.execPath, AGENT];
    this.#gateway = spawn('nsenter', [...words, this.optionsFile], {
      env: this.#slurm.environment,
      cwd: '/',
      stdio: ['ignore', log, log],
    });
  }

  signalGateway(signal: NodeJS.Signals): void {
    this.#gateway?.kill(signal);
  }

  async endGateway(signal: NodeJS.Signals): Promise<void> {
    const gateway = this.#gateway;
    if (gateway === null || gateway.exitCode !== null || gateway.signalCode !== null) return;
    const ended = new Promise((resolve) => gateway.once('exit', resolve));
    gateway.kill(signal);
    await ended;
  }

  /** Gives it a job like one of its users; the id that it gets. */
  async give(work: TheirWork): Promise<string> {
    const { key, arraySize, nodeCount, cpuCount, words, beats, exitCode } = work;
    const array = arraySize === null ? [] : [`--array=0-${arraySize - 1}`];
    const size = [`--nodes=${nodeCount}`, '--ntasks-per-node=1', `--cpus-per-task=${cpuCount}`];
    const how = ['--parsable', '--uid=nobody', '--chdir=/tmp', '--output=/dev/null', '--time=5'];
    const args = [this.#worker, this.#receipts, String(beats), String(exitCode), '0', key];
    const line = ['sbatch', ...how, `--job-name=${key}`, ...size, ...array, ...words];
    return (await this.#slurm.command(...line, this.#at('theirs'), ...args)).trim();
  }

  /** What is over already is left as it is. */
  async cancel(id: string): Promise<void> {
    await this.#slurm.command(...NOBODY, 'scancel', id).catch(() => undefined);
  }

  /** How many lines its queue has of what is not over: an array that waits is one. */
  async jobsLeft(): Promise<number> {
    const words = ['squeue', '-h', '-a', '-t', 'pending,running,completing,suspended'];
    return (await this.#slurm.command(...words)).split('\n').filter((line) => line !== '').length;
  }

  receiptFiles(): string[] {
    return readdirSync(this.#receipts).map((file) =>
      readFileSync(join(this.#receipts, file), 'utf8'),
    );
  }

  /** The log that the gateway writes itself is with those of the other nodes. */
  async close(): Promise<void> {
    await this.endGateway('SIGTERM');
    await this.#slurm.stop();
    this.#forget();
    this.#remove();
  }

  #remove(): void {
    for (const folder of [this.directory, this.#slurm.directory]) {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  #pids(): number[] {
    const gateway = this.#gateway?.pid;
    return [...(gateway === undefined ? [] : [gateway]), ...this.#slurm.pids];
  }
}

/** Both of its nodes, and the gateway. */
export async function siteIsUp(
  nodesUp: (names: readonly string[]) => Promise<boolean>,
): Promise<void> {
  const names = [SITE, ...SITE_NODES.map((node) => `${node}.${SITE}`)];
  await until('the site is up', async () => ((await nodesUp(names)) ? true : undefined));
}
