// A head with gateways of real batch systems, all of them programs in a temporary directory, and
// the questions that tests ask about their nodes and jobs.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobView } from '../../../src/kernel/api/jobs.ts';
import type { NodeView } from '../../../src/kernel/api/nodes.ts';
import type { SiteSummary } from '../../../src/wings/sites/api/sites.ts';
import { findFreePort } from '../../support/free-port.ts';
import { connectLocally, type LocalClient } from '../../support/local-client.ts';
import { endNow, whenKilled } from '../../support/when-killed.ts';
import { type Host, until } from './hosts.ts';
import {
  cleanEnvironment,
  quickStarts,
  repository,
  runProgram,
  type Said,
} from './local-cluster.ts';

const PROGRAM = [process.execPath, join(repository, 'bin/weft.mjs')];
const LOG_SHOWN = 5000;
/** Several of these tests may run at once. */
const PORT = 7400 + (process.pid % 500) * 5;

interface Daemon extends Begun {
  readonly pid: number;
  readonly ended: Promise<number | null>;
  hasEnded: boolean;
}

/** What starts it, and starts it again. */
interface Begun {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Absent: TERM. */
  readonly endSignal?: NodeJS.Signals;
}

export class SiteWorld {
  readonly directory = mkdtempSync(join(tmpdir(), 'weft-site-test-'));
  /** By their names; a log of the name is beside each. */
  readonly #daemons = new Map<string, Daemon>();
  /** Where they run; null: on this machine itself. */
  #host: Host | null = null;
  /** Asks as this program's user; null: the head was never started. */
  #client: LocalClient | null = null;
  readonly #forget: () => void;
  readonly #before: readonly string[];

