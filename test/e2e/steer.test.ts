// A real Slurm whose jobs are all started by our scheduler: tasks of ours, and jobs that a user of
// the site gave to it. Where both disagree, the site is right.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { JobView, TaskView } from '../../src/kernel/api/jobs.ts';
import type { SiteView } from '../../src/wings/sites/api/sites.ts';
import { until } from './support/hosts.ts';
import { STEERED_SLURM, steeredSlurm, withoutSlurm } from './support/steered.ts';

describe('a real Slurm that our scheduler steers', { skip: withoutSlurm }, () => {
  const { world, system, give } = steeredSlurm();
  const weft = (...args: string[]) => world.weft(...args);
  const command = (...words: string[]) => system().command(...words);
  const ours = (siteJob: string, site = 'hpc') => world.ours(`${site}/${siteJob}`);
  const become = (id: number, words: RegExp) => world.become(id, words);
  const stateThere = async (id: string): Promise<string> =>
    (await command('squeue', '-h', '-a', '-t', 'all', '-j', id, '-o', '%T %N')).trim();
  const told = (id: string, words: RegExp) =>
    until(`the user of ${id} is told ${words}`, async () => {
      const line = await command('squeue', '-h', '-a', '-j', id, '-O', 'admin_comment:120');
      return words.test(line.trim()) || undefined;
    });

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
      const listed = await command('squeue', '-h', '-a', '-t', 'all', '-o', '%P %N %T');
      return /^steer n2 FAILED$/m.test(listed) || undefined;
    });
  });

  it('an array says all of its elements, and those that its user cancels are over', async () => {
    // More words than squeue shows by default.
    const indices = Array.from({ length: 44 }, (_, at) => (at * (at + 1)) / 2);
    const there = await give(
      '--hold',
      '--time=5',
      `--array=${indices.join(',')}`,
      '--wrap',
      'true',
    );
    assert.equal((await ours(there)).taskCount, 44);
    const tasks = (words: string) =>
      until(`the array has ${words}`, async () => {
        return (await weft('job', `hpc/${there}`)).includes(`: ${words}\n`) || undefined;
      });
    await command('scancel', `${there}_1`, `${there}_946`, `${there}_6`);
    await tasks('41 pending, 3 cancelled');
    assert.match(await weft('why', `hpc/${there}_6`), /It is done: cancelled/);
    assert.match(await weft('why', `hpc/${there}_3`), /held at hpc/);
    await command('scancel', there);
    await tasks('44 cancelled');
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

  it('[G20] our order decides, not that of the site, and its user is told there what holds a job', async () => {
    await weft('site', 'pause', 'hpc');
    const there = await give('--wrap', 'true');
    const first = await ours(there);
    const second = await ours(await give('--wrap', 'true'));
    await weft('hold', String(first.id));
    await weft('site', 'resume', 'hpc');
    await become(second.id, /^completed/);
    await told(there, new RegExp(`^weft: held here; weft release ${first.id} lets it start$`));
    await weft('site', 'pause', 'hpc');
    await weft('release', String(first.id));
    await told(there, /^$/);
    await weft('site', 'resume', 'hpc');
    await become(first.id, /^completed/);
  });

  /** @param free what stands at a job of which there is nothing to say */
  const runWhereWanted = async (site: string, free: RegExp) => {
    const named = await ours(await give('-w', 'n2', '--wrap', 'true'), site);
    const other = await ours(await give('-x', 'n2', '--wrap', 'true'), site);
    assert.deepEqual((await become(named.id, /^completed/)).nodes, [`n2.${site}`]);
    assert.deepEqual((await become(other.id, /^completed/)).nodes, [`n1.${site}`]);
    const choice = await give('-N', '2', '-w', 'n2', '--wrap', 'true');
    const { id } = await ours(choice, site);
    assert.match(await weft('why', String(id)), /\(-w\), which Weft does not/);
    const said = (words: RegExp) =>
      until(`its user is told ${words}`, async () => {
        const line = await command('squeue', '-h', '-a', '-j', choice, '-O', 'admin_comment:120');
        return words.test(line.trim()) || undefined;
      });
    await said(/^weft: it asks for some of its nodes.* \(-w\)/);
    await weft('site', 'pause', site);
    await command('scontrol', 'update', `jobid=${choice}`, 'ReqNodeList=');
    await said(free);
    await weft('site', 'resume', site);
    await become(id, /^completed/);
  };

  const startAsPlanned = async (site: string) => {
    await weft('site', 'pause', site);
    const array = await ours(
      await give('--array=1-5', '--wrap', 'exit $SLURM_ARRAY_TASK_ID'),
      site,
    );
    const first = await give('-N', '2', '--wrap', 'exit 3');
    const behind = await ours(await give(`--dependency=afterany:${first}`, '--wrap', 'true'), site);
    assert.match(await weft('why', String(behind.id)), /Dependency/);
    await weft('site', 'resume', site);
    const done = await become(array.id, /^failed/);
    assert.equal(done.outcomeCounts['failed'], 5);
    const { tasks } = await world.ask<{ tasks: TaskView[] }>(`/v1/jobs/${array.id}/tasks`);
    assert.deepEqual(
      tasks.map(({ exit }) => exit?.code),
      [1, 2, 3, 4, 5],
    );
    const wide = await become((await ours(first, site)).id, /^failed/);
    const both = [`n1.${site}`, `n2.${site}`];
    assert.deepEqual([wide.exit, wide.nodes.toSorted()], [{ code: 3 }, both]);
    await become(behind.id, /^completed/);
  };

  it('[G16] [G20] a job runs where its user wants it, and is held where that is not planned', () =>
    runWhereWanted('hpc', /^$/));

  it('[G5] arrays, held, dependent and wide jobs of its users start as the plan has them', async () => {
    const held = await give('--hold', '--wrap', 'true');
    await startAsPlanned('hpc');
    const kept = await ours(held);
    assert.match(await weft('why', String(kept.id)), /held/);
    await command('scontrol', 'release', held);
    await become(kept.id, /^completed/);
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

  it('[G22] what runs there hears signals, stands still and goes on, as its site says', async () => {
    const [script, on] = [world.at('hears'), world.at('on')];
    const loop = `until [ -e ${on} ]; do sleep 0.2; done; exit 4`;
    writeFileSync(script, `trap 'echo heard' USR1\necho up\n${loop}\n`);
    const id = await weft('run', '--time', '10m', '--nodes-named', 'n1.hpc', '--', 'sh', script);
    const says = (words: RegExp) =>
      until(`it says ${words}`, async () => words.test(await weft('logs', id)) || undefined);
    const there = (line: string) =>
      until(`it is ${line} there`, async () => {
        const listed = await command('squeue', '-h', '-a', '-p', 'steer', '-o', '%T %N');
        return listed.split('\n').includes(line) || undefined;
      });
    await says(/^up$/m);
    await weft('suspend', id);
    await become(Number(id), /^suspended/);
    await there('SUSPENDED n1');
    await weft('kill', '--signal', 'USR1', id);
    await weft('resume', id);
    await become(Number(id), /^running/);
    await there('RUNNING n1');
    await says(/^heard$/m);
    writeFileSync(on, '');
    assert.deepEqual((await become(Number(id), /^failed/)).exit, { code: 4 });
    const theirs = await give('--wrap', 'sleep 600');
    const job = await ours(theirs);
    await become(job.id, /^running/);
    await command('scontrol', 'suspend', String(theirs));
    await become(job.id, /^suspended/);
    await weft('resume', `hpc/${theirs}`);
    await become(job.id, /^running/);
    await weft('suspend', `hpc/${theirs}`);
    await become(job.id, /^suspended/);
    await weft('kill', `hpc/${theirs}`);
    await become(job.id, /^cancelled/);
  });

  it('what ends or starts at the site behind our back is so', async () => {
    await weft('site', 'pause', 'hpc');
    const cancelled = await give('--wrap', 'sleep 600');
    const started = await give('--wrap', 'sleep 600');
    const [one, two] = [await ours(cancelled), await ours(started)];
    await command('scancel', cancelled);
    await become(one.id, /^cancelled ended at its site: CANCELLED/);
    const move = ['Partition=steer', 'NumNodes=1-1', 'ReqNodeList=n1'];
    await command('scontrol', 'update', `jobid=${started}`, ...move);
    const running = await become(two.id, /^running/);
    assert.deepEqual(running.nodes, ['n1.hpc']);
    await command('scancel', started);
    const ended = await become(two.id, /^cancelled ended at its site: CANCELLED/);
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
    await command('scontrol', 'update', 'partitionname=main', 'state=up');
    await world.end('hpc', 'SIGTERM');
    await world.startAgain('hpc');
    assert.notEqual(await world.exitOf('hpc'), 0);
    assert.match(
      world.log('hpc'),
      /cannot be steered: this is not so: partition main is down and steer is up/,
    );
    await command('scontrol', 'update', 'partitionname=main', 'state=down');
    await world.startAgain('hpc');
    await world.nodesUp(2, /^n\d/);
  });

  it('[G6] with its own scheduler disabled: refused as long as Slurm starts jobs by itself', async () => {
    await world.end('hpc', 'SIGTERM');
    await command('scontrol', 'update', 'partitionname=main', 'state=up');
    const theirs = await give('--wrap', 'sleep 600');
    await until('Slurm has started it', async () => {
      return (await stateThere(theirs)).startsWith('RUNNING') || undefined;
    });
    const site = { ...STEERED_SLURM, takeover: 'disabled_scheduler' };
    await world.addGateway('held', site, system().environment);
    assert.notEqual(await world.exitOf('held'), 0);
    assert.match(
      world.log('held'),
      /cannot be steered: this is not so: each job is held by the plugin, with 'weft' as its AdminComment\. Remedy: /,
    );
    await command('scancel', theirs);
    writeFileSync(join(system().directory, 'job_submit.lua'), HELD);
    await until('no job is left that it did not hold', async () => {
      return (await stateThere(theirs)).startsWith('CANCELLED') || undefined;
    });
    await world.startAgain('held');
    await world.nodesUp(2, /^n\d\.held$/);
    assert.match(await weft('site', 'show', 'held'), /steer \(disabled_scheduler\)/);
  });

  it('a job that the plugin holds waits in our queue, and is started by our plan alone', async () => {
    const own = (id: string) => world.ours(`held/${id}`);
    const asUser = (...words: string[]) =>
      command('setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups', ...words);
    await weft('site', 'pause', 'held');
    const there = await give('--time=5', '--wrap', 'exit 3');
    const job = await own(there);
    assert.deepEqual([job.owner, job.state, job.walltimeMs], ['nobody', 'pending', 300_000]);
    await asUser('scontrol', 'release', there);
    assert.match(await stateThere(there), /^PENDING/);
    const held = await give('--hold', '--wrap', 'true');
    const kept = await own(held);
    assert.match(await weft('why', String(kept.id)), /held/);
    await weft('site', 'resume', 'held');
    const done = await become(job.id, /^failed/);
    assert.deepEqual(done.exit, { code: 3 });
    assert.match(await stateThere(held), /^PENDING/);
    await asUser('scontrol', 'release', held);
    await become(kept.id, /^completed/);
    const ours = await weft('run', '--nodes-named', 'n2.held', '--', 'exit 4');
    const ended = await become(Number(ours), /^failed/);
    assert.deepEqual([ended.exit, ended.nodes], [{ code: 4 }, ['n2.held']]);
  });

  it('[G16] [G20] what the plugin holds runs where its user wants it, or is held for why not', () =>
    runWhereWanted('held', /^weft$/));

  it('[G5] arrays, dependent and wide jobs that the plugin holds start as the plan has them', () =>
    startAsPlanned('held'));

  it('what the plugin holds is cancelled from here, before and after its start', async () => {
    await weft('site', 'pause', 'held');
    const waiting = await give('--wrap', 'sleep 600');
    await world.ours(`held/${waiting}`);
    await weft('kill', `held/${waiting}`);
    await until('the site has cancelled it', async () => {
      return (await stateThere(waiting)).startsWith('CANCELLED') || undefined;
    });
    await weft('site', 'resume', 'held');
    const running = await give('--wrap', 'sleep 600');
    const job = await world.ours(`held/${running}`);
    await become(job.id, /^running/);
    await weft('kill', `held/${running}`);
    await become(job.id, /^cancelled/);
    await until('the site has cancelled it, too', async () => {
      return (await stateThere(running)).startsWith('CANCELLED') || undefined;
    });
  });

  it('[G6] its scheduler switched on behind our back stops the steering, which says so', async () => {
    const scheduler = (from: string, to: string) =>
      system().restart((conf) => {
        const named = conf.replace(`SchedulerType=sched/${from}`, `SchedulerType=sched/${to}`);
        return named.replace(/^(PartitionName=main .*)State=DOWN$/m, '$1State=UP');
      });
    await weft('site', 'pause', 'held');
    const there = await give('--wrap', 'true');
    const job = await world.ours(`held/${there}`);
    await scheduler('builtin', 'backfill');
    const site = () => world.ask<SiteView>('/v1/sites/held');
    const { problem } = await until('its gateway says what is missing', async () => {
      const one = await site();
      return one.problem?.startsWith('this is not so') ? one : undefined;
    });
    assert.match(problem ?? '', /: the scheduler is sched\/builtin, without backfill\. Remedy: /);
    await world.nodesFaulty(/^n\d\.held$/, /the scheduler is sched\/builtin/);
    await weft('site', 'resume', 'held');
    assert.match(await weft('why', String(job.id)), /the scheduler is sched\/builtin/);
    assert.match(await stateThere(there), /^PENDING/);
    await scheduler('backfill', 'builtin');
    await become(job.id, /^completed/);
    assert.equal((await site()).problem, null);
  });
});

/** The script of docs/sites/slurm.md for jobs that are held. */
const HELD = `-- each job waits at priority 0 until root lets it go
local HELD = "weft: held by its user"
function slurm_job_submit(d, parts, uid)
  if d.priority == 0 then d.comment = HELD end
  d.admin_comment = "weft"
  d.priority = 0
  return slurm.SUCCESS
end
function slurm_job_modify(d, rec, parts, uid)
  if uid ~= 0 and d.priority ~= slurm.NO_VAL then
    d.comment = d.priority == 0 and HELD or "weft: released by its user"
    d.priority = slurm.NO_VAL
  end
  return slurm.SUCCESS
end
return slurm.SUCCESS
`;
