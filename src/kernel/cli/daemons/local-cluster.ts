// The cluster that `weft up` keeps on this machine: a head, and the agents of virtual nodes in one
// process. Starts what is not running, and only that.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeView } from '../../api/nodes.ts';
import { cacheOptions, pathOptions } from '../../config/cache-options.ts';
import type { Config } from '../../config/config.ts';
import type { AgentOptions, HeadAddress, HeadOptions } from '../../config/daemon-options.ts';
import { headOptions } from '../../config/head-options.ts';
import { healthOptions } from '../../config/health-options.ts';
import { agentOptionsOf, optionsOf } from '../../config/part.ts';
import { type Address, formatAddress } from '../../config/value.ts';
import { Api } from '../../connect/api.ts';
import { takeLock } from '../../connect/lock-file.ts';
import { endProcess, liveMarks, readLiveMark } from '../../connect/process-file.ts';
import { SessionCache } from '../../connect/sessions.ts';
import { refuse } from '../../model/errors.ts';
import { Failure, failure, usage } from '../../model/failure.ts';
import type { Resources } from '../../model/resources.ts';
import type { Context } from '../context.ts';
import { enrolNodes } from './enrol-nodes.ts';
import { tryPort } from './free-port.ts';
import { LocalPaths, readJson, writeJson } from './local-paths.ts';
import { addToRoster, markUnmarked, outputOf } from './roster.ts';
import { type Daemon, lastWords, startDaemon } from './spawn.ts';

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
/** A keeper starts what has died, and is done. */
const KEEPER_MAX_MS = 10_000;
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

  /** For the options of each daemon: whether it starts the others again. */
  get #keeps(): Pick<AgentOptions, 'keeps'> {
    return this.#config.flag('up.keep') ? { keeps: this.paths.directory } : {};
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
  async lock(): Promise<() => void> {
    const until = performance.now() + KEEPER_MAX_MS;
    for (;;) {
      const taken = takeLock(this.paths.upLock, 'user');
      if (taken.ok) {
        markUnmarked(this.paths);
        return taken.release;
      }
      const { holder } = taken;
      const isMoment = holder === null || holder.isKeeper === true;
      if (!isMoment || performance.now() > until) {
        const who = holder === null ? '' : ` (process ${holder.pid})`;
        const what = `another \`weft up\` or \`weft down\` is at work in ${this.paths.directory}${who}`;
        throw failure(refuse('argument.invalid', { what }, 'Try again when it has ended.'));
      }
      await sleep(POLL_MS);
    }
  }

  /** From now on nothing is started again: for who holds the lock and stops all. */
  endKeeping(): void {
    for (const file of [this.paths.roster, this.paths.restarts]) rmSync(file, { force: true });
  }

  /** Says whether it had to be started. */
  async startHead(
    wished: Address | null,
    once: Pick<HeadOptions, 'acceptLoss' | 'newIdentity'> = {},
  ): Promise<{ started: boolean; listen: Address | null }> {
    const before = this.record?.listen ?? null;
    if (this.isRunning('head')) return { started: false, listen: before };
    const wanted = wished === null ? null : await this.#wantedAddress(wished, before);
    const place = {
      paths: this.paths,
      socketPath: this.paths.socket,
      listen: wanted,
      multiUser: false,
      logFile: this.paths.headLog,
    };
    // Before anything runs: a mistake in it keeps the agents from starting.
    healthOptions(this.#config);
    writeJson(this.paths.headOptions, {
      ...headOptions(this.#config, place, await optionsOf(this.#context.wings)),
      ...once,
      ...this.#keeps,
    });
    await this.#start(['head'], this.#context.programs.headScript, [this.paths.headOptions]);
    return { started: true, listen: wanted && { host: wanted.host, port: wanted.port } };
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

  /** Nobody has asked the head yet which port it took: its starter is about to, or was killed. */
  get isUnsettled(): boolean {
    return readJson<HeadOptions>(this.paths.headOptions)?.listen?.orNear === true;
  }

  /**
   * Where the head that was just started listens. A keeper starts it on the same port again, as
   * tokens and scripts name it.
   */
  async settleAddress(api: Api, { host }: Address): Promise<Address> {
    const { head } = await api.call('info');
    const [address = ''] = head.addresses;
    const listen = { host, port: Number(address.slice(address.lastIndexOf(':') + 1)) };
    const options = readJson<HeadOptions>(this.paths.headOptions);
    writeJson(this.paths.headOptions, { ...options, listen });
    return listen;
  }

  /** Starts the agents that do not run, and resolves with the names of their nodes. */
  async startNodes(api: Api, names: readonly string[], resources: Resources): Promise<string[]> {
    const { nodes } = await api.call('listNodes');
    const enrolled = new Set(nodes.map(({ name }) => name));
    const dead = names.filter((name) => !enrolled.has(name) || !this.isRunning(name));
    await this.#stopStrangers(dead);
    // Also those that shared a process with a stranger: they go on where they were.
    const missing = names.filter((name) => !this.isRunning(name));
    const health = healthOptions(this.#config);
    const parts = await optionsOf(this.#context.wings);
    const current = (name: string) => {
      const place = { door: this.paths.door(name), isJoined: false };
      const added = agentOptionsOf(parts, this.#config, place);
      const kept = cacheOptions(this.#config);
      return { ...health, ...this.#keeps, ...added, ...kept, ...pathOptions(this.#config) };
    };
    await enrolNodes(
      { api, paths: this.paths, known: this.nodeNames(this.record?.nodeCount ?? 0) },
      { names: missing, enrolled, resources, current },
    );
    const size = this.#config.optionalNumber('up.nodes_per_process') ?? missing.length;
    for (let first = 0; first < missing.length; first += size) {
      const some = missing.slice(first, first + size);
      const files = some.map((name) => this.paths.nodeOptions(name));
      await this.#start(some, this.#context.programs.agentScript, files);
    }
    return dead;
  }

  /** Resolves with the nodes once all of these are connected. */
  async untilConnected(api: Api, names: readonly string[]): Promise<NodeView[]> {
    let nodes: NodeView[] = [];
    for (const name of names) {
      await this.#until(`node ${name} is connected`, name, async () => {
        if (nodes.some((node) => node.name === name && node.state === 'up')) return true;
        nodes = (await api.call('listNodes')).nodes;
        refuseCopy(nodes.find((node) => node.name === name));
        return nodes.some((node) => node.name === name && node.state === 'up');
      });
    }
    return nodes;
  }

  /** Removed from the cluster: its secret is void, and its agent knocks in vain. */
  async #stopStrangers(names: readonly string[]): Promise<void> {
    const marks = liveMarks(names.map((name) => this.paths.mark(name)));
    const end = { signal: 'SIGTERM', graceMs: STOP_MAX_MS } as const;
    await Promise.all([...marks.values()].map((mark) => endProcess(mark, end)));
  }

  async #start(
    names: readonly string[],
    script: string,
    optionsFiles: readonly string[],
  ): Promise<void> {
    const [first = ''] = names;
    const markFiles = names.map((name) => this.paths.mark(name));
    const isKept = this.#keeps.keeps !== undefined;
    const outputFile = this.paths.output(first);
    const daemon: Daemon = { names, script, optionsFiles, markFiles, outputFile, isKept };
    rmSync(this.paths.exit(first), { force: true });
    addToRoster(this.paths, daemon);
    await startDaemon(daemon, this.#context.environment);
  }

  /** The head takes it when it starts: only there nobody can come in between. */
  async #wantedAddress(wished: Address, before: Address | null): Promise<HeadAddress> {
    // Who names an address means that one: tokens and scripts of users name it, too.
    if (this.#config.isGiven('head.listen') && wished.port !== 0) return this.#freeAddress(wished);
    const { host, port } = before?.host === wished.host ? before : wished;
    return { host, port, orNear: true };
  }

  async #freeAddress({ host, port }: Address): Promise<Address> {
    const free = await tryPort(host, port);
    if (free !== null) return { host, port: free };
    const what = `the head cannot listen on ${formatAddress({ host, port })}: another program uses the port, or this machine does not have that address`;
    throw usage(what, 'End that program, or name another address with --listen.');
  }

  async #until(what: string, daemon: string, test: () => Promise<boolean>): Promise<void> {
    const until = performance.now() + READY_MAX_MS;
    while (!(await test())) {
      if (!this.isRunning(daemon)) throw this.#died(daemon);
      if (performance.now() > until)
        throw this.#died(daemon, `this did not happen within a minute: ${what}`);
      await sleep(POLL_MS);
    }
  }

  #died(daemon: string, how = 'it ended'): Failure {
    const address = this.paths.directory;
    const said = lastWords(outputOf(this.paths, daemon)) || this.#lastLogLine(daemon);
    const subject = daemon === 'head' ? 'the head' : `the agent of ${daemon}`;
    const cause = `${subject} does not start: ${how}${said === '' ? '' : `\n${said}`}`;
    return failure(refuse('head.unreachable', { address, cause }));
  }

  #lastLogLine(daemon: string): string {
    const file = daemon === 'head' ? this.paths.headLog : this.paths.nodeLog(daemon);
    return existsSync(file) ? (readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '') : '';
  }
}

/** What a copied head believes to run on the node runs at the original: only a person can tell. */
function refuseCopy(node: NodeView | undefined): void {
  if (node?.fault !== 'cloned') return;
  const { name } = node;
  const why = 'this folder seems to be a copy, and its head has jobs that ran there';
  const hint =
    `Start them again, or end them, here: \`weft node lost ${name}\`, then \`weft up\` again. ` +
    'What runs at the original goes on.';
  throw failure(refuse('node.cloned', { node: name, why }, hint));
}
