// A real OAR, first submitted to, then with all its jobs started by our scheduler: tasks of two
// users of ours, through one gateway, and jobs that they gave to OAR itself.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { Lan, until } from './support/hosts.ts';
import { Maintained } from './support/maintained.ts';
import { hasOar, OAR_USERS, type Oar, startOar } from './support/oar.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

const isRoot = process.getuid?.() === 0;
const skip = hasOar && isRoot ? false : 'needs root, OAR with PostgreSQL, iproute2 and tini';

const { alice, bob } = OAR_USERS;
// Each look starts several programs in Perl, half a second of a core each.
const SITE = { system: 'oar', poll: '2s' };

/** Record of a listing. */
interface Core {
  readonly network_address: string;
  readonly drain: string;
}

describe('a real OAR behind a gateway', { skip }, () => {
  let oar: Oar;
  const world = new SiteWorld(() => lan.closeNow());
  const lan = new Lan([world.directory]);
  const weft = (...args: string[]) => world.weft(...args);
  const ours = (siteJob: string) => world.ours(`hpc/${siteJob}`);
  const become = (id: number, words: RegExp) => world.become(id, words);
  /** Number of the job that a user submits to us. */
  const run = async (user: number, ...args: string[]): Promise<string> => {
    const { code, out, error } = await world.as(user, 'run', ...args);
    assert.equal(code, 0, out + error);
    return out.trim();
  };
  /** Given to OAR itself by one of its users; its ids, of an array those of its elements. */
  const giveAll = async (...line: string[]): Promise<string[]> => {
    const said = await oar.as('alice', 'oarsub', '-O', '/dev/null', '-E', '/dev/null', ...line);
    return [...said.matchAll(/^OAR_JOB_ID=(\d+)$/gm)].map(([, id = '']) => id);
  };
  const give = async (...line: string[]): Promise<string> => {
    const [id] = await giveAll(...line);
    return id ?? assert.fail('OAR has not taken it');
  };
  const stateThere = async (id: string): Promise<string> =>
    (await oar.command('oarstat', '-s', '-j', id)).trim().replace(/^\d+: /, '');
  const maintained = new Maintained(world);
  const isDrained = async (node: string): Promise<boolean> => {
    const listed = JSON.parse(await oar.command('oarnodes', '-J')) as Record<string, Core>;
    const cores = Object.values(listed).filter(({ network_address: name }) => name === node);
    return cores.length > 0 && cores.every(({ drain }) => drain === 'YES');
  };

  before(async () => {
    mkdirSync(world.at('oar'));
    oar = await startOar(lan, world.at('oar'), ['n1', 'n2'], 2);
    await world.startHead(oar.head);
    await world.addGateway('submitted', SITE, {});
    await world.nodesUp(1, /^submitted$/);
  });
  afterEach(showLogs(world));
  after(() => world.close(() => lan.close()));

  it('submitted to, it runs jobs of each user as that user, with output and exit code', async () => {
    const line = 'echo "$(id -un) with $WEFT_CPUS"; exit 3';
    const [one, two] = [await run(alice, '--cpus', '2', '--', line), await run(bob, '--', line)];
    assert.equal((await world.tried('wait', one)).code, 3);
    assert.equal((await world.tried('wait', two)).code, 3);
    assert.equal(await weft('logs', one), 'alice with 2');
    assert.equal(await weft('logs', two), 'bob with 1');
  });

  it('a submission whose answer is lost runs once', async () => {
    await oar.stopServer();
    // OAR keeps the job, and says that it is killed.
    const id = await run(alice, '--', 'echo ran >>ran; cat ran');
    await until('OAR has it', async () => {
      const listed = await oar.command('oarstat', '-f', '-J', '--sql', "state = 'Waiting'");
      return listed.includes('weft-') || undefined;
    });
    await oar.startServer();
    assert.match(await weft('wait', id), /completed/);
    assert.equal(await weft('logs', id), 'ran');
    const all = await oar.command('oarstat', '-f', '-J', '--sql', 'job_id > 0');
    assert.equal(all.match(/"name" : "weft-/g)?.length, 3);
  });

  it('[G6] it is not steered while its own queues are on', async () => {
    await world.end('submitted', 'SIGTERM');
    await world.addGateway('hpc', { ...SITE, mode: 'steer' }, {});
    assert.notEqual(await world.exitOf('hpc'), 0);
    assert.match(world.log('hpc'), /cannot be steered: this is not so: all queues are off/);
    await oar.command('oarnotify', '-D');
    await world.startAgain('hpc');
    await world.nodesUp(2, /^n\d.hpc$/);
  });

  it('steered, a task of ours runs on the node that our plan gave it', async () => {
    const id = await run(alice, '--nodes-named', 'n2.hpc', '--cpus', '2', '--', 'uname -n; exit 4');
    assert.equal((await world.tried('wait', id)).code, 4);
    assert.equal(await weft('logs', id), 'n2');
  });

  it('a job that a user gave to the site waits in our queue, and is started by our plan', async () => {
    await weft('site', 'pause', 'hpc');
    const there = await give('-l', '/nodes=2/core=1,walltime=0:05:00', 'exit 3');
    const behind = await give('-a', there, 'true');
    const job = await ours(there);
    assert.deepEqual([job.owner, job.state, job.walltimeMs], ['alice', 'pending', 300_000]);
    const second = await ours(behind);
    assert.match(await weft('why', String(second.id)), /held/);
    assert.equal(await stateThere(there), 'Waiting');
    await weft('site', 'resume', 'hpc');
    const done = await become(job.id, /^failed/);
    assert.deepEqual([done.exit, done.nodes.toSorted()], [{ code: 3 }, ['n1.hpc', 'n2.hpc']]);
    await become(second.id, /^completed/);
  });

  it('[G16] elements of an array run where their user wants them, each with its own end', async () => {
    const there = await giveAll(
      '--array',
      '3',
      '-p',
      "network_address = 'n2'",
      'exit $OAR_ARRAY_INDEX',
    );
    assert.equal(there.length, 3);
    for (const [at, id] of there.entries()) {
      const done = await become((await ours(id)).id, /^failed/);
      assert.deepEqual([done.exit, done.nodes], [{ code: at + 1 }, ['n2.hpc']]);
    }
  });

  it('[G16] nodes that its user names in braces are those of the plan', async () => {
    const there = await give('-l', "{network_address = 'n2'}/core=1", 'exit 6');
    const done = await become((await ours(there)).id, /^failed/);
    assert.deepEqual([done.exit, done.nodes], [{ code: 6 }, ['n2.hpc']]);
  });

  it('[G16] what says in words of OAR where it can run, or what it is, is held here', async () => {
    for (const [words, line] of [
      [/\(oarsub\s+-p\)/, ['-p', "drain = 'NO' AND resource_id > 1"]],
      [/a\s+type\s+\(oarsub\s+-t\)/, ['-t', 'besteffort']],
    ] as const) {
      const there = await give(...line, 'true');
      const job = await ours(there);
      assert.match(await weft('why', String(job.id)), words);
      await oar.as('alice', 'oardel', there);
      await become(job.id, /^cancelled ended at its site: Error/);
    }
  });

  it('[G2] a job that its user holds waits until that user lets it go', async () => {
    const there = await give('--hold', 'exit 3');
    const job = await ours(there);
    assert.match(await weft('why', String(job.id)), /held at hpc, as job \d+ there/);
    await oar.as('alice', 'oarresume', there);
    const done = await become(job.id, /^failed/);
    assert.deepEqual(done.exit, { code: 3 });
  });

  it('what its user has typed is evaluated by the account that may only read', async () => {
    const there = await give('-l', "{current_user = 'oar_ro'}/core=1", 'exit 3');
    const done = await become((await ours(there)).id, /^failed/);
    assert.deepEqual(done.exit, { code: 3 });
  });

  it('conditions that let other cores in get none but those of the plan', async () => {
    await weft('node', 'drain', 'n1.hpc');
    const there = await give('-l', '{true) OR (true}/core=1', 'exit 3');
    const done = await become((await ours(there)).id, /^failed/);
    await weft('node', 'undrain', 'n1.hpc');
    assert.deepEqual([done.exit, done.nodes], [{ code: 3 }, ['n2.hpc']]);
  });

  it('cancelling here ends it there, before and after its start', async () => {
    await weft('site', 'pause', 'hpc');
    const waiting = await give('sleep 600');
    await ours(waiting);
    await weft('kill', `hpc/${waiting}`);
    await until('the site has cancelled it', async () => {
      return (await stateThere(waiting)) === 'Error' || undefined;
    });
    await weft('site', 'resume', 'hpc');
    const running = await give('sleep 600');
    const job = await ours(running);
    await become(job.id, /^running/);
    await weft('kill', String(job.id));
    await become(job.id, /^cancelled/);
    assert.equal(await stateThere(running), 'Error');
  });

  it('what its user ends there is over here, with the word of the site', async () => {
    const there = await give('sleep 600');
    const job = await ours(there);
    await become(job.id, /^running/);
    await oar.as('alice', 'oardel', there);
    const ended = await become(job.id, /^failed/);
    assert.deepEqual(ended.exit, { signal: 9 });
  });

  it('a gateway that is killed loses none of them', async () => {
    const there = await give(`until [ -e ${world.at('go')} ]; do sleep 0.1; done; exit 5`);
    const job = await ours(there);
    await become(job.id, /^running/);
    await weft('site', 'pause', 'hpc');
    const quick = await give('exit 6');
    const unseen = await ours(quick);
    await world.end('hpc', 'SIGKILL');
    mkdirSync(world.at('go'));
    // [G3] OAR itself starts it, and nobody sees it run.
    await oar.command('oarnotify', '-E');
    await until(
      'it has ended',
      async () => (await stateThere(quick)) === 'Terminated' || undefined,
    );
    await oar.command('oarnotify', '-D');
    await world.startAgain('hpc');
    const done = await become(job.id, /^failed/);
    assert.deepEqual(done.exit, { code: 5 });
    const ended = await become(unseen.id, /^failed/);
    assert.deepEqual(ended.exit, { code: 6 });
    assert.match(ended.nodes.join(), /^n[12]\.hpc$/);
    await weft('site', 'resume', 'hpc');
  });

  it('[M9] a node is stopped there for its maintenance alone, and given back', async () => {
    const line = `uname -n; ${maintained.gate('maintained')}`;
    const id = await maintained.now('n1.hpc', '--as', 'alice', '--program', line);
    const program = await maintained.programOf(id);
    await become(program, /^running/);
    await until('the node is drained there', async () => (await isDrained('n1')) || undefined);
    assert.equal(await isDrained('n2'), false);
    // Neither by us nor by OAR: a job of its own user needs both nodes.
    const theirs = await give('-l', '/nodes=2/core=1', 'true');
    const job = await ours(theirs);
    await become(Number(await run(alice, '--nodes-named', 'n2.hpc', '--', 'true')), /^completed/);
    assert.equal(await stateThere(theirs), 'Waiting');
    assert.match(await weft('why', String(job.id)), new RegExp(`maintenance ${id}`));
    maintained.open('maintained');
    assert.equal((await maintained.phase(id, 'done')).nodes[0]?.stop, 'returned');
    assert.equal(await isDrained('n1'), false);
    assert.equal(await weft('logs', String(program)), 'n1');
    await become(job.id, /^completed/);
  });
});
