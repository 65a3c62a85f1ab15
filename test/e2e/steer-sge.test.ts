// A real Grid Engine whose jobs are all started by our scheduler, on hosts of its own, and
// maintenance of its nodes: stopped there for just that time, and given back as they were.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import type { TaskView } from '../../src/kernel/api/jobs.ts';
import type { SiteView } from '../../src/wings/sites/api/sites.ts';
import { until } from './support/hosts.ts';
import { Maintained } from './support/maintained.ts';
import { steeredGridEngine, withoutGridEngine } from './support/steered.ts';

describe('a real Grid Engine that our scheduler steers', { skip: withoutGridEngine }, () => {
  const { world, system, give } = steeredGridEngine();
  const weft = (...args: string[]) => world.weft(...args);
  const ours = (siteJob: string) => world.ours(`hpc/${siteJob}`);
  const become = (id: number, words: RegExp) => world.become(id, words);
  const command = (...argv: string[]) => system().command(...argv);

  const maintained = new Maintained(world);
  /** The letters of the queue instance there. */
  const lettersOf = async (node: string): Promise<string> => {
    const listed = await command('qstat', '-f');
    const line = listed.split('\n').find((one) => one.startsWith(`main.q@${node}`)) ?? '';
    return line.trim().split(/\s+/)[5] ?? '';
  };
  const lettersBecome = (node: string, letters: string) =>
    until(`${node} is '${letters}'`, async () => (await lettersOf(node)) === letters || undefined);

  const linesOf = (file: string): string[] =>
    readFileSync(world.at(file), 'utf8').trim().split('\n').sort();

  afterEach(() => maintained.cancelAll());

  it('a task of ours runs on the node that our plan gave it, with its cpus', async () => {
    const id = await weft(
      ...['run', '--nodes-named', 'n2.hpc', '--cpus', '2', '--'],
      `sh -c 'echo "$NSLOTS on $(uname -n)"; exit 3'`,
    );
    const said = await world.tried('wait', id);
    assert.equal(said.code, 3, said.out + said.error);
    assert.match(await weft('logs', id), / on n2$/);
  });

  it('a job that a user gave to the site waits in our queue, and is started by our plan', async () => {
    await weft('site', 'pause', 'hpc');
    const there = await give('-l', 'h_rt=300', 'sh', '-c', "'exit 3'");
    const job = await ours(there);
    assert.deepEqual([job.owner, job.state, job.walltimeMs], ['nobody', 'pending', 300_000]);
    await weft('site', 'resume', 'hpc');
    const done = await become(job.id, /^failed/);
    assert.deepEqual(done.exit, { code: 3 });
  });

  it('[G16] [G20] a job runs where its user wants it, and is held where that is not planned', async () => {
    await weft('node', 'drain', 'n1.hpc');
    const there = await give('-l', 'hostname=n1', 'true');
    const queued = await give('-q', 'main.q@n2', 'true');
    const other = await give('-q', 'main.q@@allhosts', 'true');
    const [first, second] = [await ours(there), await ours(queued)];
    assert.deepEqual((await become(second.id, /^completed/)).nodes, ['n2.hpc']);
    assert.match(await weft('why', String((await ours(other)).id)), /main\.q@@allhosts \(-q\)/);
    assert.equal((await become(first.id, /^pending/)).state, 'pending');
    const said = (words: RegExp) =>
      until(`its user is told ${words}`, async () => {
        const [, context = ''] =
          /^context: +(.*)$/m.exec(await command('qstat', '-j', other)) ?? [];
        return words.test(context) || undefined;
      });
    await said(/^weft=it asks for main\.q@@allhosts \(-q\); which Weft does not plan/);
    await weft('node', 'undrain', 'n1.hpc');
    assert.deepEqual((await become(first.id, /^completed/)).nodes, ['n1.hpc']);
    await weft('site', 'pause', 'hpc');
    await command('qalter', '-q', 'main.q', other);
    await said(/^$/);
    await weft('site', 'resume', 'hpc');
    await become((await ours(other)).id, /^completed/);
  });

  it('[G5] elements of an array that a user gave to the site run where our plan has them', async () => {
    const line = `echo $SGE_TASK_ID on $(uname -n) >>${world.at('elements')}; exit $SGE_TASK_ID`;
    writeFileSync(world.at('elements'), '');
    chmodSync(world.at('elements'), 0o666);
    const [there = ''] = (await give('-t', '1-5', 'sh', '-c', `'${line}'`)).split('.');
    const job = await ours(there);
    const done = await become(job.id, /^failed/);
    assert.equal(done.outcomeCounts['failed'], 5);
    const { tasks } = await world.ask<{ tasks: TaskView[] }>(`/v1/jobs/${job.id}/tasks`);
    assert.deepEqual(
      tasks.map(({ index, exit, nodes }) => `${exit?.code === index} ${index} on ${nodes}`).sort(),
      linesOf('elements').map((ran) => `true ${ran}.hpc`),
    );
  });

  it('[G2] held, dependent and of several nodes: each starts when it may, with all its nodes', async () => {
    const held = await give('-h', 'true');
    const first = await give('-pe', 'one', '2', 'sh', '-c', "'sleep 3; exit 3'");
    const behind = await give('-hold_jid', first, 'true');
    const kept = await ours(held);
    assert.match(await weft('why', String(kept.id)), /held/);
    const wide = await become((await ours(first)).id, /^failed/);
    assert.deepEqual([wide.exit, wide.nodes.toSorted()], [{ code: 3 }, ['n1.hpc', 'n2.hpc']]);
    await become((await ours(behind)).id, /^completed/);
    assert.match(await command('qstat', '-u', '*'), new RegExp(` ${held} .* hqw `));
    await command('qrls', held);
    await become(kept.id, /^completed/);
  });

  it('cancelling here ends it there, before and after its start', async () => {
    await weft('site', 'pause', 'hpc');
    const waiting = await give('sleep', '600');
    await ours(waiting);
    await weft('kill', `hpc/${waiting}`);
    await until('the site has it no more', async () => {
      return !(await command('qstat', '-u', '*')).includes(` ${waiting} `) || undefined;
    });
    await weft('site', 'resume', 'hpc');
    const running = await give('sleep', '600');
    const job = await ours(running);
    await become(job.id, /^running/);
    await weft('kill', String(job.id));
    await become(job.id, /^cancelled/);
  });

  it('[G22] what runs there stands still where its limit does not go on, and hears no signals', async () => {
    const limited = await ours(await give('-l', 'h_rt=300', 'sleep', '600'));
    const free = await give('sh', '-c', `'until [ -e ${world.at('on')} ]; do sleep 0.1; done'`);
    const job = await ours(free);
    for (const { id } of [limited, job]) await become(id, /^running/);
    const refused = await world.tried('suspend', String(limited.id));
    assert.match(refused.error, /suspends no jobs that have a time limit/);
    assert.match(
      (await world.tried('kill', '--signal', 'USR1', `hpc/${free}`)).error,
      /no signals/,
    );
    await weft('suspend', `hpc/${free}`);
    await become(job.id, /^suspended/);
    assert.match(await command('qstat', '-u', '*'), new RegExp(` ${free} .* s `));
    mkdirSync(world.at('on'));
    await weft('resume', `hpc/${free}`);
    await become(job.id, /^completed/);
    await weft('kill', String(limited.id));
    await become(limited.id, /^cancelled/);
  });

  it('a waiting job that its user takes back is over by the word of the site', async () => {
    await weft('site', 'pause', 'hpc');
    const there = await give('sleep', '600');
    const job = await ours(there);
    await command('qdel', there);
    await become(job.id, /^cancelled ended at its site: gone/);
    await weft('site', 'resume', 'hpc');
  });

  it('a gateway that is killed loses none of them', async () => {
    const there = await give(
      'sh',
      '-c',
      `'until [ -e ${world.at('go')} ]; do sleep 0.1; done; exit 5'`,
    );
    const job = await ours(there);
    await become(job.id, /^running/);
    await world.end('hpc', 'SIGKILL');
    mkdirSync(world.at('go'));
    await world.startAgain('hpc');
    const done = await become(job.id, /^failed/);
    assert.deepEqual(done.exit, { code: 5 });
  });

  it('[M9] the node is stopped there, its program runs as a job of the site, and it is back', async () => {
    const id = await maintained.now(
      'n1.hpc',
      '--program',
      `echo "$(uname -n)"; ${maintained.gate('maintained')}`,
    );
    const program = await maintained.programOf(id);
    await world.become(program, /^running/);
    await lettersBecome('n1', 'd');
    const ours = await world.weft('run', '--nodes-named', 'n1.hpc', '--', 'true');
    const other = await world.weft('run', '--nodes-named', 'n2.hpc', '--', 'true');
    await world.become(Number(other), /^completed/);
    assert.match(await world.weft('why', ours), new RegExp(`maintenance ${id}`));
    await world.end('hpc', 'SIGKILL');
    await world.startAgain('hpc');
    await world.nodesUp(1, /^n2/);
    assert.equal(await lettersOf('n1'), 'd');
    maintained.open('maintained');
    await maintained.phase(id, 'done');
    await lettersBecome('n1', '');
    assert.equal(await world.weft('logs', String(program)), 'n1');
    await world.become(Number(ours), /^completed/);
  });

  it('[M9] a queue that its operator had disabled stays so', async () => {
    await command('qmod', '-d', 'main.q@n1');
    await lettersBecome('n1', 'd');
    const id = await maintained.now('n1.hpc', '--program', 'echo mended');
    const done = await maintained.phase(id, 'done');
    assert.equal(await world.weft('logs', String(done.nodes[0]?.jobId)), 'mended');
    assert.equal(await lettersOf('n1'), 'd');
    await command('qmod', '-e', 'main.q@n1');
  });

  it('[G6] with its own passes on it is not steered, and goes on once they are off', async () => {
    await weft('site', 'pause', 'hpc');
    const there = await give('true');
    const job = await ours(there);
    await system().makePasses(true);
    const site = await until('its gateway says what is missing', async () => {
      const one = await world.ask<SiteView>('/v1/sites/hpc');
      return one.problem === null ? undefined : one;
    });
    assert.match(site.problem ?? '', /^this is not so: the scheduler makes no passes of its own/);
    await world.nodesFaulty(/^n\d/, /the scheduler makes no passes of its own/);
    await weft('site', 'resume', 'hpc');
    assert.match(await weft('why', String(job.id)), /the scheduler makes no passes of its own/);
    await world.end('hpc', 'SIGTERM');
    await world.startAgain('hpc');
    assert.notEqual(await world.exitOf('hpc'), 0);
    assert.match(
      world.log('hpc'),
      /cannot be steered: this is not so: the scheduler makes no passes of its own/,
    );
    assert.match(await command('qstat', '-u', '*'), new RegExp(` ${there} .* qw `));
    await system().makePasses(false);
    await world.startAgain('hpc');
    await become(job.id, /^completed/);
  });
});
