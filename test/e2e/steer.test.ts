// A real Slurm whose jobs are all started by our scheduler: tasks of ours, and jobs that a user of the
// site gave to it. Where both disagree, the site is right.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import type { JobView } from '../../src/api/jobs.ts';
import { endNow } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

const isThere = spawnSync('slurmctld-wlm', ['-V']).status === 0;
const isRoot = process.getuid?.() === 0;
const skip = isThere && isRoot ? false : 'needs root, and slurm-wlm and munge';

/** Its own scheduler looks only when something has happened. */
const SCHEDULER = 'batch_sched_delay=0,sched_interval=86400,default_queue_depth=10000';

describe('a real Slurm that our scheduler steers', { skip }, () => {
  let slurm: Slurm;
  const world = new SiteWorld(() => {
    for (const pid of slurm?.pids ?? []) endNow(pid, 'SIGTERM');
  });
  const weft = (...args: string[]) => world.weft(...args);
  const ours = (siteJob: string) => world.ours(`hpc/${siteJob}`);
  const become = (id: number, words: RegExp) => world.become(id, words);
  /** Given to Slurm itself by one of its users. */
  const give = async (...line: string[]): Promise<string> => {
    const words = ['--parsable', '--uid=nobody', '--chdir=/tmp', '--output=/dev/null', ...line];
    return (await slurm.command('sbatch', ...words)).trim();
  };
  const stateThere = async (id: string): Promise<string> =>
    (await slurm.command('squeue', '-h', '-a', '-t', 'all', '-j', id, '-o', '%T %N')).trim();

  before(async () => {
    slurm = await startSlurm(2, 2, SCHEDULER, { steered: true });
    await world.startHead();
    const site = { system: 'slurm', mode: 'steer', poll: '500ms' };
    await world.addGateway('hpc', site, slurm.environment);
    await world.nodesUp(2, /^n\d/);
  });
  afterEach(showLogs(world));
  after(() => world.close(() => slurm?.stop()));

  it('each node of the site is a node of ours', async () => {
    const members = (await world.nodes()).filter(({ name }) => name !== 'hpc');
    assert.deepEqual(members.map(({ name, total }) => `${name} ${total.cpuCount}`).sort(), [
      'n1.hpc 2',
      'n2.hpc 2',
    ]);
    assert.ok(members[0]?.labels.includes('site=hpc'));
    assert.match(await weft('site', 'list'), /hpc +slurm +steer +up +2\/2/);
  });

  it('a task of ours runs on the very node that our plan gave it', async () => {
    const line = 'echo "on $SLURM_JOB_NODELIST"; exit 3';
    const id = await weft('run', '--nodes-named', 'n2.hpc', '--', `sh -c '${line}'`);
    const said = await world.tried('wait', id);
    assert.equal(said.code, 3, said.out + said.error);
    // The site completes a job for a while longer than we do.
    await until('it is over at the site, too', async () => {
      const listed = await slurm.command('squeue', '-h', '-a', '-t', 'all', '-o', '%P %N %T');
      return /^steer n2 FAILED$/m.test(listed) || undefined;
    });
  });

  it('a job that a user gave to the site waits in our queue, and is started by our plan', async () => {
    await weft('site', 'pause', 'hpc');
    const there = await give('--time=5', '--wrap', 'exit 3');
    const job = await ours(there);
    assert.deepEqual([job.owner, job.state, job.walltimeMs], ['nobody', 'pending', 300_000]);
    assert.match(await stateThere(there), /^PENDING/);
    assert.match(await weft('job', `hpc/${there}`), new RegExp(`^Job: +${job.id} wrap$`, 'm'));
    const local = await world.json<JobView[]>('jobs', '--source', 'local');
    assert.deepEqual(
      local.map(({ id, siteJob }) => [id, siteJob]),
      [[job.id, `hpc/${there}`]],
    );
    assert.equal(await weft('jobs', '--source', 'grid', '-o', 'name'), '');
    await weft('site', 'resume', 'hpc');
    const done = await become(job.id, /^failed/);
    assert.deepEqual(done.exit, { code: 3 });
    await until('it is over at the site, too', async () => {
      return /^FAILED n\d$/.test(await stateThere(there)) || undefined;
    });
  });

  it('our order decides, not that of the site', async () => {
    await weft('site', 'pause', 'hpc');
    const first = await ours(await give('--wrap', 'true'));
    const second = await ours(await give('--wrap', 'true'));
    await weft('hold', String(first.id));
    await weft('site', 'resume', 'hpc');
    await become(second.id, /^completed/);
    await weft('release', String(first.id));
    await become(first.id, /^completed/);
  });

  it('cancelling here ends it there, before and after its start', async () => {
    await weft('site', 'pause', 'hpc');
    const waiting = await give('--wrap', 'sleep 600');
    await ours(waiting);
    await weft('kill', `hpc/${waiting}`);
    await until('the site has cancelled it', async () => {
      return (await stateThere(waiting)).startsWith('CANCELLED') || undefined;
    });
    await weft('site', 'resume', 'hpc');
    const running = await give('--wrap', 'sleep 600');
    const job = await ours(running);
    await become(job.id, /^running/);
    await weft('kill', String(job.id));
    await become(job.id, /^cancelled/);
    await until('the site has cancelled it, too', async () => {
      return (await stateThere(running)).startsWith('CANCELLED') || undefined;
    });
  });

  it('what ends or starts at the site behind our back is so', async () => {
    await weft('site', 'pause', 'hpc');
    const cancelled = await give('--wrap', 'sleep 600');
    const started = await give('--wrap', 'sleep 600');
    const [one, two] = [await ours(cancelled), await ours(started)];
    await slurm.command('scancel', cancelled);
    await become(one.id, /^cancelled ended at its site: CANCELLED/);
    const move = ['Partition=steer', 'NumNodes=1-1', 'ReqNodeList=n1'];
    await slurm.command('scontrol', 'update', `jobid=${started}`, ...move);
    const running = await become(two.id, /^running/);
    assert.deepEqual(running.nodes, ['n1.hpc']);
    await slurm.command('scancel', started);
    const ended = await become(two.id, /^failed/);
    // By the moment the shell of the batch script says it, or Slurm does.
    assert.ok(ended.exit?.signal === 15 || ended.exit?.code === 128 + 15);
    await weft('site', 'resume', 'hpc');
  });

  it('a gateway that is killed loses none of them', async () => {
    const go = world.at('go');
    const there = await give('--wrap', `until [ -e ${go} ]; do sleep 0.1; done; exit 5`);
    const job = await ours(there);
    await become(job.id, /^running/);
    await world.end('hpc', 'SIGKILL');
    spawnSync('touch', [go]);
    await world.startAgain('hpc');
    const done = await become(job.id, /^failed/);
    assert.deepEqual(done.exit, { code: 5 });
    assert.equal(
      (await world.jobs()).filter(({ command }) => command === `hpc/${there}`).length,
      1,
    );
  });

  it('[G6] without what steering needs nothing starts, and a gateway says what it lacks', async () => {
    await slurm.command('scontrol', 'update', 'partitionname=main', 'state=up');
    await world.end('hpc', 'SIGTERM');
    await world.startAgain('hpc');
    assert.notEqual(await world.exitOf('hpc'), 0);
    assert.match(
      world.log('hpc'),
      /cannot be steered: this is not so: partition main is down and steer is up/,
    );
    await slurm.command('scontrol', 'update', 'partitionname=main', 'state=down');
    await world.startAgain('hpc');
    await world.nodesUp(2, /^n\d/);
  });
});
