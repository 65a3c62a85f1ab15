// A real Grid Engine whose jobs are all started by our scheduler, on hosts of its own: its commands are
// run behind words of another program, as behind ssh.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { type GridEngine, hasGridEngine, startGridEngine } from './support/grid-engine.ts';
import { Lan, until } from './support/hosts.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

const isRoot = process.getuid?.() === 0;
const skip = hasGridEngine && isRoot ? false : 'needs root, Grid Engine, iproute2 and tini';

describe('a real Grid Engine that our scheduler steers', { skip }, () => {
  const lan = new Lan();
  let sge: GridEngine;
  const world = new SiteWorld(() => lan.closeNow());
  const weft = (...args: string[]) => world.weft(...args);
  const ours = (siteJob: string) => world.ours(`hpc/${siteJob}`);
  const become = (id: number, words: RegExp) => world.become(id, words);
  /** Given to Grid Engine itself by one of its users. */
  const give = async (...line: string[]): Promise<string> => {
    const user = ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'];
    const words = ['-terse', '-wd', '/tmp', '-o', '/dev/null', '-e', '/dev/null', '-b', 'y'];
    return (await sge.command(...user, 'qsub', ...words, ...line)).trim();
  };

  before(async () => {
    mkdirSync(world.at('sge'));
    const grid = { nodes: ['n1', 'n2'], slots: 2, isSteered: true };
    sge = await startGridEngine(lan, world.at('sge'), grid);
    await world.startHead();
    const site = {
      ...{ system: 'sge', mode: 'steer', poll: '500ms', main: 'main.q', environment: 'smp' },
      before: sge.before.join(','),
    };
    await world.addGateway('hpc', site, sge.environment);
    await world.nodesUp(2, /^n\d/);
  });
  afterEach(showLogs(world));
  after(() => world.close(() => lan.close()));

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

  it('cancelling here ends it there, before and after its start', async () => {
    await weft('site', 'pause', 'hpc');
    const waiting = await give('sleep', '600');
    await ours(waiting);
    await weft('kill', `hpc/${waiting}`);
    await until('the site has it no more', async () => {
      return !(await sge.command('qstat', '-u', '*')).includes(` ${waiting} `) || undefined;
    });
    await weft('site', 'resume', 'hpc');
    const running = await give('sleep', '600');
    const job = await ours(running);
    await become(job.id, /^running/);
    await weft('kill', String(job.id));
    await become(job.id, /^cancelled/);
  });

  it('a waiting job that its user takes back is over by the word of the site', async () => {
    await weft('site', 'pause', 'hpc');
    const there = await give('sleep', '600');
    const job = await ours(there);
    await sge.command('qdel', there);
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
});
