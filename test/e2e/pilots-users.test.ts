// Pilots of several users on a real Slurm, with a head that runs as root: what a fleet's user
// started is theirs at Slurm and on the node, and nobody else's work gets there.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import { endNow, whenKilled } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { cleanEnvironment, quickStarts, repository, runProgram } from './support/local-cluster.ts';
import { PilotWorld } from './support/pilot-world.ts';
import { ALICE, BOB, type User } from './support/shared-cluster.ts';

const SCHEDULER = 'batch_sched_delay=0,sched_interval=1,bf_interval=1,defer_batch';
const NEEDED = ['slurmctld-wlm', 'munged', 'unshare', 'setpriv'];
const isThere = (name: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
const canRun = process.getuid?.() === 0 && NEEDED.every(isThere);
const skip = canRun ? false : 'needs root, slurm-wlm, munge and util-linux';

/** Accounts, and paths that every user can pass, for all that runs in it. */
const HOLD = `mount --bind "$0/accounts" /etc/passwd && mount --bind "$0/group" /etc/group &&
mount --bind "$1" "$0/program" && mount --bind "$2" "$0/node" && touch "$0/ready" && exec sleep infinity`;

describe('pilots of several users on a real Slurm', { skip, timeout: 900_000 }, () => {
  const world = new PilotWorld();
  let slurm: Slurm;
  let holder: ChildProcess;
  let inside: string[] = [];
  const program = [world.at('node'), join(world.at('program'), 'bin/weft.mjs')];
  const forget = whenKilled(() => {
    for (const pid of slurm?.pids ?? []) endNow(pid, 'SIGTERM');
    if (holder?.pid !== undefined) endNow(holder.pid, 'SIGKILL');
  });
  const home = ({ name }: User): string => world.at('home', name);

  before(async () => {
    makeAccounts(world);
    const words = ['--mount', '--propagation', 'private', 'sh', '-c', HOLD];
    holder = spawn('unshare', [...words, world.directory, repository, process.execPath], {
      stdio: 'ignore',
    });
    await until('the accounts are there', () => {
      return spawnSync('test', ['-e', world.at('ready')]).status === 0 || undefined;
    });
    inside = ['nsenter', '-t', String(holder.pid), '-m', '--'];
    slurm = await startSlurm(2, 1, SCHEDULER, { inside });
    const commands = ['sbatch', 'squeue', 'scancel'];
    await world.begin({ inside, program, environment: slurm.environment, commands });
    for (const { name } of [ALICE, BOB])
      await world.weft('user', 'create', name, '--role', 'admin');
  });
  afterEach((context) => {
    if ('passed' in context && context.passed === false) process.stderr.write(world.logs());
  });
  after(async () => {
    await world.close(async () => {
      await slurm?.stop();
      if (holder === undefined || holder.exitCode !== null || holder.signalCode !== null) return;
      const ended = once(holder, 'exit');
      holder.kill('SIGKILL');
      await ended;
    });
    forget();
  });

  const tried = (user: User, ...args: string[]) => {
    const become = ['setpriv', '--reuid', user.name, '--regid', user.name, '--init-groups'];
    const words = [...inside, ...become, 'env', '-C', home(user), ...program, ...args];
    const own = { HOME: home(user), WEFT_SOCKET: world.at('head', 'weft.sock') };
    const env = cleanEnvironment({ ...quickStarts(world.at('program')), ...own });
    return runProgram(words, { cwd: '/', env });
  };
  const as = async (user: User, ...args: string[]): Promise<string> => {
    const { code, out, error } = await tried(user, ...args);
    assert.equal(code, 0, `${user.name}: weft ${args.join(' ')}: ${out}${error}`);
    return out.trimEnd();
  };
  const owners = async (): Promise<string[]> => {
    const listed = await slurm.command('squeue', '-h', '-a', '-o', '%u');
    return listed.split('\n').filter((line) => line !== '');
  };

  it('[Q12] a head that is root submits as the user who started the fleet', async () => {
    await as(ALICE, ...'pilot start slurm -n 1 -t 10m --name hers'.split(' '));
    await world.up('hers', 1);
    assert.deepEqual(await owners(), ['alice']);
    const log = join(home(ALICE), 'weft-hers-1-1.log');
    assert.equal(statSync(log).uid, ALICE.uid);
    await as(BOB, ...'pilot start slurm -n 1 -t 10m --name his'.split(' '));
    await world.up('his', 1);
    assert.deepEqual((await owners()).sort(), ['alice', 'bob']);
  });

  it('[Q10] jobs and calls on a pilot are those of its user, and run as that user', async () => {
    const line = ['run', '--wait', '-f', '-t', '1m', '--needs', 'pilot=hers', '--', 'id -un'];
    assert.equal(await as(ALICE, ...line), 'alice');
    const stranger = await tried(BOB, 'run', '-t', '1m', '--needs', 'pilot=hers', '--', 'id -un');
    assert.equal(stranger.code, 2);
    assert.match(stranger.error, /Pilots of fleet hers run only what alice submits\./);
    const script = join(home(BOB), 'who.mjs');
    const library = join(world.at('program'), 'src/library.ts');
    writeFileSync(
      script,
      `import { connect } from '${library}';
      await using cluster = await connect({ socket: '${world.at('head', 'weft.sock')}' });
      await using pool = await cluster.pool({ workers: 1, needs: 'pilot=his', memory: '512M' });
      console.log(await pool.run(() => process.getuid()));`,
    );
    const become = ['setpriv', '--reuid', BOB.name, '--regid', BOB.name, '--init-groups'];
    const words = [...inside, ...become, 'env', '-C', home(BOB), world.at('node'), script];
    const { out, error } = await runProgram(words, {
      cwd: '/',
      env: cleanEnvironment({ ...quickStarts(world.at('program')), HOME: home(BOB) }),
    });
    assert.equal(out.trim(), `${BOB.uid}`, error);
  });

  it('[Q12] a killed head finds the submissions of each user again, and ends them as that user', async () => {
    await world.killHead();
    await world.startHead();
    await world.up('hers', 1);
    await world.up('his', 1);
    const count = world.count('sbatch');
    assert.deepEqual((await owners()).sort(), ['alice', 'bob']);
    await as(ALICE, 'pilot', 'stop', 'hers');
    await world.gone('hers');
    assert.deepEqual(await owners(), ['bob']);
    await as(BOB, 'pilot', 'stop', 'his');
    await world.gone('his');
    assert.deepEqual(await owners(), []);
    assert.equal(world.count('sbatch'), count);
  });
});

function makeAccounts(world: PilotWorld): void {
  for (const folder of ['program', 'home']) mkdirSync(world.at(folder));
  const users = [ALICE, BOB];
  const lines = (file: string, own: (user: User) => string): string =>
    `${[readFileSync(file, 'utf8').trimEnd(), ...users.map(own)].join('\n')}\n`;
  const account = ({ name, uid }: User): string =>
    `${name}:x:${uid}:${uid}::${world.at('home', name)}:/bin/sh`;
  writeFileSync(world.at('accounts'), lines('/etc/passwd', account));
  writeFileSync(
    world.at('group'),
    lines('/etc/group', ({ name, uid }) => `${name}:x:${uid}:`),
  );
  writeFileSync(world.at('node'), '');
  for (const user of users) {
    mkdirSync(world.at('home', user.name), { mode: 0o700 });
    chownSync(world.at('home', user.name), user.uid, user.uid);
  }
}
