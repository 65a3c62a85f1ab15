// A reader's machine for one run of the documents: a home of its own with the programs on the PATH,
// and a cluster of four nodes that is as new at the start of every page.

import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { type Call, connectLocally } from '../../support/local-client.ts';
import { whenKilled } from '../../support/when-killed.ts';
import { cleanEnvironment, repository } from './local-cluster.ts';

const PROGRAMS = [
  ...['weft', 'cminfo', 'cmrun', 'cmkill', 'cmconfigure', 'cmdaemon', 'distribute'],
];
/** The reader of the pages is anna at h1. */
const READER = 'anna';
const HOST = 'h1';
/** What pages give a node. */
const LABEL = 'ssd';
/** A command that takes longer hangs. */
const COMMAND_MS_MAX = 240_000;
/** One that does not come down keeps nothing else of a test that is killed from its turn. */
const DOWN_MS_MAX = 60_000;

export class DocumentCluster {
  readonly #home = mkdtempSync(path.join(tmpdir(), 'weft-docs-'));
  readonly #work = path.join(this.#home, 'work');
  readonly #environment: NodeJS.ProcessEnv;
  readonly #forget = whenKilled(() => {
    const env = this.#environment;
    spawnSync(path.join(this.#home, 'bin', 'weft'), ['down', '--now'], {
      env,
      timeout: DOWN_MS_MAX,
    });
    rmSync(this.#home, { recursive: true, force: true });
  });

  constructor() {
    const bin = path.join(this.#home, 'bin');
    mkdirSync(bin);
    for (const program of PROGRAMS) {
      const line = `exec '${process.execPath}' '${repository}/bin/${program}.mjs' "$@"`;
      writeFileSync(path.join(bin, program), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    }
    this.#environment = cleanEnvironment({
      HOME: this.#home,
      PATH: `${bin}:${process.env['PATH']}`,
      XDG_RUNTIME_DIR: path.join(this.#home, 'run'),
      XDG_STATE_HOME: undefined,
      XDG_CONFIG_HOME: undefined,
      USER: userInfo().username,
      TZ: 'UTC',
    });
    mkdirSync(path.join(this.#home, 'run'));
  }

  get #socket(): string {
    return path.join(this.#home, '.local', 'state', 'weft', 'weft.sock');
  }

  /** Up, with nothing in it that an earlier page has left; `fresh`: jobs count from 1 again. */
  async begin(fresh: boolean): Promise<void> {
    rmSync(this.#work, { recursive: true, force: true });
    mkdirSync(path.join(this.#work, 'test', 'fixtures'), { recursive: true });
    await this.type(`ln -s '${repository}/test/fixtures/traces' test/fixtures/traces`);
    const state = path.dirname(this.#socket);
    rmSync(path.join(state, 'weft.yaml'), { force: true });
    // Nobody answers before the first page, and after one that has ended the cluster.
    if (!fresh && (await this.#tidy().catch(() => false))) return;
    const up = await this.type(
      'weft down --clean --yes --now; weft up --nodes 4 --cpus 2 --memory 512M --listen 127.0.0.1:0',
    );
    if (up.code !== 0) throw new Error(up.lines.join('\n'));
  }

  /** Types a line into a shell; standard output and error in the order in which they came. */
  async type(command: string): Promise<{ code: number; lines: string[] }> {
    const file = path.join(this.#home, 'output');
    const output = openSync(file, 'w');
    const child = spawn('bash', ['-c', command], {
      cwd: this.#work,
      env: this.#environment,
      stdio: ['ignore', output, output],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), COMMAND_MS_MAX);
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (exit) => resolve(exit ?? 128));
    });
    clearTimeout(timer);
    closeSync(output);
    const text = this.#presentable(readFileSync(file, 'utf8'));
    return { code, lines: text === '' ? [] : text.replace(/\n$/, '').split('\n') };
  }

  async close(): Promise<void> {
    await this.type('weft down --clean --yes --now');
    this.#forget();
    rmSync(this.#home, { recursive: true, force: true });
  }

  #presentable(text: string): string {
    return (
      text
        .replaceAll(this.#home, '~')
        .replaceAll(/^weft: port \d+ is taken; .*\n/gm, '') // By another cluster of this machine.
        // The top of where homes are, there and here.
        .replaceAll(/\bshared=\/\w+/g, 'shared=/home')
        .replaceAll(/\b(wt_[0-9a-f]{12}_)[\w-]+/g, '$1…')
        .replaceAll(new RegExp(`\\b${userInfo().username}\\b`, 'g'), READER)
        .replaceAll(new RegExp(`\\b${hostname()}\\b`, 'g'), HOST)
    );
  }

  /** Takes back what commands of a page do; false when it takes a new cluster. */
  async #tidy(): Promise<boolean> {
    const client = await connectLocally(this.#socket);
    try {
      const { call } = client;
      await giveNodesBack(call);
      const { nodes } = await call<{ nodes: Node[] }>('GET', '/v1/nodes');
      if (nodes.length !== 4 || !nodes.every(isAsNew)) return false;
      const { users } = await call<{ users: User[] }>('GET', '/v1/users');
      // Files that somebody has sent stay.
      if (users.some(({ hasRole }) => !hasRole)) return false;
      await removeAll(call, 'users', users);
      const { reservations } = await call<{ reservations: Named[] }>('GET', '/v1/reservations');
      await removeAll(call, 'reservations', reservations);
      await call('POST', '/v1/config/reload');
      await cancelJobs(call);
      return true;
    } finally {
      client.close();
    }
  }
}

async function giveNodesBack(call: Call): Promise<void> {
  const { nodes } = await call<{ nodes: Node[] }>('GET', '/v1/nodes');
  for (const { name, drained, paused, labels } of nodes) {
    const change = (what: string, body?: object) => call('POST', `/v1/nodes/${name}/${what}`, body);
    if (drained !== null) await change('undrain');
    if (paused !== null) await change('unpause');
    if (labels.includes(LABEL)) await change('label', { remove: [LABEL] });
  }
}

function isAsNew({ state, drained, paused, labels }: Node): boolean {
  return state === 'up' && drained === null && paused === null && !labels.includes(LABEL);
}

async function removeAll(call: Call, kind: string, all: readonly Named[]): Promise<void> {
  for (const { name } of all) await call('DELETE', `/v1/${kind}/${name}`);
}

async function cancelJobs(call: Call): Promise<void> {
  const { jobs } = await call<{ jobs: { id: number }[] }>(
    'GET',
    '/v1/jobs?state=active&limit=1000',
  );
  if (jobs.length === 0) return;
  for (const { id } of jobs) await call('POST', `/v1/jobs/${id}/cancel`);
  const body = { jobs: jobs.map(({ id }) => String(id)), timeoutMs: 120_000 };
  await call('POST', '/v1/jobs/wait', body);
}

interface Named {
  readonly name: string;
}

interface User extends Named {
  readonly hasRole: boolean;
}

interface Node extends Named {
  readonly state: string;
  readonly drained: object | null;
  readonly paused: object | null;
  readonly labels: readonly string[];
}
