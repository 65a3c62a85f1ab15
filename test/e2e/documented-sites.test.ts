// Systems of which only documents are there: each is played by programs that speak its forms and run
// its jobs as processes. A gateway gives it a job, and the job's output and end come home.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DIALECTS } from '../support/fake-batch/dialects.ts';
import { FakeSite } from '../support/fake-batch/fake-site.ts';
import { installFake } from '../support/fake-batch/install.ts';
import { endNow, whenKilled } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { cleanEnvironment, repository, runProgram } from './support/local-cluster.ts';

const directory = mkdtempSync(join(tmpdir(), 'weft-documented-'));
const at = (...names: string[]): string => join(directory, ...names);
const program = [process.execPath, join(repository, 'bin/weft.mjs')];
const daemons: ChildProcess[] = [];
const forget = whenKilled(() => {
  for (const { pid } of daemons) if (pid !== undefined) endNow(pid, 'SIGTERM');
});

function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return cleanEnvironment({ WEFT_SOCKET: at('head', 'weft.sock'), ...more });
}

async function weft(...args: string[]): Promise<string> {
  const said = await runProgram([...program, ...args], { cwd: directory, env: environment() });
  assert.equal(said.code, 0, `weft ${args.join(' ')}: ${said.out}${said.error}`);
  return said.out.trimEnd();
}

function daemon(name: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const log = openSync(at(`${name}.log`), 'a', 0o600);
  const [file = '', ...words] = program;
  const child = spawn(file, [...words, ...args], {
    ...{ cwd: directory, env, stdio: ['ignore', log, log] },
  });
  daemons.push(child);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

before(async () => {
  await weft('init', '--dir', at('head'), '--names', 'localhost');
  daemon('head', ['head', '--dir', at('head'), '--listen', '127.0.0.1:0'], environment());
  await until('the head answers', async () => {
    const said = await runProgram([...program, 'info'], { env: environment() });
    return said.code === 0 || undefined;
  });
});

after(async () => {
  for (const child of daemons.reverse()) await end(child);
  forget();
  rmSync(directory, { recursive: true, force: true });
});

for (const system of Object.keys(DIALECTS)) {
  describe(`a site that speaks ${system}`, () => {
    const top = at(system);
    const state = at(system, 'state');
    let gateway: ChildProcess;
    let settings: NodeJS.ProcessEnv;

    before(async () => {
      mkdirSync(top);
      settings = environment({
        PATH: `${installFake(system, top)}:${process.env.PATH}`,
        ...{ WEFT_SITE_SYSTEM: system, WEFT_SITE_POLL: '500ms', WEFT_NODE_SWITCH_USER: 'false' },
      });
      await weft('join', await weft('token', 'join'), '--name', system, '--dir', at(system, 'gw'));
      gateway = daemon(`gateway-${system}`, ['agent', '--dir', at(system, 'gw')], settings);
      await until('the site is up', async () => {
        const sites = JSON.parse(await weft('site', 'list', '-o', 'json')) as {
          name: string;
          nodesUp: number;
        }[];
        return sites.some(({ name, nodesUp }) => name === system && nodesUp === 2) || undefined;
      });
    });

    after(async () => {
      await end(gateway);
      new FakeSite(state).endAll();
    });

    it('runs a job, and its output and exit code come home', async () => {
      const line = 'echo "hello from $WEFT_JOB_ID"; exit 3';
      const id = await weft('run', '--needs', `site=${system}`, '--', line);
      const said = await runProgram([...program, 'wait', id], { env: environment() });
      const log = readFileSync(at(`gateway-${system}.log`), 'utf8').slice(-2000);
      assert.equal(said.code, 3, said.out + said.error + log);
      assert.equal(await weft('logs', id), `hello from ${id}`);
      assert.equal(new FakeSite(state).jobs().at(-1)?.code, 3);
    });

    it('ends a job that is cancelled', async () => {
      const id = await weft('run', '--needs', `site=${system}`, '--', 'sleep 600');
      await until('it runs there', async () => {
        const jobs = JSON.parse(await weft('jobs', '--state', 'running', '-o', 'json')) as object[];
        return jobs.length > 0 || undefined;
      });
      await weft('kill', id);
      await until('it is cancelled there', () =>
        Promise.resolve(new FakeSite(state).jobs().at(-1)?.isCancelled || undefined),
      );
    });

    it('is tried out with every operation', async () => {
      const env = { ...settings, WEFT_DIR: top };
      const said = await runProgram([...program, 'site', 'test'], { cwd: top, env });
      assert.equal(said.code, 0, said.out + said.error);
      assert.match(said.out, /works +find it by its name: 1 of that name/);
    });
  });
}
