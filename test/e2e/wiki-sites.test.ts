// A Maui-like scheduler runs a real Slurm and a real Grid Engine as one partition, through the wiki
// protocol: jobs that users gave to their site themselves, and jobs of ours, start where it says
// and not
// before.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { after, afterEach, before, describe, it } from 'node:test';
import { findFreePort } from '../support/free-port.ts';
import { MauiClient, MauiError } from '../support/maui-client.ts';
import { hasGridEngine } from './support/grid-engine.ts';
import { until } from './support/hosts.ts';
import { showLogs } from './support/site-world.ts';
import { ThreeSites } from './support/three-sites.ts';

const hasSlurm = spawnSync('slurmctld-wlm', ['-V']).status === 0;
const isRoot = process.getuid?.() === 0;
const skip =
  hasSlurm && hasGridEngine && isRoot ? false : 'needs root, slurm-wlm, munge, Grid Engine, tini';

const KEY = 42;
/**
 * Below the ports that the system gives out: the head that was killed has to find it free again.
 */
const FIRST_PORT = 10_500 + (process.pid % 500) * 5;
/** All jobs of both sites' users are of the partition of the scheduler. */
const FILTERS = 'rules:\n  all: {over: jobs, set: {partition: grid}}\n';
/** Says on which host it begins, and ends once its gate is open. */
const PROGRAM = `folder=$(dirname "$0")/stamps
uname -n >> "$folder/$1.ran"
until [ -e "$folder/$1.go" ]; do sleep 0.1; done
`;

