// A cluster for several users, as an administrator sets it up with `weft init`, `head`, `join`
// and `agent` as root. Its users exist inside its own mount namespaces only; the machine's
// account files stay as they are.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endNow, whenKilled } from '../../support/when-killed.ts';
import { until } from './hosts.ts';
import {
  cleanEnvironment,
  quickStarts,
  repository,
  runProgram,
  type Said,
  type Setting,
} from './local-cluster.ts';

export interface User {
  readonly name: string;
  readonly uid: number;
  /** Name of the home; absent: the user's. */
  readonly home?: string;
  /** Absent: /bin/sh. */
  readonly shell?: string;
}

/** Uids that no distribution gives out. */
export const ALICE: User = { name: 'alice', uid: 42_001 };
export const BOB: User = { name: 'bob', uid: 42_002 };
/** Has no account on node n2. */
export const CAROL: User = { name: 'carol', uid: 42_003 };
/** A second group of alice. */
export const LAB_GID = 42_100;
export const ROOT: User = { name: 'root', uid: 0 };
/** Between TERM and KILL. */
export const GRACE_MS = 2000;

/** What root does before the program starts: accounts, and paths that every user can pass. */
const ENTER = `mount --bind "$PLACE/$ACCOUNTS" /etc/passwd && mount --bind "$PLACE/group" /etc/group &&
mount --bind "$REPOSITORY" "$PLACE/program" && mount --bind "$NODE" "$PLACE/node" && exec "$@"`;

export class SharedCluster {
  readonly directory = mkdtempSync(join(tmpdir(), 'weft-shared-'));
  readonly #users: readonly User[];
  readonly #daemons: ChildProcess[] = [];
  readonly #forget = whenKilled(() => this.#remove());

  /** Two nodes, n1 and n2, of two cpus and 512M each; everything below `directory` is shared. */
  static async start(more: readonly User[] = []): Promise<SharedCluster> {
    const cluster = new SharedCluster(more);
    try {
      await cluster.#setUp();
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  private constructor(more: readonly User[]) {
    this.#users = [ALICE, BOB, ...more, CAROL];
  }

  async #setUp(): Promise<void> {
    this.#makePlace();
    await this.#startHead();
    for (const name of ['n1', 'n2']) await this.#startNode(name);
    await until('both nodes are up', async () => {
      const { code, out } = await this.root('node', 'list', '-o', 'json');
      const nodes = code === 0 ? (JSON.parse(out) as { state: string }[]) : [];
      return nodes.filter(({ state }) => state === 'up').length === 2 ? true : undefined;
    });
  }

  /** Home of a user, 0700: also root's programs get into it only as that user. */
  home({ name, home = name }: User): string {
    return join(this.directory, 'home', home);
  }

  /** `weft …` as this user, standing in their home. */
  as(user: User, ...args: string[]): Promise<Said> {
    return this.run(user, args);
  }

  run(user: User, args: readonly string[], setting: Setting = {}): Promise<Said> {
    const env = { ...this.#environment(user), ...setting.env };
    return runProgram(this.#command(user, args), { ...setting, cwd: '/', env });
  }

  /** By the name of a command of Slurm. */
  slurm(user: User, ...words: string[]): Promise<Said> {
    const [node = process.execPath] = this.#weft;
    const starter = join(repository, 'bin', 'slurm-front.cjs');
    const env = { ...this.#environment(user), ...quickStarts() };
    return runProgram([...this.#become(user), node, starter, ...words], { cwd: '/', env });
  }

  root(...args: string[]): Promise<Said> {
    return this.as(ROOT, ...args);
  }

  /** Output of what must succeed, without its last line end. */
  async ok(user: User, ...args: string[]): Promise<string> {
    const { code, out, error } = await this.as(user, ...args);
    assert.equal(code, 0, `${user.name}: weft ${args.join(' ')}: ${out}${error}`);
    return out.replace(/\n$/, '');
  }

  async outcome(id: string): Promise<{ kind: string; detail: string | null }> {
    await this.root('wait', id);
    const { out } = await this.root('job', id, '-o', 'json');
    return (JSON.parse(out) as { outcome: { kind: string; detail: string | null } }).outcome;
  }

  /** The last lines of all logs, for the message of a test that failed. */
  logs(): string {
    const files = ['head.log', 'n1.log', 'n2.log'].map((name) => join(this.directory, name));
    return files.map((file) => readFileSync(file, 'utf8').slice(-2000)).join('\n');
  }

  async close(): Promise<void> {
    // Agents first: they end what they run, and the head still hears of it.
    const [head, ...agents] = this.#daemons;
    // USR2 makes an agent take its processes and its launcher with it.
    await Promise.all(agents.map((agent) => stop(agent, 'SIGUSR2')));
    if (head !== undefined) await stop(head, 'SIGTERM');
    this.#forget();
    rmSync(this.directory, { recursive: true, force: true });
  }

  #remove(): void {
    const [head, ...agents] = this.#daemons;
    for (const { pid } of agents) if (pid !== undefined) endNow(pid, 'SIGUSR2');
    if (head?.pid !== undefined) endNow(head.pid, 'SIGTERM');
    rmSync(this.directory, { recursive: true, force: true });
  }

  #makePlace(): void {
    chmodSync(this.directory, 0o755);
    for (const folder of ['program', 'home']) mkdirSync(join(this.directory, folder));
    const accounts = this.#users.map((user) => {
      const { name, uid, shell = '/bin/sh' } = user;
      return `${name}:x:${uid}:${uid}::${this.home(user)}:${shell}`;
    });
    const groups = this.#users.map(({ name, uid }) => `${name}:x:${uid}:`);
    this.#write('accounts', [readFileSync('/etc/passwd', 'utf8').trimEnd(), ...accounts]);
    this.#write('accounts-n2', [
      readFileSync('/etc/passwd', 'utf8').trimEnd(),
      ...accounts.slice(0, -1),
    ]);
    const lab = `lab:x:${LAB_GID}:${ALICE.name}`;
    this.#write('group', [readFileSync('/etc/group', 'utf8').trimEnd(), ...groups, lab]);
    this.#write('node', []);
    for (const user of this.#users) {
      mkdirSync(this.home(user), { mode: 0o700 });
      chownSync(this.home(user), user.uid, user.uid);
    }
  }

