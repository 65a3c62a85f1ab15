// Pilots on a real Slurm and a real Grid Engine: started, grown and let go by what waits, ended
// with their time, and gone without a trace.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import { endNow, whenKilled } from '../support/when-killed.ts';
import { type GridEngine, hasGridEngine, startGridEngine } from './support/grid-engine.ts';
import { Lan, until } from './support/hosts.ts';
import { cleanEnvironment, repository, runProgram } from './support/local-cluster.ts';
import { PilotWorld } from './support/pilot-world.ts';

const isRoot = process.getuid?.() === 0;
const isThere = (...words: [string, ...string[]]): boolean =>
  spawnSync('sh', ['-c', `command -v ${words.join(' ')}`]).status === 0;

/** Plans at once what is submitted, and looks again every second. */
const SCHEDULER = 'batch_sched_delay=0,sched_interval=1,bf_interval=1,defer_batch';

const noSlurm = isRoot && isThere('slurmctld-wlm') ? false : 'needs root, and slurm-wlm and munge';

describe('pilots on a real Slurm', { skip: noSlurm }, () => {
  const world = new PilotWorld();
  const folders = pilotFolders();
  let slurm: Slurm;
  const forget = whenKilled(() => {
    for (const pid of slurm?.pids ?? []) endNow(pid, 'SIGTERM');
  });
  /** Ids of array jobs. */
  const jobs = async (): Promise<string[]> => {
    const listed = await slurm.command('squeue', '-h', '-a', '-o', '%F');
    return listed.split('\n').filter((line) => line !== '');
  };

  before(async () => {
    slurm = await startSlurm(2, 2, SCHEDULER);
    const { environment } = slurm;
    await world.begin({ environment, commands: ['sbatch', 'squeue', 'scancel'] });
  });
  afterEach((context) => {
    if ('passed' in context && context.passed === false) process.stderr.write(world.logs());
  });
  after(async () => {
    await world.close(() => slurm?.stop());
    forget();
  });

  it('[Q4] what Slurm refuses is said in its own words, and leaves nothing', async () => {
    const { code, error } = await world.tried(...'pilot start slurm -n 1 -q nosuch'.split(' '));
    assert.equal(code, 5);
    assert.match(error, /No pilot was started: .*invalid partition specified: nosuch/i);
    await until('it is forgotten', async () => (await world.fleets()).length === 0 || undefined);
    assert.equal(await world.weft('pilot', 'list'), 'No pilots.');
  });

  it('[Q1] pilots start with one submission, and jobs run on them', async () => {
    const count = world.count('sbatch');
    const said = await world.weft(...'pilot start slurm -n 2 -t 10m --name two'.split(' '));
    assert.match(said, /^Fleet two is started: 2 pilots, job \d+ of Slurm\.$/);
    await world.up('two', 2);
    assert.equal(world.count('sbatch'), count + 1);
    const listed = await world.json<{ fleet: { name: string }; pilot: { state: string } }[]>(
      ...['pilot', 'list'],
    );
    const shown = listed.map(({ fleet, pilot }) => `${fleet.name} ${pilot.state}`);
    assert.deepEqual(shown, ['two up', 'two up']);
    const id = await runOn(world, 'two', '1m', 'echo "on $WEFT_NODELIST"');
    await world.weft('wait', id);
    assert.match(await world.weft('logs', id), /^on two-1-[12]$/);
    const [node] = await world.json<[{ labels: string[]; total: { cpuCount: number } }]>(
      ...['node', 'list'],
    );
    assert.equal(node.total.cpuCount, 1);
    assert.ok(node.labels.includes('system=slurm'));
    assert.match(await world.weft('pilot', 'logs', 'two-1-1'), /agent started/);
  });

  it('[Q2] a job that would outlast them waits, and why says so', async () => {
    const id = await runOn(world, 'two', '1h', 'true');
    const why = await world.weft('why', id);
    assert.match(why, /it could outlast pilot two-1-[12], which ends in \d+m/);
    await world.weft('kill', id);
  });

  it('[Q9] workers of a pool run calls on pilots, and Slurm is not asked about any', async () => {
    const count = world.count('sbatch') + world.count('scancel');
    const script = join(world.at('work'), 'square.mjs');
    const library = new URL('../../src/library.ts', import.meta.url).href;
    writeFileSync(
      script,
      `import { connect } from '${library}';
      await using cluster = await connect({ socket: '${world.at('head', 'weft.sock')}' });
      await using pool = await cluster.pool({ workers: 2, needs: 'pilot=two', memory: '128M' });
      let sum = 0;
      const square = (x) => x * x;
      for await (const y of pool.map(square, Array.from({ length: 1000 }, (_, x) => x))) sum += y;
      console.log(sum);`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, [script], {
      encoding: 'utf8',
      timeout: 240_000,
    });
    assert.equal(stdout.trim(), '332833500', stderr);
    assert.equal(world.count('sbatch') + world.count('scancel'), count);
  });

  it('[Q8] a head that is killed keeps its pilots, and hears of one that died meanwhile', async () => {
    const id = await runOn(world, 'two', '5m', 'sleep 3; echo done');
    await world.killHead();
    await slurm.command('scancel', `${(await jobs())[0]}_2`);
    await world.startHead();
    await until('one pilot is left', async () => {
      return (await world.states('two')) === 'up' || undefined;
    });
    await world.weft('wait', id);
    assert.equal(await world.weft('logs', id), 'done');
  });

  it('[Q5] stop ends the jobs of Slurm, and nodes and processes are gone', async () => {
    await world.weft('pilot', 'stop', 'two');
    await world.gone('two');
    assert.deepEqual(await jobs(), []);
    assert.deepEqual(await world.json('node', 'list'), []);
    assert.deepEqual(await world.json('token', 'list', '--all'), []);
    await until('no process is left', () => world.leftovers().length === 0 || undefined);
    await until('no folder is left', () => {
      return pilotFolders().every((name) => folders.includes(name)) || undefined;
    });
  });

  it('a program allocates pilots where there is a Slurm, and gives them back', async () => {
    const script = world.at('work', 'allocate.mjs');
    const library = new URL('../../src/library.ts', import.meta.url).href;
    writeFileSync(
      script,
      `import { allocate } from '${library}';
      await using place = await allocate({
        pilots: 2, time: '10m', directory: '${world.at('own')}', listen: '127.0.0.1:0',
      });
      const { needs } = place;
      await using pool = await place.cluster.pool({ workers: 2, needs, memory: '128M' });
      console.log(needs, await pool.run((x) => x * x, 12));`,
    );
    const env = { ...cleanEnvironment({}), ...slurm.environment };
    const run = (...args: string[]) =>
      runProgram([process.execPath, ...args], { cwd: world.at('work'), env });
    try {
      const { out, error } = await run(script);
      assert.equal(out.trim(), 'pilot=slurm1 144', error);
      assert.deepEqual(await jobs(), []);
    } finally {
      await run(
        join(repository, 'bin/weft.mjs'),
        'down',
        '--clean',
        '--yes',
        '--dir',
        world.at('own'),
      );
    }
  });

  it('a program starts a cluster with pilots where there is a Slurm, and stops it in parts', async () => {
    const script = world.at('work', 'start.mjs');
    const library = new URL('../../src/library.ts', import.meta.url).href;
    writeFileSync(
      script,
      `import { start, stop } from '${library}';
      const directory = '${world.at('started')}';
      const wish = { pilots: 2, time: '10m', directory, listen: '127.0.0.1:0' };
      const show = async (cluster, count) => {
        const pool = await cluster.pool({ workers: count, needs: 'system=slurm', memory: '128M' });
        const calls = pool.map((x) => x * x, [1, 2, 3], { inFlight: 3 });
        console.log((await Array.fromAsync(calls)).join());
        await pool.close();
        const nodes = await cluster.nodes();
        console.log(nodes.filter(({ labels }) => labels.includes('system=slurm')).length);
        cluster.close();
      };
      await show(await start(wish), 2);
      (await start(wish)).close();
      await stop({ directory, head: false });
      const cluster = await start({ ...wish, pilots: 0 });
      console.log((await cluster.nodes()).length);
      cluster.close();
      await show(await start({ ...wish, pilots: 1, head: false }), 1);
      await stop({ directory, clean: true });
      await stop({ directory });
      console.log(await start({ ...wish, head: false }).catch(({ code }) => code));`,
    );
    const env = { ...cleanEnvironment({}), ...slurm.environment };
    const { out, error } = await runProgram([process.execPath, script], {
      cwd: world.at('work'),
      env,
    });
    const expected = ['1,4,9', '2', '1', '1,4,9', '1', 'allocation.not_started'];
    assert.deepEqual(out.trim().split('\n'), expected, error);
    assert.deepEqual(await jobs(), []);
  });

  it('[Q3] a fleet grows for what waits and shrinks to its least', async () => {
    await world.weft(...'pilot start slurm --max 3 --idle 2s --name auto'.split(' '));
    assert.equal(await world.states('auto'), '');
    const count = world.count('sbatch');
    const line = ['--needs', 'pilot=auto', '--array', '0-5', '--', 'sleep 1; hostname'];
    const id = await world.weft('run', ...line);
    assert.match(await world.weft('why', id), /waits for pilots of fleet auto/);
    await world.weft('wait', id);
    assert.ok(world.count('sbatch') <= count + 2, 'no submission for each task');
    await until('all have left', async () => {
      return (await world.states('auto')) === '' || undefined;
    });
    assert.equal((await world.fleet('auto'))?.state, 'active');
    await world.weft('pilot', 'stop', 'auto');
    await world.gone('auto');
  });

  it('[Q4] after three failed starts a fleet pauses with the words of Slurm', async () => {
    await world.weft(...'pilot start slurm --min 1 --max 2 --name bad -q main'.split(' '));
    await world.up('bad', 1);
    await slurm.command('scontrol', 'update', 'PartitionName=main', 'State=INACTIVE');
    await slurm.command('scancel', (await jobs())[0] ?? '');
    await until('it is paused', async () => {
      return (await world.fleet('bad'))?.state === 'paused' || undefined;
    });
    assert.match((await world.fleet('bad'))?.trouble ?? '', /partition/i);
    await slurm.command('scontrol', 'update', 'PartitionName=main', 'State=UP');
    await world.weft('pilot', 'scale', 'bad');
    await world.up('bad', 1);
    await world.weft('pilot', 'stop', 'bad');
    await world.gone('bad');
  });
});

