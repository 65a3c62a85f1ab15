// A lab of *distribute*: a head and a node that its program runs, in a folder of their own.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../support/free-port.ts';
import { endNow, whenKilled } from '../../support/when-killed.ts';
import { until } from './hosts.ts';
import { cleanEnvironment, repository, runProgram, type Said } from './local-cluster.ts';

const NODES = `nodes:
  - {ip: 127.0.0.1, name: lab1, capabilities: [python3, lab1-3]}
  - {ip: 192.0.2.12, name: lab2, capabilities: [apptainer], transport_port: 9000}
`;

/** A process that goes on, and what it has said so far. */
class Daemon {
  said = '';
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly #forget: () => void;

  /** `by`: a command that runs it. */
  constructor(
    argv: readonly string[],
    { env, cwd, by = [] }: { env: NodeJS.ProcessEnv; cwd: string; by?: readonly string[] },
  ) {
    const script = join(repository, 'bin', 'distribute.mjs');
    const [program = '', ...words] = [...by, process.execPath, script, ...argv];
    const child = spawn(program, words, { env, cwd, stdio: 'pipe' });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.said += text;
      });
    }
    this.child = child;
    this.ended = new Promise((resolve) => child.once('close', resolve));
    this.#forget = whenKilled(() => endNow(child.pid ?? 0, 'SIGKILL'));
  }

  async says(what: RegExp): Promise<void> {
    await until(`${what} in\n${this.said}`, () => {
      if (what.test(this.said)) return true;
      if (this.child.exitCode === null) return undefined;
      throw new Error(`it ended with ${this.child.exitCode}: ${this.said}`);
    });
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.ended;
    this.#forget();
  }
}

const ANY = { host: '127.0.0.1', port: 20_000 };

export class Lab {
  readonly folder = mkdtempSync(join(tmpdir(), 'weft-lab-'));
  readonly save = join(this.folder, 'save');
  readonly base = join(this.folder, 'base');
  // Loopback, and a socket of its own: this is no head for the users of the machine.
  readonly env = cleanEnvironment({
    WEFT_HEAD_MULTI_USER: 'false',
    WEFT_NODE_SWITCH_USER: 'false',
    WEFT_HEAD_NODE_TIMEOUT: '2s',
  });
  server!: Daemon;
  client!: Daemon;
  readonly #daemons: Daemon[] = [];

  constructor() {
    writeFileSync(join(this.folder, 'distribute-nodes.yaml'), NODES);
  }

  async startServer(): Promise<void> {
    // The same each time: nodes come back to where they have joined.
    this.env['WEFT_HEAD_LISTEN'] ??= `127.0.0.1:${await findFreePort(ANY)}`;
    this.server = this.spawn('server', '--save-path', this.save, '--temp-dir', '/tmp', '-c');
    await this.server.says(/set WEFT_JOIN there/);
  }

  startClient(token: string, ...options: string[]): void {
    const env = { ...this.env, WEFT_JOIN: token };
    const argv = ['client', this.base, ...options];
    this.client = this.#keep(new Daemon(argv, { env, cwd: this.folder }));
  }

  /** In a network of its own: no head is there, and agents of other tests are not seen. */
  startClientAlone(): void {
    this.client = this.spawnBy(['unshare', '--net'], 'client', this.base);
  }

  /** In the same network. */
  spawnBesideClient(...argv: string[]): Daemon {
    const network = `--net=/proc/${this.client.child.pid}/ns/net`;
    return this.spawnBy(['nsenter', network], ...argv);
  }

  spawnBy(by: readonly string[], ...argv: string[]): Daemon {
    return this.#keep(new Daemon(argv, { env: this.env, cwd: this.folder, by }));
  }

  /** One that goes on until it is told to end, or this lab is closed. */
  spawn(...argv: string[]): Daemon {
    return this.spawnBy([], ...argv);
  }

  /** With the head of this lab. */
  run(program: string, ...argv: string[]): Promise<Said> {
    const script = join(repository, 'bin', `${program}.mjs`);
    const env = { ...this.env, WEFT_DIR: this.save };
    return runProgram([process.execPath, script, ...argv], { env, cwd: this.folder });
  }

  /** Two jobs that sleep until they are ended, one at a time on a node. */
  writeBatch(): void {
    const file = `meta: {namespace: lab, batch_name: sleepers, capabilities: [lab1-3]}
python:
  initialize: {build_file: build.py}
  jobs: [{name: first, file: job.py}, {name: second, file: job.py}]
`;
    const said = JSON.stringify(this.#sleeper);
    const job = `import os, time\nopen(${said}, 'w').write(f'{os.getpid()}\\n')\ntime.sleep(600)\n`;
    writeFileSync(join(this.folder, 'distribute-jobs.yaml'), file);
    writeFileSync(join(this.folder, 'build.py'), 'print("compiled")\n');
    writeFileSync(join(this.folder, 'job.py'), job);
  }

  /** Where users of the machine ask the agent of a node. */
  door(node: string): string {
    return join(this.base, 'agents', `${node}.sock`);
  }

  /** Number of the process that sleeps, once it is written whole. */
  sleeperPid(): string | undefined {
    if (!existsSync(this.#sleeper)) return undefined;
    return /^(\d+)\n/.exec(readFileSync(this.#sleeper, 'utf8'))?.[1];
  }

  get #sleeper(): string {
    return join(this.folder, 'sleeper');
  }

  nodeStatus(wanted: RegExp): Promise<Said> {
    return until(`node-status shows ${wanted}`, async () => {
      const said = await this.run('distribute', 'node-status');
      return wanted.test(said.out) ? said : undefined;
    });
  }

  async close(): Promise<void> {
    for (const daemon of this.#daemons.reverse()) await daemon.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #keep(daemon: Daemon): Daemon {
    this.#daemons.push(daemon);
    return daemon;
  }
}