  #write(name: string, lines: readonly string[]): void {
    writeFileSync(join(this.directory, name), `${lines.join('\n')}\n`, { mode: 0o644 });
  }

  async #startHead(): Promise<void> {
    const dir = ['--dir', join(this.directory, 'cluster')];
    const said = await runProgram(this.#command(ROOT, ['init', ...dir, '--names', 'localhost']), {
      env: this.#environment(ROOT),
    });
    assert.equal(said.code, 0, said.error);
    this.#daemon('head', ['head', ...dir, '--listen', '127.0.0.1:0'], {});
    await until('the head answers', async () => {
      return (await this.root('info')).code === 0 ? true : undefined;
    });
  }

  async #startNode(name: string): Promise<void> {
    const env = { WEFT_DIR: join(this.directory, name) };
    const ticket = await this.ok(ROOT, 'token', 'join');
    const said = await this.run(ROOT, ['join', ticket, '--name', name], { env });
    assert.equal(said.code, 0, said.error);
    this.startAgent(name, env);
  }

  /** What a machine has of a cluster that was made of an image of this node's. */
  copyNode(name: string, copy: string): NodeJS.ProcessEnv {
    const directory = join(this.directory, copy);
    execFileSync('cp', ['-a', join(this.directory, name), directory]);
    return { WEFT_DIR: directory };
  }

  /** Gives how to stop it again, with all that it runs. */
  startAgent(name: string, env: NodeJS.ProcessEnv): () => Promise<void> {
    const agent = this.#daemon(name, ['agent'], env);
    return () => stop(agent, 'SIGUSR2');
  }

  #daemon(name: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
    const [file = '', ...rest] = this.#command(ROOT, args);
    const log = openSync(join(this.directory, `${name}.log`), 'a', 0o600);
    const accounts = name === 'n2' ? { ACCOUNTS: 'accounts-n2' } : {};
    const daemon = spawn(file, rest, {
      cwd: '/',
      env: {
        ...this.#environment(ROOT),
        ...SETTINGS,
        ...env,
        ...accounts,
        WEFT_NODE_SHARED: this.directory,
      },
      stdio: ['ignore', log, log],
    });
    this.#daemons.push(daemon);
    return daemon;
  }

  /** A line typed into the shell of this user; `weft` is the program. */
  typed(user: User, line: string, setting: Setting = {}): Promise<Said> {
    const env = { ...this.#environment(user), ...setting.env };
    const said = line.replace('weft', this.#weft.join(' '));
    const command = [...this.#become(user), user.shell ?? '/bin/sh', '-c', said];
    return runProgram(command, { ...setting, cwd: '/', env });
  }

  get #weft(): string[] {
    return [join(this.directory, 'node'), join(this.directory, 'program/bin/weft.mjs')];
  }

  #command(user: User, args: readonly string[]): string[] {
    return [...this.#become(user), ...this.#weft, ...args];
  }

  #become(user: User): string[] {
    const { name } = user;
    const enter = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', ENTER, 'sh'];
    const become = ['setpriv', '--reuid', name, '--regid', name, '--init-groups'];
    const stand = ['env', '-C', name === 'root' ? '/' : this.home(user)];
    return [...enter, ...become, ...stand];
  }

  #environment(user: User): NodeJS.ProcessEnv {
    const home = user.uid === 0 ? {} : { HOME: this.home(user), USER: user.name };
    return {
      ...cleanEnvironment(home),
      ...quickStarts(join(this.directory, 'program')),
      XDG_CACHE_HOME: undefined,
      XDG_RUNTIME_DIR: undefined,
      WEFT_SOCKET: join(this.directory, 'cluster', 'weft.sock'),
      PLACE: this.directory,
      ACCOUNTS: 'accounts',
      REPOSITORY: repository,
      NODE: process.execPath,
    };
  }
}

async function stop(daemon: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const ended = once(daemon, 'exit');
  daemon.kill(signal);
  await ended;
}

/** Short times, and limits that a test reaches. */
const SETTINGS = {
  WEFT_HEAD_KILL_GRACE: `${GRACE_MS}ms`,
  WEFT_HEAD_HEARTBEAT: '500ms',
  WEFT_HEAD_LOG_LIMIT: '64K',
  WEFT_NODE_CPUS: '2',
  WEFT_NODE_MEMORY: '512M',
};