describe('a Maui-like scheduler over two real sites', { skip }, () => {
  const sites = new ThreeSites();
  const { world } = sites;
  const weft = (...args: string[]) => world.weft(...args);
  let maui: MauiClient;
  const line = (name: string): string[] => ['sh', world.at('job.sh'), name];
  /** Given to Slurm itself by one of its users; its id here. */
  const toSlurm = async (name: string): Promise<number> => {
    const words = ['--parsable', '--uid=nobody', '--chdir=/tmp', '--output=/dev/null', '--time=10'];
    const said = await sites.systems.slurm.command(
      ...['sbatch', ...words, `--wrap=${line(name).join(' ')}`],
    );
    return (await world.ours(`slurm/${said.trim()}`)).id;
  };
  const toGrid = async (name: string): Promise<number> => {
    const user = ['setpriv', '--reuid=daemon', '--regid=daemon', '--clear-groups'];
    const words = ['-terse', '-wd', '/tmp', '-o', '/dev/null', '-e', '/dev/null', '-b', 'y'];
    const said = await sites.systems.sge.command(
      ...[...user, 'qsub', ...words, '-l', 'h_rt=600', ...line(name)],
    );
    return (await world.ours(`sge/${said.trim()}`)).id;
  };
  const toWeft = async (name: string): Promise<number> =>
    Number(await weft('run', '--partition', 'grid', '-t', '10m', '--', ...line(name)));
  /** Hosts on which it began, once for each begin. */
  const ran = (name: string): string[] => {
    const file = world.at('stamps', `${name}.ran`);
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  };
  const open = (...names: string[]): void => {
    for (const name of names) writeFileSync(world.at('stamps', `${name}.go`), '');
  };
  const states = async (): Promise<Record<string, string>> =>
    Object.fromEntries((await maui.jobs()).map(({ id, state }) => [id, state]));
  const become = (id: number, state: string): Promise<true> =>
    until(`job ${id} is ${state}`, async () => (await states())[id] === state || undefined);
  const start = (id: number, node: string): Promise<string> =>
    maui.ask(`CMD=STARTJOB ARG=${id} TASKLIST=${node}`);
  const refused = async (done: Promise<unknown>): Promise<number> => {
    const error = await done.then(String, (reason: unknown) => reason);
    assert.ok(error instanceof MauiError, String(error));
    return error.code;
  };
  /** What the head itself starts comes and goes meanwhile, and these do not begin. */
  const stayIdle = async (jobs: Readonly<Record<string, number>>): Promise<void> => {
    assert.match(
      await weft('run', '-f', '--partition', 'own', 'printenv', 'WEFT_NODELIST'),
      /^own\d$/,
    );
    const now = await states();
    for (const [name, id] of Object.entries(jobs)) {
      assert.deepEqual([now[id], ran(name)], ['Idle', []], name);
    }
  };

  before(async () => {
    const port = await findFreePort({ host: '127.0.0.1', port: FIRST_PORT });
    maui = new MauiClient({ port, key: KEY });
    writeFileSync(world.at('wiki.key'), `${KEY}\n`, { mode: 0o600 });
    writeFileSync(world.at('job.sh'), PROGRAM);
    const config = `
partitions:
  grid: {nodes: "n[1-2].slurm,g[1-2].sge", policy: external}
  own: {nodes: "own[1-2]"}
wiki: {listen: "127.0.0.1:${port}", key_file: "${world.at('wiki.key')}"}
`;
    await sites.start(config, FILTERS);
  });
  afterEach(showLogs(world));
  after(() => sites.close());

  it('[P14, D1, D4, G2] it alone starts jobs at both, also after a kill of the head', async () => {
    const [s1, s2, g1, g2] = await Promise.all([
      toSlurm('s1'),
      toSlurm('s2'),
      toGrid('g1'),
      toGrid('g2'),
    ]);
    const [w1, w2] = await Promise.all([toWeft('w1'), toWeft('w2')]);
    const all = { s1, s2, g1, g2, w1, w2 };

    const nodes = (await maui.nodes()).map(({ id, state }) => `${id} ${state}`).sort();
    assert.deepEqual(nodes, ['g1.sge Idle', 'g2.sge Idle', 'n1.slurm Idle', 'n2.slurm Idle']);
    const users = (await maui.jobs()).map(({ id, fields }) => `${id} ${fields.get('UNAME')}`);
    const owners = {
      s1: 'nobody',
      s2: 'nobody',
      g1: 'daemon',
      g2: 'daemon',
      w1: 'root',
      w2: 'root',
    };
    const want = Object.entries(owners).map(
      ([name, user]) => `${all[name as keyof typeof all]} ${user}`,
    );
    assert.deepEqual(users.sort(), want.sort());
    await stayIdle(all);

    // A job of a site's user can run at this site only, and no job on a node of the head's own.
    assert.ok((await refused(start(s1, 'g1.sge'))) <= -700);
    assert.ok((await refused(start(w1, 'own1'))) <= -700);
    await start(s1, 'n2.slurm');
    await start(g1, 'g2.sge');
    await until(
      'both run at their sites',
      () => ran('s1').length + ran('g1').length === 2 || undefined,
    );
    await world.end('head', 'SIGKILL');
    open('s1');
    await world.startAgain('head');
    await world.headAnswers();
    await world.nodesUp(4, /\.(slurm|sge)$/);
    await stayIdle({ s2, g2, w1, w2 });
    await become(s1, 'Completed');
    await become(g1, 'Running');

    await maui.ask(`CMD=CANCELJOB ARG=${g1} TYPE=ADMIN`);
    await become(g1, 'Removed');
    await start(s2, 'n2.slurm');
    await start(g2, 'g1.sge');
    await start(w1, 'g2.sge');
    open('s2', 'g2', 'w1', 'w2');
    await become(s2, 'Completed');
    await start(w2, 'n1.slurm');
    for (const id of [g2, w1, w2]) await become(id, 'Completed');

    const [slurmHost, jobs] = [hostname(), await world.jobs()];
    const ends: readonly (readonly [name: keyof typeof all, node: string, host: string])[] = [
      ...([
        ['s1', 'n2.slurm', slurmHost],
        ['s2', 'n2.slurm', slurmHost],
      ] as const),
      ...([
        ['g1', 'g2.sge', 'g2'],
        ['g2', 'g1.sge', 'g1'],
      ] as const),
      ...([
        ['w1', 'g2.sge', 'g2'],
        ['w2', 'n1.slurm', slurmHost],
      ] as const),
    ];
    for (const [name, node, host] of ends) {
      const job = jobs.find(({ id }) => id === all[name]);
      const end = name === 'g1' ? ['cancelled', undefined] : ['completed', 0];
      assert.deepEqual([job?.outcome?.kind, job?.exit?.code], end, name);
      // Where we have it, and where it said itself that it began, once.
      assert.deepEqual([job?.nodes, ran(name)], [[node], [host]], name);
    }
    // Nodes of that Slurm are of one host: which of them ran what, it has to say.
    await until('it is over at the sites, too', async () => {
      const words = ['squeue', '-h', '-a', '-t', 'all', '-o', '%N %T'];
      const listed = (await sites.systems.slurm.command(...words)).trim().split('\n').sort();
      const left = await sites.systems.sge.command('qstat', '-u', '*');
      const want = ['n1 COMPLETED', 'n2 COMPLETED', 'n2 COMPLETED'];
      return (listed.join() === want.join() && left.trim() === '') || undefined;
    });
  });
});
