// A real Slurm over HTTP as a site: jobs run there, and neither a slurmrestd that is killed nor a
// token that is refused fails one.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import { placeForRest, type SlurmRest, startSlurmRest } from '../../bench/mix/slurm-rest.ts';
import { endNow } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

const JWT = '/usr/lib/x86_64-linux-gnu/slurm-wlm/auth_jwt.so';
const isThere = spawnSync('slurmrestd', ['-V']).status === 0 && existsSync(JWT);
const isRoot = process.getuid?.() === 0;
const skip = isThere && isRoot ? false : 'needs root, slurm-wlm, slurmrestd and its jwt plugin';

/** Plans at once what is submitted, and looks again every second. */
const SCHEDULER = 'batch_sched_delay=0,sched_interval=1,bf_interval=1,defer_batch';

describe('a real slurmrestd behind a gateway', { skip }, () => {
  let slurm: Slurm;
  let rest: SlurmRest;
  const world = new SiteWorld(() => {
    for (const pid of [...(slurm?.pids ?? []), rest?.pid ?? 0]) endNow(pid, 'SIGTERM');
  });
  const { weft, at } = { weft: world.weft.bind(world), at: world.at.bind(world) };
  const states = async (): Promise<string> =>
    slurm.command('squeue', '-h', '-a', '-t', 'all', '-o', '%T');

  before(async () => {
    mkdirSync(at('rest'));
    slurm = await startSlurm(2, 2, SCHEDULER, placeForRest(at('rest')));
    rest = await startSlurmRest(slurm, at('rest'));
    await world.startHead();
    const { curl, url } = rest;
    const site = { system: 'slurmrestd', program: curl.join(','), url, poll: '1s' };
    await world.addGateway('hpc', site, {});
    await world.nodesUp(1, /^hpc$/);
  });
  afterEach(showLogs(world));
  after(async () => {
    await world.close(async () => {
      await rest?.stop();
      await slurm?.stop();
    });
  });

  it('offers what its nodes have, and shows nodes and partitions', async () => {
    const [node] = await world.nodes();
    assert.equal(node?.total.cpuCount, 4);
    await until('the site is shown', async () => {
      // Its gateway is a node before it has told of its site.
      const { out } = await world.tried('site', 'show', 'hpc');
      return /n1 +idle(.|\n)*main +yes +yes/.test(out) || undefined;
    });
  });

  it('a job runs there, and its output, exit code and files come home', async () => {
    const line = 'echo "job $SLURM_JOB_ID with $WEFT_CPUS"; echo made > made; exit 3';
    const id = await weft('run', '--cpus', '2', '--', `sh -c '${line}'`);
    assert.equal((await world.tried('wait', id)).code, 3);
    // What a job gets of variables is its own: those of the site are not among them.
    assert.equal(await weft('logs', id), 'job  with 2');
    await weft('pull', id, '--save-dir', at('pulled'));
    assert.equal(readFileSync(join(at('pulled'), id, 'made'), 'utf8'), 'made\n');
    assert.match(await states(), /^FAILED\n$/);
  });

  it('a slurmrestd that is killed fails no job, and makes none twice', async () => {
    await rest.stop();
    const id = await weft('run', '--', `echo ran >> ${at('ran')}`);
    await until('the site says that it is away', async () => {
      return /Couldn.t connect/.test(await weft('site', 'show', 'hpc')) || undefined;
    });
    await rest.start();
    assert.equal((await world.tried('wait', id)).code, 0);
    assert.equal(readFileSync(at('ran'), 'utf8'), 'ran\n');
    assert.equal((await states()).trim().split('\n').length, 2);
  });

  it('a token that is refused fails no job', async () => {
    rest.setToken('bad');
    const id = await weft('run', '--', 'exit 5');
    await until('the site says that it cannot be read', async () => {
      return /slurmrestd: /.test(await weft('site', 'show', 'hpc')) || undefined;
    });
    rest.setToken(null);
    assert.equal((await world.tried('wait', id)).code, 5);
  });

  it('cancelling here ends it there', async () => {
    const id = await weft('run', '--', 'sleep 600');
    await world.become(Number(id), /^running/);
    await weft('kill', id);
    await world.become(Number(id), /^cancelled/);
    await until('Slurm has ended it', async () => {
      return !/RUNNING|PENDING/.test(await states()) || undefined;
    });
  });
});
