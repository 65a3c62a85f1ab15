// Pilots in containers: the image of examples/pilots, built here, started by a real Slurm through a
// real docker. Slurm, docker and head share a network of their own: that of the engine.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import { missingPackages } from '../../tools/debian-packages.ts';
import { endNow, whenKilled } from '../support/when-killed.ts';
import { DockerDaemon, whyNoDocker } from './support/docker-daemon.ts';
import { until } from './support/hosts.ts';
import { buildPilotImage } from './support/pilot-image.ts';
import { PilotWorld } from './support/pilot-world.ts';

const IMAGE = 'lab/weft';
const SCHEDULER = 'batch_sched_delay=0,sched_interval=1,bf_interval=1,defer_batch';

function whyNot(): string | false {
  const why = whyNoDocker();
  if (why !== false || process.env['CI'] === 'true') return why;
  const missing = missingPackages(['e2e']).map(({ name }) => name);
  const lacking = ['slurm-wlm', 'munge'].filter((name) => missing.includes(name));
  return lacking.length > 0 && `needs ${lacking.join(', ')}`;
}

describe('pilots in containers', { skip: whyNot(), timeout: 900_000 }, () => {
  const world = new PilotWorld();
  const place = mkdtempSync(join(tmpdir(), 'weft-pilot-image-'));
  let daemon: DockerDaemon;
  let slurm: Slurm;
  const forget = whenKilled(() => {
    for (const pid of slurm?.pids ?? []) endNow(pid, 'SIGTERM');
  });
  const docker = async (...args: string[]): Promise<string> =>
    (await daemon.run('docker', args)).trim();

  before(async () => {
    for (const folder of ['engine', 'image']) mkdirSync(join(place, folder));
    daemon = await DockerDaemon.start(join(place, 'engine'));
    await buildPilotImage(daemon, join(place, 'image'), IMAGE);
    const { inside } = daemon;
    // What a site does for all jobs: Slurm hands on nothing from where a pilot is submitted.
    const prolog = join(place, 'prolog');
    const { DOCKER_HOST } = daemon.environment;
    const variables = { DOCKER_HOST, PATH: `${world.at('bin')}:${process.env.PATH}` };
    const lines = Object.entries(variables).map((one) => `echo 'export ${one.join('=')}'`);
    writeFileSync(prolog, `#!/bin/sh\n${lines.join('\n')}\n`, { mode: 0o755 });
    slurm = await startSlurm(2, 1, SCHEDULER, { inside, more: [`TaskProlog=${prolog}`] });
    const { environment } = slurm;
    await world.begin({ inside, environment, commands: ['sbatch', 'scancel', 'docker'] });
  });
  afterEach((context) => {
    if ('passed' in context && context.passed === false) process.stderr.write(world.logs());
  });
  after(async () => {
    await world.close(() => slurm?.stop());
    await daemon?.stop();
    forget();
    rmSync(place, { recursive: true, force: true });
  });

  it('[Q11] an image that comes slowly is waited for, and the wait is shown', async () => {
    const release = world.hold('docker');
    await world.weft(...`pilot start slurm -n 2 -t 10m --name box -d ${IMAGE}`.split(' '));
    await until('Slurm runs them, and docker is asked for the image', async () => {
      const states = await world.states('box');
      return (states === 'starting starting' && world.count('docker') === 2) || undefined;
    });
    const listed = await world.weft('pilot', 'list');
    assert.match(
      listed,
      /box-1-1 .* starting .* its node has not come; see weft pilot logs box-1-1/,
    );
    assert.equal((await world.fleet('box'))?.trouble, null);
    release();
    await world.up('box', 2);
  });

  it('[Q1] jobs and calls run in the containers', async () => {
    const names = (await docker('ps', '--format', '{{.Names}}')).split('\n').sort();
    assert.deepEqual(names, ['weft-box-1-1', 'weft-box-1-2']);
    const line = ['-t', '1m', '--needs', 'pilot=box', '--', 'ls /usr/local/lib/node_modules'];
    const id = await world.weft('run', ...line);
    await world.weft('wait', id);
    assert.equal(await world.weft('logs', id), 'npm\nweft');
    const script = world.at('work', 'square.mjs');
    // Without groups in a container what both processes of a worker share counts twice.
    const library = new URL('../../src/library.ts', import.meta.url).href;
    writeFileSync(
      script,
      `import { readdirSync } from 'node:fs';
      import { connect } from '${library}';
      await using cluster = await connect({ socket: '${world.at('head', 'weft.sock')}' });
      await using pool = await cluster.pool({ workers: 2, needs: 'pilot=box', memory: '256M' });
      console.log(await pool.run(() => readdirSync('/usr/local/lib/node_modules').join()));
      let sum = 0;
      const square = (x) => x * x;
      for await (const y of pool.map(square, Array.from({ length: 1000 }, (_, x) => x))) sum += y;
      console.log(sum);`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, [script], {
      encoding: 'utf8',
      timeout: 240_000,
    });
    assert.equal(stdout.trim(), 'npm,weft\n332833500', stderr);
  });

  it('[Q5] one that Slurm ends is gone, with its container', async () => {
    const [job = ''] = (await slurm.command('squeue', '-h', '-a', '-o', '%F')).split('\n');
    await slurm.command('scancel', `${job}_2`);
    await until('one pilot is left', async () => {
      return (await world.states('box')) === 'up' || undefined;
    });
    await until('one container is left', async () => {
      return (await docker('ps', '-a', '--format', '{{.Names}}')) === 'weft-box-1-1' || undefined;
    });
  });

  it('[Q5] one whose script is killed ends its container by itself', async () => {
    const [job = ''] = (await slurm.command('squeue', '-h', '-a', '-o', '%F')).split('\n');
    await slurm.command('scancel', '--batch', '--signal=KILL', `${job}_1`);
    await until(
      'no container is left',
      async () => (await docker('ps', '-aq')) === '' || undefined,
    );
    await world.gone('box');
    await world.weft(...`pilot start slurm -n 1 -t 10m --name box -d ${IMAGE}`.split(' '));
    await world.up('box', 1);
  });

  it('[Q5] stop removes containers, jobs and nodes', async () => {
    await world.weft('pilot', 'stop', 'box');
    await world.gone('box');
    await until(
      'no container is left',
      async () => (await docker('ps', '-aq')) === '' || undefined,
    );
    assert.deepEqual(await world.json('node', 'list'), []);
    assert.equal(await slurm.command('squeue', '-h', '-a'), '');
  });

  it('[Q4] an image that is nowhere is a failed start, in the words of docker', async () => {
    await world.weft(...`pilot start slurm --min 1 --max 1 --name no -d lab/nosuch`.split(' '));
    await until('it is paused', async () => {
      return (await world.fleet('no'))?.state === 'paused' || undefined;
    });
    assert.match((await world.fleet('no'))?.trouble ?? '', /lab\/nosuch/);
    await world.weft('pilot', 'stop', 'no');
    await world.gone('no');
  });
});
