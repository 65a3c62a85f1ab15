// Maintenance of the nodes of real batch systems: stopped there for just that time, with the program as
// a job of the site, and given back as they were, whoever is killed meanwhile.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import type { MaintenanceView } from '../../src/api/maintenance.ts';
import { endNow } from '../support/when-killed.ts';
import { type GridEngine, hasGridEngine, startGridEngine } from './support/grid-engine.ts';
import { Lan, until } from './support/hosts.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

const isRoot = process.getuid?.() === 0;
const hasSlurm = spawnSync('slurmctld-wlm', ['-V']).status === 0;

/** Its own scheduler looks only when something has happened. */
const SCHEDULER = 'batch_sched_delay=0,sched_interval=86400,default_queue_depth=10000';

/** What is the same for every system. */
function common(world: SiteWorld) {
  const show = (id: string) => world.json<MaintenanceView>('maint', 'show', id);
  const off = (...options: string[]) =>
    world.weft('maint', 'node-off', ...options, '-d', '10m', '-o', 'name');
  return {
    show,
    off,
    now: (node: string, ...options: string[]) => off(node, '--now', ...options),
    phase: (id: string, phase: string) =>
      until(`${id} is ${phase}`, async () => {
        const one = await show(id);
        assert.ok(one.endedAt === null || one.phase === phase, JSON.stringify(one));
        return one.phase === phase ? one : undefined;
      }),
    gate: (name: string) => `until [ -e ${world.at(name)} ]; do sleep 0.1; done`,
    /** So that a test that has failed leaves the nodes to the next. */
    cancelAll: async () => {
      const left = await world.weft('maint', 'list', '-o', 'name');
      for (const id of left.split('\n').filter(Boolean)) {
        await world.weft('maint', 'cancel', id);
        await until(`${id} is over`, async () => (await show(id)).endedAt ?? undefined);
      }
    },
    open: (name: string) => writeFileSync(world.at(name), ''),
  };
}