const noGridEngine = isRoot && hasGridEngine ? false : 'needs root, Grid Engine, iproute2 and tini';

describe('pilots on a real Grid Engine', { skip: noGridEngine }, () => {
  const world = new PilotWorld();
  const directory = mkdtempSync(join(tmpdir(), 'weft-grid-'));
  const lan = new Lan([directory, world.directory]);
  let grid: GridEngine;
  const forget = whenKilled(() => lan.closeNow());
  const jobs = async (): Promise<string> => (await grid.command('qstat', '-u', '*')).trim();

  before(async () => {
    const settings = { nodes: ['head'], slots: 4, isSteered: false };
    grid = await startGridEngine(lan, directory, settings);
    const { before: inside, environment } = grid;
    await world.begin({ inside, environment, commands: ['qsub', 'qstat', 'qdel'] });
  });
  afterEach((context) => {
    if ('passed' in context && context.passed === false) process.stderr.write(world.logs());
  });
  after(async () => {
    await world.close(() => lan.close());
    forget();
    rmSync(directory, { recursive: true, force: true });
  });

  it('[Q4] what Grid Engine refuses is said in its own words', async () => {
    const { code, error } = await world.tried(...'pilot start sge -n 1 -q nosuch.q'.split(' '));
    assert.equal(code, 5);
    assert.match(error, /No pilot was started: .*unknown queue "?nosuch\.q/i);
  });

  it('[Q1] pilots start with one submission, and jobs run on them', async () => {
    const count = world.count('qsub');
    const said = await world.weft(...'pilot start sge -n 2 -t 10m --name two'.split(' '));
    assert.match(said, /^Fleet two is started: 2 pilots, job \d+ of Grid Engine\.$/);
    await world.up('two', 2);
    assert.equal(world.count('qsub'), count + 1);
    const id = await runOn(world, 'two', '1m', 'echo "on $WEFT_NODELIST"');
    await world.weft('wait', id);
    assert.match(await world.weft('logs', id), /^on two-1-[12]$/);
    const long = await runOn(world, 'two', '1h', 'true');
    assert.match(await world.weft('why', long), /it could outlast pilot two-1-[12]/);
    await world.weft('kill', long);
  });

  it('[Q5] one that Grid Engine has ended is gone, and stop ends the others', async () => {
    const [, site = ''] = /^ *(\d+) /m.exec(await jobs()) ?? [];
    await grid.command('qdel', site, '-t', '2');
    await until('one pilot is left', async () => {
      return (await world.states('two')) === 'up' || undefined;
    });
    await world.weft('pilot', 'stop', 'two');
    await world.gone('two');
    assert.equal(await jobs(), '');
    assert.deepEqual(await world.json('node', 'list'), []);
    await until('no process is left', () => world.leftovers().length === 0 || undefined);
  });

  it('[Q3] a fleet grows for what waits and shrinks to its least', async () => {
    await world.weft(...'pilot start sge --max 3 --idle 2s --name auto'.split(' '));
    const line = ['--needs', 'pilot=auto', '--array', '0-5', '--', 'sleep 1; hostname'];
    const id = await world.weft('run', ...line);
    await world.weft('wait', id);
    await until('all have left', async () => {
      return (await world.states('auto')) === '' || undefined;
    });
    await world.weft('pilot', 'stop', 'auto');
    await world.gone('auto');
  });

  it('a program starts and allocates pilots of Grid Engine, and gives them back', async () => {
    const script = world.at('work', 'start.mjs');
    const library = new URL('../../src/library.ts', import.meta.url).href;
    writeFileSync(
      script,
      `import { allocate, start, stop } from '${library}';
      const directory = '${world.at('started')}';
      const wish = { system: 'sge', pilots: 2, time: '10m', directory, listen: '127.0.0.1:0' };
      const square = async (cluster, needs) => {
        const pool = await cluster.pool({ workers: 2, needs, memory: '128M' });
        const calls = pool.map((x) => x * x, [1, 2, 3], { inFlight: 3 });
        console.log((await Array.fromAsync(calls)).join());
        await pool.close();
      };
      const cluster = await start(wish);
      await square(cluster, 'system=sge');
      const nodes = await cluster.nodes();
      console.log(nodes.filter(({ labels }) => labels.includes('system=sge')).length);
      cluster.close();
      await stop({ directory, head: false });
      const place = await allocate({ ...wish, pilots: 1 });
      console.log(place.needs);
      await square(place.cluster, place.needs);
      await place.release();
      await stop({ directory, clean: true });
      const queue = 'nosuch.q';
      const refused = await start({ ...wish, queue }).catch((error) => error);
      console.log(refused.code, /unknown queue/i.test(refused.message));
      await stop({ directory, clean: true });`,
    );
    const env = { ...cleanEnvironment({}), ...grid.environment };
    const { out, error } = await runProgram([...grid.before, process.execPath, script], {
      cwd: world.at('work'),
      env,
    });
    const refused = 'allocation.not_started true';
    const expected = ['1,4,9', '2', 'pilot=sge2', '1,4,9', refused];
    assert.deepEqual(out.trim().split('\n'), expected, error);
    assert.equal(await jobs(), '');
  });
});

/** Where pilots keep what they need while they live. */
function pilotFolders(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('weft-pilot.'));
}

/** The job of a line, on a pilot of the fleet. */
function runOn(world: PilotWorld, fleet: string, time: string, line: string): Promise<string> {
  return world.weft('run', '--needs', `pilot=${fleet}`, '--time', time, '--', line);
}
