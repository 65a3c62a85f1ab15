// A real Slurm as a node of ours: a gateway gives it tasks, and every end has its evidence.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import { ROOT } from '../../tools/tree.ts';
import { endNow } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { cleanEnvironment } from './support/local-cluster.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

const isThere = spawnSync('slurmctld-wlm', ['-V']).status === 0;
const isRoot = process.getuid?.() === 0;
const skip = isThere && isRoot ? false : 'needs root, and slurm-wlm and munge';

/** Plans at once what is submitted, and looks again every second. */
const SCHEDULER = 'batch_sched_delay=0,sched_interval=1,bf_interval=1,defer_batch';

/** What Weft gives to a job, and its own shell. */
const OWN =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|PWD|\w+_NUM_THREADS|\w+_binding_policy|(WEFT|CM)_\w+)$/;

describe('a real Slurm behind a gateway', { skip }, () => {
  let slurm: Slurm;
  const world = new SiteWorld(() => {
    for (const pid of slurm?.pids ?? []) endNow(pid, 'SIGTERM');
  });
  const at = (...names: string[]) => world.at(...names);
  const weft = (...args: string[]) => world.weft(...args);
  const ids = async (): Promise<string[]> => {
    const listed = await slurm.command('squeue', '-h', '-a', '-t', 'all', '-o', '%i %j %T');
    return listed.split('\n').filter((line) => line !== '');
  };

  before(async () => {
    slurm = await startSlurm(2, 2, SCHEDULER);
    await world.startHead();
    const environment = { ...slurm.environment, GATEWAY_SECRET: 'secret' };
    await world.addGateway('hpc', { system: 'slurm', poll: '1s' }, environment);
    await world.nodesUp(1, /^hpc$/);
    await world.sitesRead('hpc');
  });
  afterEach(showLogs(world));
  after(() => world.close(() => slurm?.stop()));

  it('the site offers what its nodes have, and says whose it is', async () => {
    const [node] = await world.nodes();
    assert.equal(node?.total.cpuCount, 4);
    assert.ok(node.labels.includes('site=hpc') && node.labels.includes('system=slurm'));
  });

  it('the site is shown from what its gateway said last, with its age', async () => {
    const [site] = await world.json<
      [{ name: string; state: string; nodesUp: number; cpus: number; ageMs: number }]
    >('site', 'list');
    const { name, state, nodesUp, cpus } = site;
    assert.deepEqual(
      { name, state, nodesUp, cpus },
      { name: 'hpc', state: 'up', nodesUp: 2, cpus: 4 },
    );
    assert.ok(site.ageMs < 60_000);
    assert.match(await weft('site', 'show', 'hpc'), /n1 +idle(.|\n)*main +yes +yes/);
    assert.match(
      await weft('site', 'pause', 'hpc', '--reason', 'disks'),
      /Nothing more starts at hpc/,
    );
    assert.match(await weft('node', 'list'), /site paused: disks/);
    await weft('site', 'resume', 'hpc');
    assert.match(await weft('site', 'list'), /hpc +slurm +submit +up/);
  });

  it('a job runs there, and its output, exit code and files come home', async () => {
    const line = 'echo "job $WEFT_JOB_ID with $WEFT_CPUS"; echo made > made; exit 3';
    const id = await weft('run', '--cpus', '2', '--', line);
    const said = await world.tried('wait', id);
    assert.equal(said.code, 3, said.out + said.error);
    assert.equal(await weft('logs', id), `job ${id} with 2`);
    await weft('pull', id, '--save-dir', at('pulled'));
    assert.equal(readFileSync(at('pulled', id, 'made'), 'utf8'), 'made\n');
    assert.equal((await ids()).length, 1);
  });

  it('a job has the variables of Weft, and its script none of the gateway but what it needs', async () => {
    // The shell that runs the script is the parent.
    const line = 'env; echo --; tr "\\0" "\\n" </proc/$PPID/environ';
    const id = await weft('run', '--clean-env', '--', line);
    assert.match(await weft('wait', id), /completed/);
    const [own = '', script = ''] = (await weft('logs', id)).split('\n--\n');
    const names = (text: string): string[] =>
      [...text.matchAll(/^\w+(?==)/gm)].join(' ').split(' ');
    const others = names(own).filter((name) => !OWN.test(name));
    assert.deepEqual(others, [], own);
    assert.ok(names(script).includes('SLURM_JOB_ID'), script);
    assert.ok(names(script).includes('PATH'), script);
    assert.doesNotMatch(script, /^(GATEWAY_SECRET|WEFT_\w+)=/m);
    // With it Slurm runs the login shell of the user before the script.
    assert.doesNotMatch(script, /^SLURM_GET_USER_ENV=/m);
  });

  it('[G11] a task that no single node of it could hold is refused, with the largest named', async () => {
    const said = await world.tried('run', '--cpus', '4', '--', 'true');
    assert.notEqual(said.code, 0);
    assert.match(said.error, /largest node of site hpc has 2 cpus.*lacks 2 cpus/);
    const rehearsed = await world.tried('run', '--cpus', '4', '--dry-run', '--', 'true');
    assert.match(rehearsed.error, /largest node of site hpc has 2 cpus/);
  });

  it('[G10] who ends his own jobs while they wait there takes the site from nobody', async () => {
    await slurm.command(
      'sbatch',
      '-N2',
      '-n4',
      '-J',
      'full',
      '-o',
      '/dev/null',
      '--wrap',
      'sleep 600',
    );
    const given: string[] = [];
    for (let one = 0; one < 3; one += 1) given.push(await weft('run', '--', 'true'));
    const waiting = async (): Promise<string[]> =>
      (await ids()).filter((line) => / weft-\S+ PENDING$/.test(line));
    await until('they wait there', async () => (await waiting()).length === 3 || undefined);
    // [G14] What waits there is pending here, by the words of the site.
    const [first = ''] = given;
    const [native = ''] = (await waiting())[0]?.split(' ') ?? [];
    const words = new RegExp(`hpc has it as job ${native}: PENDING \\(\\w+\\), listed \\d+m?s ago`);
    await until('the site is heard', async () => words.test(await weft('why', first)) || undefined);
    assert.match(await weft('why', first), /^It waits in the queue of its site: hpc has it/);
    for (const verb of ['jobs', 'job']) {
      const said = await weft(verb, ...(verb === 'job' ? [first] : []));
      assert.match(said, /pending/);
      assert.doesNotMatch(said, /starting/);
      assert.match(said.replace(/\s+/g, ' '), new RegExp(`hpc has it as job ${native}`));
    }
    for (const line of await waiting()) await slurm.command('scancel', line.split(' ')[0] ?? '');
    for (const id of given) {
      assert.notEqual((await world.tried('wait', id)).code, 0);
      assert.match(
        await weft('job', id),
        /cancelled.*its site ended it before it began: CANCELLED/s,
      );
    }
    assert.match(await weft('site', 'list'), /hpc +slurm +submit +up/);
    await slurm.command('scancel', '-n', 'full');
    // [G19] So is one that runs.
    const running = await weft('run', '--', 'sleep 600');
    await until('it runs', async () => /running/.test(await weft('job', running)) || undefined);
    const there = (await ids()).filter((line) => / weft-\S+ RUNNING$/.test(line));
    for (const line of there) await slurm.command('scancel', line.split(' ')[0] ?? '');
    assert.notEqual((await world.tried('wait', running)).code, 0);
    assert.match(await weft('job', running), /cancelled.*ended at its site: CANCELLED/s);
    assert.match(await weft('wait', await weft('run', '--', 'true')), /completed/);
  });

  it('a time limit ends it there, and is known as that', async () => {
    const id = await weft('run', '--time', '3s', '--', 'sleep 600');
    const said = await world.tried('wait', id);
    assert.equal(said.code, 124, said.out + said.error);
  });

  it('a gateway that is killed loses nothing, and nothing runs twice', async () => {
    writeFileSync(at('ran'), '');
    const line = `echo "$WEFT_TASK_ID" >> ${at('ran')}; until [ -e ${at('go')} ]; do sleep 0.1; done`;
    const id = await weft('run', '--array', '0-7', '--', line);
    await until(
      'some run',
      () => readFileSync(at('ran'), 'utf8').split('\n').length > 2 || undefined,
    );
    for (let time = 0; time < 3; time += 1) {
      await world.end('hpc', 'SIGKILL');
      await world.startAgain('hpc');
      await until('the site is up again', async () => {
        return /hpc +(in use|full|idle)/.test(await weft('info')) || undefined;
      });
    }
    writeFileSync(at('go'), '');
    assert.match(await weft('wait', id), /completed/);
    const ran = readFileSync(at('ran'), 'utf8').trim().split('\n').sort();
    assert.deepEqual(
      ran,
      Array.from({ length: 8 }, (_, index) => `${id}[${index}]`),
    );
  });

  it('[G25] what a client sends comes to the program, also past the kill of the gateway', async () => {
    const env = cleanEnvironment({ WEFT_SOCKET: at('head', 'weft.sock') });
    const words = [join(ROOT, 'bin/weft.mjs'), 'run', '--wait', '--', `cat > ${at('fed')}`];
    const client = spawn(process.execPath, words, { env, stdio: ['pipe', 'ignore', 'pipe'] });
    let said = '';
    client.stderr.on('data', (text) => {
      said += text;
    });
    const ended = once(client, 'exit');
    client.stdin.write('before\n');
    const fed = (): string => (existsSync(at('fed')) ? readFileSync(at('fed'), 'utf8') : '');
    await until('the first of it is there', () => fed() === 'before\n' || undefined);
    const kept = (): boolean =>
      readdirSync(at('hpc'), { recursive: true, encoding: 'utf8' }).some((one) =>
        /stdin\/./.test(one),
      );
    assert.ok(kept());
    await world.end('hpc', 'SIGKILL');
    await world.startAgain('hpc');
    client.stdin.end('after\n');
    assert.deepEqual(await ended, [0, null], said);
    assert.equal(fed(), 'before\nafter\n');
    await until('nothing of it stays', () => !kept() || undefined);
  });

  it('cancelling here ends it there', async () => {
    const id = await weft('run', '--', `echo up > ${at('up')}; sleep 600`);
    await until('it runs', () => {
      return spawnSync('test', ['-e', at('up')]).status === 0 || undefined;
    });
    await weft('kill', id);
    const said = await world.tried('wait', id);
    assert.notEqual(said.code, 0);
    await until('Slurm has ended it', async () => {
      return (await ids()).every((line) => !/RUNNING|PENDING/.test(line)) || undefined;
    });
    assert.match(await weft('job', id), /cancelled/);
  });
});
