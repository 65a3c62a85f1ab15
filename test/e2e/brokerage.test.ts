// Several sites in one partition: each task goes to one by the partition's rule, `weft why` says
// why, and a gateway that hangs delays nobody. The sites are programs whose jobs are plain
// processes.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import type { JobView } from '../../src/kernel/api/jobs.ts';
import { until } from './support/hosts.ts';
import { repository, runProgram } from './support/local-cluster.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

const EXAMPLE = join(repository, 'examples/adaptor/processes');
const SITES = ['one', 'two', 'three'] as const;

const CONFIG = `
partitions:
  waits: {nodes: "one, two, three", placement: least_wait}
  cheap: {nodes: "one, two, three", placement: cheapest}
  near: {nodes: "one, two, three", placement: near_data}
sites:
  one: {price: 3}
  two: {price: 1}
  three: {price: 2}
`;

describe('three sites in one partition', () => {
  const world = new SiteWorld(() => undefined);
  const weft = (...args: string[]) => world.weft(...args);
  const run = async (...args: string[]) => Number(await weft('run', '--cpus', '1', ...args));
  /** The job once it has a site and runs there. */
  const running = (id: number): Promise<JobView> => world.become(id, /^running/);
  const siteOf = async (id: number) => (await running(id)).nodes.join();
  /** Jobs end when their file is there, and with the world in which a test has failed. */
  const untilThere = (name: string) => {
    const [there, over] = [`[ -e ${world.at(name)} ]`, `[ ! -d ${world.directory} ]`];
    return `until ${there} || ${over}; do sleep 0.1; done`;
  };

  /** One of the site's own users gives it a job. */
  const give = async (site: string, cpus: number, script: string) => {
    const asked = { SITE_NAME: 'local', SITE_SCRIPT_FILE: script, SITE_CPU_COUNT: String(cpus) };
    const env = { ...process.env, ...asked };
    const { code, out, error } = await runProgram([EXAMPLE, world.at(site), 'submit'], { env });
    assert.equal(code, 0, out + error);
  };

  before(async () => {
    await world.startHead(null, CONFIG);
    for (const site of SITES) {
      mkdirSync(world.at(`${site}-state`));
      writeFileSync(world.at(`${site}-state`, 'nodes'), 'n1 2\nn2 2\n');
      const program = `${EXAMPLE},${world.at(`${site}-state`)}`;
      await world.addGateway(site, { system: 'script', poll: '500ms', program }, {});
      await world.nodesUp(1, new RegExp(`^${site}$`));
    }
    await world.sitesRead(...SITES);
  });
  afterEach(showLogs(world));
  after(() => world.close(() => undefined));

  it('the cheapest with room gets a task, and why says so', async () => {
    const id = await run('--partition', 'cheap', '--', untilThere('cheap'));
    assert.equal(await siteOf(id), 'two');
    assert.match(
      await weft('why', String(id)),
      /Its site was chosen because it is the cheapest with room: two \(price 1, no wait\) before\s+three \(price 2, no wait\), one \(price 3, no wait\)\./,
    );
    const wide = () => run('--partition', 'cheap', '--cpus', '2', '--', untilThere('cheap'));
    const others = [await wide(), await wide()];
    assert.deepEqual(await Promise.all(others.map(siteOf)), ['two', 'three'], 'one cpu is left');
    writeFileSync(world.at('cheap'), '');
    await weft('wait', String(id), ...others.map(String));
  });

  it('a wish for a site comes before the rule', async () => {
    const one = await run('--partition', 'cheap', '--site', 'one', '--', untilThere('wish'));
    const either = await run(
      '--partition',
      'cheap',
      '--site',
      'one,three',
      '--',
      untilThere('wish'),
    );
    assert.deepEqual([await siteOf(one), await siteOf(either)], ['one', 'three']);
    writeFileSync(world.at('wish'), '');
    await weft('wait', String(one), String(either));
  });

  it('a task goes where the queue of the site lets it start first', async () => {
    writeFileSync(world.at('local.sh'), `${untilThere('queues')}\n`);
    // One is full and two have to wait there; two is full.
    for (const site of ['one', 'one', 'one', 'one', 'two', 'two']) {
      await give(`${site}-state`, 2, world.at('local.sh'));
    }
    await until('the head knows of their jobs', async () => {
      const shown = await weft('site', 'list');
      return (/one .* 2 +2 +\S+$/m.test(shown) && /two .* 0 +2 +\S+$/m.test(shown)) || undefined;
    });
    assert.match(
      await weft('run', '--dry-run', '--cpus', '1', '--site', 'one', '--', 'true'),
      /^Site one would get it now and start it at .+, in \S+: a guess from its listing \S+ ago\.$/m,
    );
    const first = await run('--partition', 'waits', '--', untilThere('queues'));
    assert.equal(await siteOf(first), 'three');
    assert.match(
      await weft('why', String(first)),
      /wait least there: three \(price 2, no wait\) before\s+two/,
    );
    // Four cpus in all: with one taken, the others go there, and the next one where less is before
    // it.
    const more: number[] = [];
    for (let at = 0; at < 4; at += 1)
      more.push(await run('--partition', 'waits', '--', untilThere('queues')));
    const jobs = await until('all have a site', async () => {
      const known = (await world.jobs()).filter(({ id }) => more.includes(id));
      return known.every(({ nodes }) => nodes.length === 1) ? known : undefined;
    });
    const sites = jobs.sort((a, b) => a.id - b.id).map(({ nodes }) => nodes[0]);
    assert.deepEqual(sites, ['three', 'three', 'three', 'two']);
    writeFileSync(world.at('queues'), '');
    await weft('wait', String(first), ...more.map(String));
  });

  it('a task goes where its inputs have been', async () => {
    writeFileSync(world.at('input'), 'data\n');
    const staged = ['--partition', 'near', '--private', '--in', 'input'];
    const first = await run(...staged, '--site', 'three', '--', 'cat input');
    await weft('wait', String(first));
    assert.equal(await weft('logs', String(first)), 'data');
    const second = await run(...staged, '--', `cat input; ${untilThere('near')}`);
    assert.equal(await siteOf(second), 'three');
    const why =
      /because its input files have been there: three \(had its inputs, price 2, no wait\)/;
    assert.match(await weft('why', String(second)), why);
    const other = await run('--partition', 'near', '--', untilThere('near'));
    assert.equal(
      await siteOf(other),
      'two',
      'without inputs the price decides between equal waits',
    );
    writeFileSync(world.at('near'), '');
    await weft('wait', String(second), String(other));
  });

  it('a gateway that hangs holds up no start elsewhere, and its task goes on', async () => {
    const completes = async (...args: string[]): Promise<string[]> => {
      const id = await run('--partition', 'cheap', ...args, '--', 'true');
      assert.match(await weft('wait', String(id)), /completed/);
      return (await world.jobs()).find((job) => job.id === id)?.nodes.map(String) ?? [];
    };
    const held = await run('--partition', 'cheap', '--', untilThere('held'));
    assert.equal(await siteOf(held), 'two');
    world.signal('two', 'SIGSTOP');
    try {
      assert.deepEqual(await completes('--site', 'three'), ['three']);
      await until('the head misses it', async () => {
        return /two .*unreachable|two .*away/.test(await weft('site', 'list')) || undefined;
      });
      assert.deepEqual(await completes(), ['three'], 'the next cheapest');
    } finally {
      world.signal('two', 'SIGCONT');
    }
    writeFileSync(world.at('held'), '');
    assert.match(await weft('wait', String(held)), /completed/);
  });

  it('[G21] a site that gets a larger node offers it at once', async () => {
    assert.equal((await world.nodes()).find(({ name }) => name === 'one')?.total.cpuCount, 4);
    writeFileSync(world.at('one-state', 'nodes'), 'n1 2\nn2 2\nn3 4\n');
    await until('the head knows of it', async () => {
      const one = (await world.nodes()).find(({ name }) => name === 'one');
      return one?.total.cpuCount === 8 || undefined;
    });
    const id = await run('--site', 'one', '--cpus', '4', '--', 'echo $WEFT_CPUS');
    await weft('wait', String(id));
    assert.equal(await weft('logs', String(id)), '4');
  });
});

it('a head that refuses its configuration is not waited for', async () => {
  const world = new SiteWorld(() => undefined);
  try {
    await assert.rejects(world.startHead(null, 'nonsense: 1\n'), /the head has ended:.*nonsense/s);
  } finally {
    await world.close(() => undefined);
  }
});
