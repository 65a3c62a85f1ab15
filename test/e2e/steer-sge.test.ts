// A real Grid Engine whose jobs are all started by our scheduler, on hosts of its own: its commands are
// run behind words of another program, as behind ssh.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import type { JobView } from '../../src/api/jobs.ts';
import type { NodeView } from '../../src/api/nodes.ts';
import { endNow, whenKilled } from '../support/when-killed.ts';
import { Lan, until } from './support/hosts.ts';
import { cleanEnvironment, repository, runProgram } from './support/local-cluster.ts';
import { type GridEngine, hasGridEngine, startGridEngine } from './support/steered-grid-engine.ts';

const isRoot = process.getuid?.() === 0;
const skip = hasGridEngine && isRoot ? false : 'needs root, Grid Engine, iproute2 and tini';

describe('a real Grid Engine that our scheduler steers', { skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'weft-steer-sge-'));
  const at = (...names: string[]): string => join(directory, ...names);
  const daemons: ChildProcess[] = [];
  const lan = new Lan();
  let sge: GridEngine;
  let gateway: ChildProcess;
  const forget = whenKilled(() => {
    for (const { pid } of daemons) if (pid !== undefined) endNow(pid, 'SIGTERM');
    lan.closeNow();
  });

  const program = [process.execPath, join(repository, 'bin/weft.mjs')];
  const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    ...cleanEnvironment({ WEFT_SOCKET: at('head', 'weft.sock') }),
    ...more,
  });
  const weft = async (...args: string[]): Promise<string> => {
    const { code, out, error } = await runProgram([...program, ...args], {
      ...{ cwd: directory, env: environment() },
    });
    assert.equal(code, 0, `weft ${args.join(' ')}: ${out}${error}`);
    return out.trimEnd();
  };
  const daemon = (name: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess => {
    const log = openSync(at(`${name}.log`), 'a', 0o600);
    const [file = '', ...words] = program;
    const child = spawn(file, [...words, ...args], {
      ...{ cwd: directory, env, stdio: ['ignore', log, log] },
    });
    daemons.push(child);
    return child;
  };
  const startGateway = (): ChildProcess =>
    daemon(
      'gateway',
      ['gateway', '--dir', at('gateway')],
      environment({
        ...sge.environment,
        ...{ WEFT_SITE_SYSTEM: 'sge', WEFT_SITE_MODE: 'steer', WEFT_SITE_POLL: '500ms' },
        ...{ WEFT_SITE_MAIN: 'main.q', WEFT_SITE_ENVIRONMENT: 'smp' },
        ...{ WEFT_SITE_BEFORE: sge.before.join(','), WEFT_NODE_SWITCH_USER: 'false' },
        WEFT_HEAD_HEARTBEAT: '500ms',
      }),
    );
  const nodes = async (): Promise<NodeView[]> =>
    JSON.parse(await weft('node', 'list', '-o', 'json')) as NodeView[];
  const jobs = async (): Promise<JobView[]> =>
    JSON.parse(await weft('jobs', '--all', '-o', 'json')) as JobView[];
  const membersUp = () =>
    until('the nodes of the site are up', async () => {
      const up = (await nodes()).filter(({ name, state }) => /^n\d/.test(name) && state === 'up');
      return up.length === 2 || undefined;
    });
  /** Given to Grid Engine itself by one of its users. */
  const give = async (...line: string[]): Promise<string> => {
    const user = ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'];
    const words = ['-terse', '-wd', '/tmp', '-o', '/dev/null', '-e', '/dev/null', '-b', 'y'];
    return (await sge.command(...user, 'qsub', ...words, ...line)).trim();
  };
  const ours = (siteJob: string) =>
    until(`job ${siteJob} of the site is one of ours`, async () => {
      return (await jobs()).find((job) => job.siteJob === `hpc/${siteJob}`);
    });
  const become = (id: number, words: RegExp) =>
    until(`job ${id} is ${words}`, async () => {
      const job = (await jobs()).find((one) => one.id === id);
      const said = `${job?.outcome?.kind ?? job?.state} ${job?.outcome?.detail ?? ''}`;
      return words.test(said) ? job : undefined;
    });

  before(async () => {
    chmodSync(directory, 0o755);
    mkdirSync(at('sge'));
    sge = await startGridEngine(lan, at('sge'), ['n1', 'n2']);
    await weft('init', '--dir', at('head'), '--names', 'localhost');
    daemon('head', ['head', '--dir', at('head'), '--listen', '127.0.0.1:0'], environment());
    await until('the head answers', async () => {
      const said = await runProgram([...program, 'info'], { env: environment() });
      return said.code === 0 || undefined;
    });
    const ticket = await weft('token', 'join');
    await weft('join', ticket, '--name', 'hpc', '--dir', at('gateway'));
    gateway = startGateway();
    await membersUp();
  });

  afterEach((context) => {
    if ('passed' in context && context.passed === false) {
      for (const log of ['gateway.log', 'head.log']) {
        process.stderr.write(readFileSync(at(log), 'utf8').slice(-5000));
      }
    }
  });

  after(async () => {
    for (const child of daemons) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    await lan.close();
    forget();
    rmSync(directory, { recursive: true, force: true });
  });

  it('a task of ours runs on the node that our plan gave it, with its cpus', async () => {
    const id = await weft(
      ...['run', '--nodes-named', 'n2.hpc', '--cpus', '2', '--'],
      `sh -c 'echo "$NSLOTS on $(uname -n)"; exit 3'`,
    );
    const said = await runProgram([...program, 'wait', id], { env: environment() });
    assert.equal(said.code, 3, said.out + said.error);
    assert.match(await weft('logs', id), / on n2$/);
  });

  it('a job that a user gave to the site waits in our queue, and is started by our plan', async () => {
    await weft('site', 'pause', 'hpc');
    const there = await give('-l', 'h_rt=300', 'sh', '-c', "'exit 3'");
    const job = await ours(there);
    assert.deepEqual([job.owner, job.state, job.walltimeMs], ['nobody', 'pending', 300_000]);
    await weft('site', 'resume', 'hpc');
    const done = await become(job.id, /^failed/);
    assert.deepEqual(done.exit, { code: 3 });
  });

  it('cancelling here ends it there, before and after its start', async () => {
    await weft('site', 'pause', 'hpc');
    const waiting = await give('sleep', '600');
    await ours(waiting);
    await weft('kill', `hpc/${waiting}`);
    await until('the site has it no more', async () => {
      return !(await sge.command('qstat', '-u', '*')).includes(` ${waiting} `) || undefined;
    });
    await weft('site', 'resume', 'hpc');
    const running = await give('sleep', '600');
    const job = await ours(running);
    await become(job.id, /^running/);
    await weft('kill', String(job.id));
    await become(job.id, /^cancelled/);
  });

  it('a waiting job that its user takes back is over by the word of the site', async () => {
    await weft('site', 'pause', 'hpc');
    const there = await give('sleep', '600');
    const job = await ours(there);
    await sge.command('qdel', there);
    await become(job.id, /^cancelled ended at its site: gone/);
    await weft('site', 'resume', 'hpc');
  });

  it('a gateway that is killed loses none of them', async () => {
    const there = await give('sh', '-c', `'until [ -e ${at('go')} ]; do sleep 0.1; done; exit 5'`);
    const job = await ours(there);
    await become(job.id, /^running/);
    const ended = once(gateway, 'exit');
    gateway.kill('SIGKILL');
    await ended;
    mkdirSync(at('go'));
    gateway = startGateway();
    const done = await become(job.id, /^failed/);
    assert.deepEqual(done.exit, { code: 5 });
  });
});
