// The cluster that `weft up` keeps on this machine: a head and virtual nodes, each a daemon. Starts
// what is not running, and only that.

import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeView } from '../../api/nodes.ts';
import { refuse } from '../../core/model/errors.ts';
import type { Resources } from '../../core/model/resources.ts';
import type { Config } from '../config/config.ts';
import type { Address } from '../config/value.ts';
import { Api } from '../connection/api.ts';
import { SessionCache } from '../connection/sessions.ts';
import type { Context } from '../context.ts';
import { Failure, failure } from '../failure.ts';
import type { AgentOptions } from './daemon-options.ts';
import { findFreePort } from './free-port.ts';
import { headOptions } from './head-options.ts';
import { healthOptions } from './health-options.ts';
import { LocalPaths, readJson, writeJson } from './local-paths.ts';
import { endProcess, markOf, readLiveMark } from './process-file.ts';
import { lastWords, startDaemon } from './spawn.ts';

/** What the last `weft up` made. */
export interface ClusterRecord {
  readonly listen: Address | null;
  readonly nodeCount: number;
  readonly perNode: Resources;
}

/** Why `weft down` has drained the nodes; the next `weft up` undrains those and no others. */
export const DOWN_REASON = 'weft down';

/** A head with a long journal reads for seconds; a start that takes longer has gone wrong. */
const READY_MAX_MS = 60_000;
const POLL_MS = 15;
/** An agent that is asked to stop does so at once. */
const STOP_MAX_MS = 10_000;

export class LocalCluster {
  readonly paths: LocalPaths;
  readonly #context: Context;
  readonly #config: Config;

  constructor(context: Context, config: Config) {
    this.paths = new LocalPaths(context.directory);
    this.#context = context;
    this.#config = config;
  }

  get record(): ClusterRecord | null {
    return readJson<ClusterRecord>(this.paths.cluster);
  }

  /** Names of the virtual nodes: n1, n2, … */
  nodeNames(count: number): string[] {
    return Array.from({ length: count }, (_, index) => `n${index + 1}`);
  }

  isRunning(daemon: string): boolean {
    return readLiveMark(this.paths.mark(daemon)) !== null;
  }

  /** The API over this cluster's own socket, whatever the environment says. */
  connect(): Api {
    const location = { kind: 'socket', path: this.paths.socket } as const;
    const sessions = new SessionCache(this.#context.environment);
    return new Api({ location, sessions, timeoutMs: 10_000 });
  }

  /** One `weft up` at a time in a directory. The returned function lets the next one in. */
  lock(): () => void {
    const file = this.paths.upLock;
    const holder = readLiveMark(file);
    if (holder !== null && holder.pid !== process.pid) {
      const what = `another weft up or down works on ${this.paths.directory} (process ${holder.pid})`;
      throw failure(refuse('argument.invalid', { what }, 'Try again when it is done.'));
    }
    rmSync(file, { force: true });
    const handle = openSync(file, 'wx', 0o600);
    writeSync(handle, JSON.stringify(markOf(process.pid)));
    closeSync(handle);
    return () => rmSync(file, { force: true });
  }

  /** Says whether it had to be started. */
  async startHead(wished: Address | null): Promise<{ started: boolean; listen: Address | null }> {
    const before = this.record?.listen ?? null;
    if (this.isRunning('head')) return { started: false, listen: before };
    const listen = wished === null ? null : await this.#chooseAddress(wished, before);
    const place = {
      paths: this.paths,
      socketPath: this.paths.socket,
      listen,
      multiUser: false,
      logFile: this.paths.headLog,
    };
    // Before anything runs: a mistake in it keeps the agents from starting.
    healthOptions(this.#config);
    writeJson(this.paths.headOptions, headOptions(this.#config, place));
    await this.#start('head', this.#context.programs.headScript, this.paths.headOptions);
    return { started: true, listen };
  }

  /** Resolves when the head accepts work. */
  async untilReady(api: Api): Promise<void> {
    await this.#until('the head accepts work', 'head', async () => {
      try {
        await api.call('whoami', { timeoutMs: 2000 });
        return true;
      } catch (error) {
        if (error instanceof Failure && error.kind === 'unavailable') return false;
        throw error;
      }
    });
  }

  /** The head is gone again, as its port was taken between the choice and the start. */
  get hasLostItsPort(): boolean {
    return !this.isRunning('head') && lastWords(this.paths.output('head')).includes('EADDRINUSE');
  }

  /** Starts those agents that do not run, and resolves with their names. */
  async startNodes(api: Api, names: readonly string[], resources: Resources): Promise<string[]> {
    const { nodes } = await api.call('listNodes');
    const enrolled = new Set(nodes.map(({ name }) => name));
    // Removed from the cluster: its secret is void, and its agent knocks in vain.
    for (const name of names) if (!enrolled.has(name)) await this.#stopStranger(name);
    const started = names.filter((name) => !this.isRunning(name));
    if (started.length === 0) return started;
    const health = healthOptions(this.#config);
    for (const name of started) {
      const file = this.paths.nodeOptions(name);
      // A head whose store was removed knows no node, whatever secrets lie here.
      if (!existsSync(file) || !enrolled.has(name)) await this.#enrol(api, name, resources);
      const { health: _, ...known } = readJson<AgentOptions>(file) as AgentOptions;
      writeJson(file, { ...known, ...health });
      await this.#start(name, this.#context.programs.agentScript, file);
    }
    return started;
  }

  /** Resolves with the nodes once all of these are connected. */
  async untilConnected(api: Api, names: readonly string[]): Promise<NodeView[]> {
    let nodes: NodeView[] = [];
    for (const name of names) {
      await this.#until(`node ${name} is connected`, name, async () => {
        if (nodes.some((node) => node.name === name && node.state === 'up')) return true;
        nodes = (await api.call('listNodes')).nodes;
        return nodes.some((node) => node.name === name && node.state === 'up');
      });
    }
    return nodes;
  }

  async #stopStranger(name: string): Promise<void> {
    const mark = readLiveMark(this.paths.mark(name));
    if (mark !== null) await endProcess(mark, { signal: 'SIGTERM', graceMs: STOP_MAX_MS });
  }