describe('maintenance of a real Slurm', { skip: !hasSlurm || !isRoot }, () => {
  let slurm: Slurm;
  const world = new SiteWorld(() => {
    for (const pid of slurm?.pids ?? []) endNow(pid, 'SIGTERM');
  });
  const { show, off, now, phase, gate, open, cancelAll } = common(world);
  const nodeThere = async (name: string): Promise<string> => {
    const line = await slurm.command('scontrol', 'show', 'node', name, '-o');
    const isDrained = /State=\S*DRAIN/.test(line);
    const reason = /Reason=(.*?)( \[|$)/m.exec(line)?.[1] ?? '';
    return `${isDrained ? 'drained' : 'open'} ${reason}`.trim();
  };
  const become = (name: string, words: string) =>
    until(`${name} is ${words}`, async () => (await nodeThere(name)) === words || undefined);
  const give = async (...line: string[]): Promise<string> => {
    const words = ['--parsable', '--uid=nobody', '--chdir=/tmp', '--output=/dev/null', ...line];
    return (await slurm.command('sbatch', ...words)).trim();
  };

  before(async () => {
    slurm = await startSlurm(2, 2, SCHEDULER, { steered: true });
    await world.startHead();
    const site = { system: 'slurm', mode: 'steer', poll: '500ms' };
    await world.addGateway('hpc', site, slurm.environment);
    await world.nodesUp(2, /^n\d/);
  });
  afterEach(showLogs(world));
  afterEach(cancelAll);
  after(() => world.close(() => slurm?.stop()));

  it('[M9] the node is stopped there, its program runs as a job of the site, and it is back', async () => {
    const line = `echo "$MAINTENANCE_ID"; ${gate('go')}`;
    const id = await now('n1.hpc', '--program', line);
    const running = await until('the program runs', async () => {
      const [work] = (await show(id)).nodes;
      return work?.state === 'running' && work.stop === 'stopped' ? work : undefined;
    });
    await world.become(running.jobId ?? 0, /^running/);
    await become('n1', `drained weft maintenance ${id}`);
    assert.match(
      await slurm.command('squeue', '-h', '-t', 'running', '-o', '%j %N'),
      /^weft-\S+ n1$/m,
    );
    // Neither by us nor by Slurm: a job of its own user needs both nodes.
    const theirs = await give('--nodes=2', '--wrap', 'true');
    const adopted = await world.ours(`hpc/${theirs}`);
    const ours = await world.weft('run', '--nodes-named', 'n1.hpc', '--', 'true');
    const other = await world.weft('run', '--nodes-named', 'n2.hpc', '--', 'true');
    await world.become(Number(other), /^completed/);
    assert.match(await slurm.command('squeue', '-h', '-j', theirs, '-o', '%T'), /PENDING/);
    assert.match(await world.weft('why', ours), new RegExp(`maintenance ${id}`));
    open('go');
    assert.equal((await phase(id, 'done')).nodes[0]?.stop, 'returned');
    await become('n1', 'open');
    await world.become(Number(ours), /^completed/);
    await world.become(adopted.id, /^completed/);
    assert.equal(await world.weft('logs', String(running.jobId)), id);
  });

  it('[M9] a node that its operator had drained stays drained, with the same reason', async () => {
    await slurm.command('scontrol', 'update', 'nodename=n1', 'state=drain', 'reason=bad disk');
    const id = await now('n1.hpc', '--program', 'echo mended');
    const done = await phase(id, 'done');
    assert.equal(await world.weft('logs', String(done.nodes[0]?.jobId)), 'mended');
    assert.equal(await nodeThere('n1'), 'drained bad disk');
    await slurm.command('scontrol', 'update', 'nodename=n1', 'state=undrain');
    await world.nodesUp(2, /^n\d/);
  });

  it('[M9] gateway and head killed in the middle give the node back once', async () => {
    const given = (): number => world.log('hpc').split('a node was given back').length;
    const before = given();
    const id = await now('n1.hpc', '--program', `touch ${world.at('began')}; ${gate('go-2')}`);
    await until('the program runs', () => existsSync(world.at('began')) || undefined);
    await become('n1', `drained weft maintenance ${id}`);
    await world.end('hpc', 'SIGKILL');
    await world.end('head', 'SIGKILL');
    assert.equal(await nodeThere('n1'), `drained weft maintenance ${id}`);
    await world.startAgain('head');
    await until(
      'the head answers',
      async () => (await world.tried('info')).code === 0 || undefined,
    );
    await world.startAgain('hpc');
    await world.nodesUp(1, /^n2/);
    assert.equal(await nodeThere('n1'), `drained weft maintenance ${id}`);
    open('go-2');
    await phase(id, 'done');
    await become('n1', 'open');
    assert.equal(given(), before + 1, 'once');
  });

  it('[M9] a gateway that is away at the end gives the node back when it is there again', async () => {
    const id = await now('n1.hpc');
    await become('n1', `drained weft maintenance ${id}`);
    const isTold = async () => (await show(id)).nodes[0]?.stop === 'stopped' || undefined;
    await until('the head knows of it', isTold);
    await world.end('hpc', 'SIGKILL');
    await world.weft('maint', 'cancel', id);
    assert.equal((await show(id)).phase, 'restoring');
    await world.startAgain('hpc');
    await phase(id, 'cancelled');
    await become('n1', 'open');
  });

  it('[M11] node-on gives one node back, the others stay', async () => {
    const id = await off('n1.hpc', 'n2.hpc', '--now');
    await become('n1', `drained weft maintenance ${id}`);
    await become('n2', `drained weft maintenance ${id}`);
    const wrong = await world.tried('maint', 'node-on', 'n1.hpc', 'hpc');
    assert.match(wrong.error, /hpc is in no maintenance that has begun/);
    await world.weft('maint', 'node-on', 'n1.hpc');
    await become('n1', 'open');
    const job = await world.weft('run', '--nodes-named', 'n1.hpc', '--', 'true');
    await world.become(Number(job), /^completed/);
    assert.equal(await nodeThere('n2'), `drained weft maintenance ${id}`);
    await world.weft('maint', 'cancel', id);
    await become('n2', 'open');
    await phase(id, 'cancelled');
  });

  it('[M1, M9] a planned one is reserved here, and stopped there from its start only', async () => {
    const id = await off('n1.hpc', '--at', '+1h');
    const long = await world.ours(`hpc/${await give('--nodes=2', '--time=90', '--wrap', 'true')}`);
    const short = await world.ours(`hpc/${await give('--nodes=2', '--time=5', '--wrap', 'true')}`);
    await world.become(short.id, /^completed/);
    await world.become(long.id, /^pending/);
    assert.equal(await nodeThere('n1'), 'open');
    const refused = await world.tried('maint', 'node-off', 'n1.hpc', '--at', '+1h', '-d', '10m');
    assert.match(refused.error, new RegExp(id));
    await world.weft('maint', 'cancel', id);
    assert.equal((await show(id)).phase, 'cancelled');
    await world.become(long.id, /^completed/);
    assert.equal(await nodeThere('n1'), 'open', 'nothing is left behind');
  });

  it('[M10] what the site cannot do is refused', async () => {
    const said = await world.tried(
      ...['maint', 'node-off', 'n1.hpc', '--now', '-d', '10m', '--running', 'suspend'],
    );
    assert.match(said.error, /n1\.hpc: its site suspends no jobs; choose wait, requeue or kill/);
  });
});

describe('maintenance of a real Grid Engine', { skip: !hasGridEngine || !isRoot }, () => {
  const lan = new Lan();
  let sge: GridEngine;
  const world = new SiteWorld(() => lan.closeNow());
  const { show, now, phase, gate, open, cancelAll } = common(world);
  /** The letters of the queue instance there. */
  const lettersOf = async (node: string): Promise<string> => {
    const listed = await sge.command('qstat', '-f');
    const line = listed.split('\n').find((one) => one.startsWith(`main.q@${node}`)) ?? '';
    return line.trim().split(/\s+/)[5] ?? '';
  };
  const become = (node: string, letters: string) =>
    until(`${node} is '${letters}'`, async () => (await lettersOf(node)) === letters || undefined);

  before(async () => {
    mkdirSync(world.at('sge'));
    const grid = { nodes: ['n1', 'n2'], slots: 2, isSteered: true };
    sge = await startGridEngine(lan, world.at('sge'), grid);
    await world.startHead();
    const site = {
      ...{ system: 'sge', mode: 'steer', poll: '500ms', main: 'main.q', environment: 'smp' },
      before: sge.before.join(','),
    };
    await world.addGateway('hpc', site, sge.environment);
    await world.nodesUp(2, /^n\d/);
  });
  afterEach(showLogs(world));
  afterEach(cancelAll);
  after(() => world.close(() => lan.close()));

  it('[M9] the node is stopped there, its program runs as a job of the site, and it is back', async () => {
    const id = await now('n1.hpc', '--program', `echo "$(uname -n)"; ${gate('go')}`);
    const running = await until('the program runs', async () => {
      const [work] = (await show(id)).nodes;
      return work?.state === 'running' ? work : undefined;
    });
    await world.become(running.jobId ?? 0, /^running/);
    await become('n1', 'd');
    const ours = await world.weft('run', '--nodes-named', 'n1.hpc', '--', 'true');
    const other = await world.weft('run', '--nodes-named', 'n2.hpc', '--', 'true');
    await world.become(Number(other), /^completed/);
    assert.match(await world.weft('why', ours), new RegExp(`maintenance ${id}`));
    await world.end('hpc', 'SIGKILL');
    await world.startAgain('hpc');
    await world.nodesUp(1, /^n2/);
    assert.equal(await lettersOf('n1'), 'd');
    open('go');
    await phase(id, 'done');
    await become('n1', '');
    assert.equal(await world.weft('logs', String(running.jobId)), 'n1');
    await world.become(Number(ours), /^completed/);
  });

  it('[M9] a queue that its operator had disabled stays so', async () => {
    await sge.command('qmod', '-d', 'main.q@n1');
    await become('n1', 'd');
    const id = await now('n1.hpc', '--program', 'echo mended');
    const done = await phase(id, 'done');
    assert.equal(await world.weft('logs', String(done.nodes[0]?.jobId)), 'mended');
    assert.equal(await lettersOf('n1'), 'd');
    await sge.command('qmod', '-e', 'main.q@n1');
  });
});
