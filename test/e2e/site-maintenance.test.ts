// Maintenance of the nodes of a real Slurm: stopped there for just that time, with the program as a
// job of the site, and given back as they were, whoever is killed meanwhile; by people, and by
// goals.

import assert from 'node:assert/strict';
import { appendFileSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import type { MaintenanceView } from '../../src/kernel/api/maintenance.ts';
import type { GoalStandingView } from '../../src/wings/goals/api/goals.ts';
import { until } from './support/hosts.ts';
import { Maintained } from './support/maintained.ts';
import { steeredSlurm, withoutSlurm } from './support/steered.ts';

describe('maintenance of a real Slurm', { skip: withoutSlurm }, () => {
  const { world, system, give } = steeredSlurm();
  const command = (...words: string[]) => system().command(...words);
  const maintained = new Maintained(world);
  const nodeThere = async (name: string): Promise<string> => {
    const line = await command('scontrol', 'show', 'node', name, '-o');
    const isDrained = /State=\S*DRAIN/.test(line);
    const reason = /Reason=(.*?)( \[|$)/m.exec(line)?.[1] ?? '';
    return `${isDrained ? 'drained' : 'open'} ${reason}`.trim();
  };
  const become = (name: string, words: string) =>
    until(`${name} is ${words}`, async () => (await nodeThere(name)) === words || undefined);
  const setPackage = (node: string, version: string): void => {
    // In one move: a check may read it at any time.
    writeFileSync(world.at('aside'), `${version}\n`);
    renameSync(world.at('aside'), world.at(`${node}.hpc`));
  };
  /** Null: there are none. */
  const setGoals = async (goals: unknown): Promise<void> => {
    const all = { nodes: 'n[1-2].hpc', at_once: 1, within: '1h', duration: '10m', goals };
    const classes = goals === null ? {} : { all };
    writeFileSync(world.at('goals.yaml'), JSON.stringify({ classes }));
    await world.weft('config', 'reload');
  };
  afterEach(() => maintained.cancelAll());

  it('[M21, M24] what differs from its goals is repaired at its site, one node at a time', async () => {
    const config = world.at('head', 'weft.yaml');
    appendFileSync(config, `goals: {file: "${world.at('goals.yaml')}", every: 1s}\n`);
    for (const node of ['n1', 'n2']) setPackage(node, '2.0');
    // Somebody at the site has seen that its disk is bad.
    await command('scontrol', 'update', 'nodename=n1', 'state=drain', 'reason=bad disk');
    await world.nodesFaulty(/^n1\.hpc$/, /bad disk/);
    const slurm = `SLURM_CONF=${join(system().directory, 'slurm.conf')}`;
    const file = world.at('$WEFT_NODELIST');
    await setGoals({
      health: {
        fact: 'fault',
        is: 'none',
        repair: `touch ${file}.begun; ${maintained.gate('mended')}; ${slurm} scontrol update nodename=\${WEFT_NODELIST%.hpc} state=undrain`,
      },
      package: {
        check: `cat ${file}`,
        expect: '2.*',
        repair: `echo 2.1 >${file}.new; mv ${file}.new ${file}`,
      },
    });
    const repairs = async () => {
      const path = '/v1/maintenance?all=true';
      const { maintenance } = await world.ask<{ maintenance: MaintenanceView[] }>(path);
      return maintenance.filter(({ goal }) => goal !== null);
    };
    const standings = async () => {
      return (await world.ask<{ nodes: GoalStandingView[] }>('/v1/goals')).nodes;
    };
    const first = await until('its repair has begun', async () => {
      return existsSync(world.at('n1.hpc.begun')) ? (await repairs())[0] : undefined;
    });
    // After its program has begun it is as its operator had it again.
    await become('n1', 'drained bad disk');
    const [work] = first.nodes;
    assert.deepEqual([first.goal, work?.node], [{ class: 'all', attempt: 1 }, 'n1.hpc']);
    assert.match(first.reason, /^health is its site says .*bad disk, expected none$/);
    setPackage('n2', '1.9');
    const next = await until('n2 differs', async () => {
      return (await standings()).find(
        ({ node, next: words }) => node === 'n2.hpc' && words !== null,
      );
    });
    assert.match(next.next ?? '', /^1 of partition \S+ in repair; at once 1$/);
    const job = await world.weft('run', '--nodes-named', 'n1.hpc', '--', 'true');
    assert.match(await world.weft('why', job), new RegExp(`maintenance ${first.id}`));
    assert.match(await world.weft('maint', 'list', '--why'), /goals of all: health is /);
    maintained.open('mended');
    await until('both are repaired', async () => {
      const begun = await repairs();
      assert.ok(begun.filter(({ endedAt }) => endedAt === null).length <= 1, 'one at a time');
      return begun.filter(({ phase }) => phase === 'done').length === 2 || undefined;
    });
    await become('n1', 'open');
    await become('n2', 'open');
    await world.become(Number(job), /^completed/);
    await until('both are as they are to be', async () => {
      const nodes = await standings();
      return nodes.every(({ differences }) => differences?.length === 0) || undefined;
    });
    assert.match(await world.weft('goal', 'show'), /n1\.hpc +all +met.*\n.*n2\.hpc +all +met/);
    assert.equal((await repairs()).length, 2);
    await setGoals(null);
  });

  it('[M9] the node is stopped there, its program runs as a job of the site, and it is back', async () => {
    const line = `echo "$MAINTENANCE_ID"; ${maintained.gate('go')}`;
    const id = await maintained.now('n1.hpc', '--program', line);
    const program = await maintained.programOf(id);
    await world.become(program, /^running/);
    await become('n1', `drained weft maintenance ${id}`);
    assert.match(await command('squeue', '-h', '-t', 'running', '-o', '%j %N'), /^weft-\S+ n1$/m);
    // Neither by us nor by Slurm: a job of its own user needs both nodes.
    const theirs = await give('--nodes=2', '--wrap', 'true');
    const adopted = await world.ours(`hpc/${theirs}`);
    const ours = await world.weft('run', '--nodes-named', 'n1.hpc', '--', 'true');
    const other = await world.weft('run', '--nodes-named', 'n2.hpc', '--', 'true');
    await world.become(Number(other), /^completed/);
    assert.match(await command('squeue', '-h', '-j', theirs, '-o', '%T'), /PENDING/);
    assert.match(await world.weft('why', ours), new RegExp(`maintenance ${id}`));
    maintained.open('go');
    assert.equal((await maintained.phase(id, 'done')).nodes[0]?.stop, 'returned');
    await become('n1', 'open');
    await world.become(Number(ours), /^completed/);
    await world.become(adopted.id, /^completed/);
    assert.equal(await world.weft('logs', String(program)), id);
  });

  it('[M9] a node that its operator had drained stays drained, with the same reason', async () => {
    await command('scontrol', 'update', 'nodename=n1', 'state=drain', 'reason=bad disk');
    const id = await maintained.now('n1.hpc', '--program', 'echo mended');
    const done = await maintained.phase(id, 'done');
    assert.equal(await world.weft('logs', String(done.nodes[0]?.jobId)), 'mended');
    assert.equal(await nodeThere('n1'), 'drained bad disk');
    await command('scontrol', 'update', 'nodename=n1', 'state=undrain');
    await world.nodesUp(2, /^n\d/);
  });

  it('[M9] gateway and head killed in the middle give the node back once', async () => {
    const given = (): number => world.log('hpc').split('a node was given back').length;
    const before = given();
    const id = await maintained.now(
      'n1.hpc',
      '--program',
      `touch ${world.at('began')}; ${maintained.gate('go-2')}`,
    );
    await until('the program runs', () => existsSync(world.at('began')) || undefined);
    await become('n1', `drained weft maintenance ${id}`);
    await world.end('hpc', 'SIGKILL');
    await world.end('head', 'SIGKILL');
    assert.equal(await nodeThere('n1'), `drained weft maintenance ${id}`);
    await world.startAgain('head');
    await world.headAnswers();
    await world.startAgain('hpc');
    await world.nodesUp(1, /^n2/);
    assert.equal(await nodeThere('n1'), `drained weft maintenance ${id}`);
    maintained.open('go-2');
    await maintained.phase(id, 'done');
    await become('n1', 'open');
    assert.equal(given(), before + 1, 'once');
  });

  it('[M9] a gateway that is away at the end gives the node back when it is there again', async () => {
    const id = await maintained.now('n1.hpc');
    await become('n1', `drained weft maintenance ${id}`);
    // Whether the head has heard of the stop or not.
    await world.end('hpc', 'SIGKILL');
    await world.weft('maint', 'cancel', id);
    assert.equal((await maintained.show(id)).phase, 'restoring');
    await world.startAgain('hpc');
    await maintained.phase(id, 'cancelled');
    await become('n1', 'open');
  });

  it('[M11] node-on gives one node back, the others stay', async () => {
    const id = await maintained.off('n1.hpc', 'n2.hpc', '--now');
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
    await maintained.phase(id, 'cancelled');
  });

  it('[M1, M9] a planned one is reserved here, and stopped there from its start only', async () => {
    const id = await maintained.off('n1.hpc', '--at', '+1h');
    const long = await world.ours(`hpc/${await give('--nodes=2', '--time=90', '--wrap', 'true')}`);
    const short = await world.ours(`hpc/${await give('--nodes=2', '--time=5', '--wrap', 'true')}`);
    await world.become(short.id, /^completed/);
    await world.become(long.id, /^pending/);
    assert.equal(await nodeThere('n1'), 'open');
    const refused = await world.tried('maint', 'node-off', 'n1.hpc', '--at', '+1h', '-d', '10m');
    assert.match(refused.error, new RegExp(id));
    await world.weft('maint', 'cancel', id);
    assert.equal((await maintained.show(id)).phase, 'cancelled');
    await world.become(long.id, /^completed/);
    assert.equal(await nodeThere('n1'), 'open', 'nothing is left behind');
  });

  it('[M10] what the site cannot do is refused', async () => {
    const said = await world.tried(
      ...['maint', 'node-off', 'n1.hpc', '--now', '-d', '10m', '--running', 'suspend'],
    );
    assert.match(
      said.error,
      /n1\.hpc: no maintenance suspends jobs of a site; choose wait, requeue or kill/,
    );
  });
});