  async #enrol(api: Api, name: string, resources: Resources): Promise<void> {
    const stateDir = this.paths.node(name);
    // Passable, as the agent makes it too: jobs have their private folders below.
    mkdirSync(stateDir, { recursive: true, mode: 0o711 });
    const body = { name, resources, labels: [], replace: true };
    const { secret } = await api.call('createNode', { body });
    const options: AgentOptions = {
      name,
      stateDir,
      head: { socketPath: this.paths.socket },
      secret,
      resources,
      labels: [],
      sharedPaths: ['/'],
      switchUser: false,
      logFile: this.paths.nodeLog(name),
    };
    writeJson(this.paths.nodeOptions(name), options);
  }

  async #start(daemon: string, script: string, optionsFile: string): Promise<void> {
    await startDaemon({
      script,
      optionsFile,
      outputFile: this.paths.output(daemon),
      markFile: this.paths.mark(daemon),
      environment: this.#context.environment,
    });
  }

  async #chooseAddress(wished: Address, before: Address | null): Promise<Address> {
    // The same port as before: tokens and scripts of users name it.
    const first = before?.host === wished.host ? before : wished;
    return { host: wished.host, port: await findFreePort(first) };
  }

  async #until(what: string, daemon: string, test: () => Promise<boolean>): Promise<void> {
    const until = performance.now() + READY_MAX_MS;
    while (!(await test())) {
      if (!this.isRunning(daemon)) throw this.#died(daemon);
      if (performance.now() > until) throw this.#died(daemon, `not within a minute: ${what}`);
      await sleep(POLL_MS);
    }
  }

  #died(daemon: string, how = 'it ended'): Failure {
    const address = this.paths.directory;
    const said = lastWords(this.paths.output(daemon)) || this.#lastLogLine(daemon);
    const subject = daemon === 'head' ? 'the head' : `the agent of ${daemon}`;
    const cause = `${subject} does not start: ${how}${said === '' ? '' : `\n${said}`}`;
    return failure(refuse('head.unreachable', { address, cause }));
  }

  #lastLogLine(daemon: string): string {
    const file = daemon === 'head' ? this.paths.headLog : this.paths.nodeLog(daemon);
    return existsSync(file) ? (readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '') : '';
  }
}