  /**
   * @param endSystem ends the batch system when this process is being killed
   * @param before words before each daemon of this machine, which become the daemon
   */
  constructor(endSystem: () => void, before: readonly string[] = []) {
    this.#before = before;
    this.#forget = whenKilled(() => {
      for (const { pid, endSignal } of this.#daemons.values()) endNow(pid, endSignal ?? 'SIGTERM');
      endSystem();
    });
    // Users of the site see the folders of their jobs.
    chmodSync(this.directory, 0o755);
  }

  at(...names: string[]): string {
    return join(this.directory, ...names);
  }

  /**
   * @param host where it and all gateways run, whatever its users are
   * @param config lines for its configuration
   */
  async startHead(host: Host | null = null, config = ''): Promise<void> {
    if (host !== null) this.#moveTo(host);
    await this.weft('init', '--dir', this.at('head'), '--names', 'localhost');
    appendFileSync(this.at('head', 'weft.yaml'), config);
    // Gateways know it by its port, also when it is started again.
    const port = await findFreePort({ host: '127.0.0.1', port: PORT });
    const args = ['head', '--dir', this.at('head'), '--listen', `127.0.0.1:${port}`];
    await this.#start('head', { args, env: {} });
    await this.headAnswers();
  }

  /**
   * The head was started, for the first time or once more; fails with its words when it has ended
   * instead.
   */
  async headAnswers(): Promise<void> {
    this.#client?.close();
    const head = this.#daemon('head');
    this.#client = await until('the head answers', async () => {
      const client = await connectLocally(this.at('head', 'weft.sock')).catch(() => undefined);
      const { hasEnded } = head;
      if (hasEnded) assert.fail(`the head has ended: ${this.log('head').slice(-LOG_SHOWN)}`);
      return client;
    });
  }

  /**
   * Lets a gateway in and starts it. `site`: keys of its configuration below `site`; `environment`:
   * in which the site's commands are found.
   */
  async addGateway(
    name: string,
    site: Readonly<Record<string, string>>,
    environment: NodeJS.ProcessEnv,
  ): Promise<void> {
    const ticket = await this.weft('token', 'join');
    await this.weft('join', ticket, '--name', name, '--dir', this.at(name));
    const keys = Object.entries(site).map(([key, value]) => [
      `WEFT_SITE_${key.toUpperCase()}`,
      value,
    ]);
    const env = {
      ...environment,
      ...Object.fromEntries(keys),
      ...this.#common(),
    };
    await this.#start(name, { args: ['gateway', '--dir', this.at(name)], env });
  }

  /** Lets a node of this machine in and starts its agent. */
  async addNode(name: string, cpus: number, more: NodeJS.ProcessEnv = {}): Promise<void> {
    const ticket = await this.weft('token', 'join');
    await this.weft('join', ticket, '--name', name, '--dir', this.at(name));
    const size = { WEFT_NODE_CPUS: String(cpus), WEFT_NODE_MEMORY: '512M' };
    const env = { ...size, ...this.#common(), ...more };
    // By this signal it takes its launcher with it.
    const endSignal = 'SIGUSR2';
    await this.#start(name, { args: ['agent', '--dir', this.at(name)], env, endSignal });
  }

  /** Ends a daemon by this signal. */
  async end(name: string, signal: NodeJS.Signals): Promise<void> {
    const daemon = this.#daemon(name);
    process.kill(daemon.pid, signal);
    await daemon.ended;
  }

  pid(name: string): number {
    return this.#daemon(name).pid;
  }

  /** Stops a daemon, or lets it go on. */
  signal(name: string, signal: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(this.#daemon(name).pid, signal);
  }

  /** Starts it once more. */
  async startAgain(name: string): Promise<void> {
    await this.#start(name, this.#daemon(name));
  }

  /** The exit code of a daemon that ends by itself. */
  exitOf(name: string): Promise<number | null> {
    return this.#daemon(name).ended;
  }

  log(name: string): string {
    return readFileSync(this.at(`${name}.log`), 'utf8');
  }

  /** For the output of a test that failed. */
  logs(): string {
    return [...this.#daemons.keys()]
      .map((name) => `${name}: ${this.log(name).slice(-LOG_SHOWN)}`)
      .join('\n');
  }

  tried(...args: string[]): Promise<Said> {
    return this.#run(['env', '-C', this.directory], args);
  }

  async weft(...args: string[]): Promise<string> {
    const { code, out, error } = await this.tried(...args);
    assert.equal(code, 0, `weft ${args.join(' ')}: ${out}${error}`);
    return out.trimEnd();
  }

  /** `weft …` as a user of the host, known there only. */
  as(uid: number, ...args: string[]): Promise<Said> {
    const become = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
    return this.#run([...become, 'env', '-C', '/tmp'], args);
  }

  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.weft(...args, '-o', 'json')) as T;
  }

  /**
   * Asks the head itself: a program for each question of those who wait would keep the machine
   * busy.
   */
  ask<T>(path: string): Promise<T> {
    assert.ok(this.#client !== null, 'the head was never started');
    return this.#client.call<T>('GET', path);
  }

  async nodes(): Promise<NodeView[]> {
    return (await this.ask<{ nodes: NodeView[] }>('/v1/nodes')).nodes;
  }

  async jobs(): Promise<JobView[]> {
    return (await this.ask<{ jobs: JobView[] }>('/v1/jobs?state=all&limit=1000')).jobs;
  }

  /** Nodes whose names fit. */
  async nodesUp(count: number, names: RegExp): Promise<void> {
    await until(`${count} nodes ${names} are up`, async () => {
      const up = (await this.nodes()).filter(
        ({ name, state }) => names.test(name) && state === 'up',
      );
      return up.length === count || undefined;
    });
  }

  /** The head knows why these take no work. */
  async nodesFaulty(names: RegExp, fault: RegExp): Promise<void> {
    await until(`nodes ${names} are out for ${fault}`, async () => {
      const named = (await this.nodes()).filter(({ name }) => names.test(name));
      const areOut = named.every((node) => fault.test(node.fault ?? ''));
      return (named.length > 0 && areOut) || undefined;
    });
  }

  /** The head knows what these sites say of their queues: until then a task may go anywhere. */
  async sitesRead(...names: readonly string[]): Promise<void> {
    await until(`the queues of ${names} are read`, async () => {
      const { sites } = await this.ask<{ sites: SiteSummary[] }>('/v1/sites');
      const read = sites.filter(({ state, ageMs, cpus }) => {
        return state === 'up' && ageMs !== null && cpus > 0;
      });
      return names.every((name) => read.some((site) => site.name === name)) || undefined;
    });
  }

  /** The job that is this one of a site, as `hpc/42`. */
  ours(siteJob: string): Promise<JobView> {
    return until(`job ${siteJob} is one of ours`, async () => {
      return (await this.jobs()).find((job) => job.siteJob === siteJob);
    });
  }

  /** Waits for its state or outcome with what is said of it. */
  become(id: number, words: RegExp): Promise<JobView> {
    return until(`job ${id} is ${words}`, async () => {
      const job = (await this.jobs()).find((one) => one.id === id);
      const said = `${job?.outcome?.kind ?? job?.state} ${job?.outcome?.detail ?? ''}`;
      return words.test(said) ? job : undefined;
    });
  }

  async close(endSystem: () => Promise<void> | undefined): Promise<void> {
    this.#client?.close();
    for (const [name, { hasEnded, endSignal }] of this.#daemons) {
      if (!hasEnded) await this.end(name, endSignal ?? 'SIGTERM');
    }
    await endSystem();
    this.#forget();
    rmSync(this.directory, { recursive: true, force: true });
  }

  #daemon(name: string): Daemon {
    const daemon = this.#daemons.get(name);
    assert.ok(daemon !== undefined, `${name} was never started`);
    return daemon;
  }

  /** Users of the host may not pass the folders where this program lies. */
  #moveTo(host: Host): void {
    this.#host = host;
    mkdirSync(this.at('program'));
    writeFileSync(this.at('node'), '');
    const words = (from: string, to: string) => host.enter(['mount', '--bind', from, to]);
    for (const [file = '', ...args] of [
      words(repository, this.at('program')),
      words(process.execPath, this.at('node')),
    ]) {
      execFileSync(file, args);
    }
  }

  #run(before: readonly string[], args: readonly string[]): Promise<Said> {
    const argv = [...before, ...this.#program(), ...args];
    return runProgram(this.#host?.enter(argv) ?? argv, { env: this.#environment() });
  }

  /** There are other users on a host only. */
  #common(): NodeJS.ProcessEnv {
    const users = this.#host === null ? { WEFT_NODE_SWITCH_USER: 'false' } : {};
    return { ...users, WEFT_HEAD_HEARTBEAT: '500ms' };
  }

  #program(): readonly string[] {
    return this.#host === null ? PROGRAM : [this.at('node'), this.at('program/bin/weft.mjs')];
  }

  #environment(): NodeJS.ProcessEnv {
    const quick = this.#host === null ? {} : quickStarts(this.at('program'));
    return cleanEnvironment({ ...quick, WEFT_SOCKET: this.at('head', 'weft.sock') });
  }

  async #start(name: string, begun: Begun): Promise<void> {
    const { args, env } = begun;
    const log = openSync(this.at(`${name}.log`), 'a', 0o600);
    const [file = '', ...words] = [...this.#program(), ...args];
    const whole = { ...this.#environment(), ...env };
    const program =
      this.#host === null
        ? startHere([...this.#before, file, ...words], { cwd: this.directory, env: whole, log })
        : await this.#host.start(file, words, { env: whole, stdout: log, stderr: log });
    const daemon = { ...begun, ...program, hasEnded: false };
    this.#daemons.set(name, daemon);
    void program.ended.then(() => {
      daemon.hasEnded = true;
    });
  }
}

function startHere(
  [file = '', ...args]: readonly string[],
  how: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly log: number },
): Pick<Daemon, 'pid' | 'ended'> {
  const { cwd, env, log } = how;
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', log, log] });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { pid: child.pid ?? 0, ended };
}

/** Prints the logs of a world in which a test has failed. */
export function showLogs(world: SiteWorld): (context: unknown) => void {
  return (context) => {
    const { passed } = context as { readonly passed?: boolean };
    if (passed === false) process.stderr.write(world.logs());
  };
}
