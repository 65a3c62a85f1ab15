// A head with gateways of real batch systems, all of them programs in a temporary directory, and the
// questions that tests ask about their nodes and jobs.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobView } from '../../../src/api/jobs.ts';
import type { NodeView } from '../../../src/api/nodes.ts';
import { endNow, whenKilled } from '../../support/when-killed.ts';
import { until } from './hosts.ts';
import { cleanEnvironment, repository, runProgram, type Said } from './local-cluster.ts';

const PROGRAM = [process.execPath, join(repository, 'bin/weft.mjs')];
const LOG_SHOWN = 5000;

interface Daemon {
  readonly child: ChildProcess;
  /** Which is started again by the same words. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export class SiteWorld {
  readonly directory = mkdtempSync(join(tmpdir(), 'weft-site-test-'));
  /** By their names; a log of the name is beside each. */
  readonly #daemons = new Map<string, Daemon>();
  readonly #forget: () => void;

  /** @param endSystem ends the batch system when this process is being killed */
  constructor(endSystem: () => void) {
    this.#forget = whenKilled(() => {
      for (const { child } of this.#daemons.values()) endNow(child.pid ?? 0, 'SIGTERM');
      endSystem();
    });
    // Users of the site see the folders of their jobs.
    chmodSync(this.directory, 0o755);
  }

  at(...names: string[]): string {
    return join(this.directory, ...names);
  }

  async startHead(): Promise<void> {
    await this.weft('init', '--dir', this.at('head'), '--names', 'localhost');
    this.#start('head', ['head', '--dir', this.at('head'), '--listen', '127.0.0.1:0'], {});
    await until('the head answers', async () => {
      return (await this.tried('info')).code === 0 || undefined;
    });
  }

  /**
   * Lets a gateway in and starts it. `site`: keys of its configuration below `site`; `environment`: in which the
   * site's commands are found.
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
    this.#start(name, ['gateway', '--dir', this.at(name)], {
      ...environment,
      ...Object.fromEntries(keys),
      ...{ WEFT_NODE_SWITCH_USER: 'false', WEFT_HEAD_HEARTBEAT: '500ms' },
    });
  }

  /** Ends a daemon by this signal. */
  async end(name: string, signal: NodeJS.Signals): Promise<void> {
    const { child } = this.#daemon(name);
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** Starts it once more. */
  startAgain(name: string): void {
    const { args, env } = this.#daemon(name);
    this.#start(name, args, env);
  }

  /** The exit code of a daemon that ends by itself. */
  async exitOf(name: string): Promise<number> {
    const [code] = (await once(this.#daemon(name).child, 'exit')) as [number];
    return code;
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
    const env = cleanEnvironment({ WEFT_SOCKET: this.at('head', 'weft.sock') });
    return runProgram([...PROGRAM, ...args], { cwd: this.directory, env });
  }

  async weft(...args: string[]): Promise<string> {
    const { code, out, error } = await this.tried(...args);
    assert.equal(code, 0, `weft ${args.join(' ')}: ${out}${error}`);
    return out.trimEnd();
  }

  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.weft(...args, '-o', 'json')) as T;
  }

  nodes(): Promise<NodeView[]> {
    return this.json<NodeView[]>('node', 'list');
  }

  jobs(): Promise<JobView[]> {
    return this.json<JobView[]>('jobs', '--all');
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

  /** The job that is this one of a site, as `hpc/42`. */
  ours(siteJob: string): Promise<JobView> {
    return until(`job ${siteJob} is one of ours`, async () => {
      return (await this.jobs()).find((job) => job.siteJob === siteJob);
    });
  }

  /** Its state or outcome with what is said of it. */
  become(id: number, words: RegExp): Promise<JobView> {
    return until(`job ${id} is ${words}`, async () => {
      const job = (await this.jobs()).find((one) => one.id === id);
      const said = `${job?.outcome?.kind ?? job?.state} ${job?.outcome?.detail ?? ''}`;
      return words.test(said) ? job : undefined;
    });
  }

  async close(endSystem: () => Promise<void> | undefined): Promise<void> {
    for (const [name, { child }] of this.#daemons) {
      if (child.exitCode === null && child.signalCode === null) await this.end(name, 'SIGTERM');
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

  #start(name: string, args: readonly string[], more: NodeJS.ProcessEnv): void {
    const log = openSync(this.at(`${name}.log`), 'a', 0o600);
    const env = { ...cleanEnvironment({ WEFT_SOCKET: this.at('head', 'weft.sock') }), ...more };
    const [file = '', ...words] = [...PROGRAM, ...args];
    const child = spawn(file, words, {
      ...{ cwd: this.directory, env, stdio: ['ignore', log, log] },
    });
    this.#daemons.set(name, { child, args, env: more });
  }
}

/** Prints the logs of a world in which a test has failed. */
export function showLogs(world: SiteWorld): (context: unknown) => void {
  return (context) => {
    const { passed } = context as { readonly passed?: boolean };
    if (passed === false) process.stderr.write(world.logs());
  };
}
