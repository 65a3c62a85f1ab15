// A head beside a batch system, with the system's commands counted.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { FleetView } from '../../../src/wings/pilots/api/pilots.ts';
import { connectLocally, type LocalClient } from '../../support/local-client.ts';
import { endNow, whenKilled } from '../../support/when-killed.ts';
import { until } from './hosts.ts';
import { cleanEnvironment, quickStarts, repository, runProgram } from './local-cluster.ts';

export interface BatchSystem {
  /** The words before a program that is to run where it is. */
  readonly inside?: readonly string[];
  /** The words that start `weft` there. Default: those of here. */
  readonly program?: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Commands that are counted. */
  readonly commands: readonly string[];
}

/** Empty of a process that has ended meanwhile. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return '';
    throw error;
  }
}

export class PilotWorld {
  readonly directory = mkdtempSync(join(tmpdir(), 'weft-pilots-test-'));
  readonly #heads: ChildProcess[] = [];
  readonly #forget = whenKilled(() => {
    for (const { pid } of this.#heads) if (pid !== undefined) endNow(pid, 'SIGTERM');
  });
  readonly #program = [process.execPath, join(repository, 'bin/weft.mjs')];
  readonly #before = new Set(readdirSync(tmpdir()));
  #system: BatchSystem = { environment: {}, commands: [] };
  /** Asks as this program's user; null: the head was never started. */
  #client: LocalClient | null = null;

  at(...names: string[]): string {
    return join(this.directory, ...names);
  }

  async begin(system: BatchSystem): Promise<void> {
    this.#system = system;
    chmodSync(this.directory, 0o755);
    for (const folder of ['work', 'bin']) mkdirSync(this.at(folder));
    writeFileSync(this.at('calls'), '');
    for (const name of system.commands) {
      const real = spawnSync('sh', ['-c', `command -v ${name}`])
        .stdout.toString()
        .trim();
      const held = `while [ -e '${this.#heldBy(name)}' ]; do sleep 0.1; done`;
      const script = `#!/bin/sh\necho ${name} >>'${this.at('calls')}'\n${held}\nexec ${real} "$@"\n`;
      writeFileSync(this.at('bin', name), script, { mode: 0o755 });
    }
    await this.weft('init', '--dir', this.at('head'), '--names', 'localhost');
    await this.startHead();
  }

  /** On the same port after a restart: agents come back to it. */
  async startHead(): Promise<void> {
    const log = openSync(this.at('head.log'), 'a', 0o600);
    const served = /"port":(\d+)/.exec(readFileSync(this.at('head.log'), 'utf8'));
    const listen = `127.0.0.1:${served?.[1] ?? '0'}`;
    const { inside = [], program = this.#program, environment } = this.#system;
    const words = [...inside, ...program, 'head', '--dir', this.at('head')];
    const [file = '', ...rest] = [...words, '--listen', listen];
    const path = `${this.at('bin')}${delimiter}${process.env.PATH}`;
    const quick = quickStarts(join(program.at(-1) ?? '', '..', '..'));
    const head = spawn(file, rest, {
      cwd: this.directory,
      stdio: ['ignore', log, log],
      env: { ...this.#environment(), ...quick, ...environment, PATH: path },
    });
    this.#heads.push(head);
    this.#client?.close();
    this.#client = await until('the head answers', () => {
      return connectLocally(this.at('head', 'weft.sock')).catch(() => undefined);
    });
  }

  async killHead(): Promise<void> {
    const head = this.#heads.at(-1);
    assert.ok(head !== undefined);
    const ended = once(head, 'exit');
    head.kill('SIGKILL');
    await ended;
  }

  tried(...args: string[]) {
    const options = { cwd: this.#cwd(), env: this.#environment() };
    return runProgram([...this.#program, ...args], options);
  }

  async weft(...args: string[]): Promise<string> {
    const { code, out, error } = await this.tried(...args);
    assert.equal(code, 0, `weft ${args.join(' ')}: ${out}${error}`);
    return out.trimEnd();
  }

  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.weft(...args, '-o', 'json')) as T;
  }

  /**
   * Asks the head itself: a program for each question of those who wait would keep the machine
   * busy.
   */
  async fleets(): Promise<readonly FleetView[]> {
    assert.ok(this.#client !== null, 'the head was never started');
    return (await this.#client.call<{ fleets: FleetView[] }>('GET', '/v1/pilots')).fleets;
  }

  async fleet(name: string): Promise<FleetView | undefined> {
    return (await this.fleets()).find((one) => one.name === name);
  }

  /** States of its pilots, in one line. */
  async states(name: string): Promise<string> {
    return ((await this.fleet(name))?.pilots ?? []).map(({ state }) => state).join(' ');
  }

  up(name: string, count: number): Promise<true> {
    const all = Array.from({ length: count }, () => 'up').join(' ');
    return until(`${count} pilots of ${name} are up`, async () => {
      return (await this.states(name)) === all || undefined;
    });
  }

  gone(name: string): Promise<true> {
    return until(`fleet ${name} is gone`, async () => {
      return (await this.fleet(name)) === undefined || undefined;
    });
  }

  /** How often the batch system's command was given. */
  count(command: string): number {
    const lines = readFileSync(this.at('calls'), 'utf8').split('\n');
    return lines.filter((line) => line === command).length;
  }

  /** From now on this command takes as long as until the answer is called. */
  hold(command: string): () => void {
    writeFileSync(this.#heldBy(command), '');
    return () => rmSync(this.#heldBy(command));
  }

  #heldBy(command: string): string {
    return this.at(`held-${command}`);
  }

  /**
   * Processes that pilots have left, wherever they were; not those of pilots from before this test.
   */
  leftovers(): string[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.filter((pid) => {
      const [, folder] = /\/(weft-pilot\.\w+)/.exec(commandLine(pid)) ?? [];
      return folder !== undefined && !this.#before.has(folder);
    });
  }

  /** For the output of a test that failed. */
  logs(): string {
    const logs = readdirSync(this.at('work')).filter((name) => name.endsWith('.log'));
    return [
      readFileSync(this.at('head.log'), 'utf8').slice(-5000),
      ...logs.map((name) => `${name}: ${readFileSync(this.at('work', name), 'utf8').slice(-1500)}`),
    ].join('\n');
  }

  /** `end`: ends the batch system, and all that is in it. */
  async close(end: () => Promise<void> | undefined): Promise<void> {
    this.#client?.close();
    for (const head of this.#heads) {
      if (head.exitCode !== null || head.signalCode !== null) continue;
      const ended = once(head, 'exit');
      head.kill('SIGTERM');
      await ended;
    }
    await end();
    this.#forget();
    rmSync(this.directory, { recursive: true, force: true });
  }

  #cwd(): string {
    return this.at('work');
  }

  #environment(): NodeJS.ProcessEnv {
    return cleanEnvironment({ WEFT_SOCKET: this.at('head', 'weft.sock') });
  }
}
