// Filters of a real Slurm that our scheduler steers: nodes hidden by what monitoring says, labels
// and partitions for its jobs, other names for nodes and queues; changed while everything runs.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import type { SiteView } from '../../src/wings/sites/api/sites.ts';
import { endNow } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

const isThere = spawnSync('slurmctld-wlm', ['-V']).status === 0;
const isRoot = process.getuid?.() === 0;
const skip = isThere && isRoot ? false : 'needs root, and slurm-wlm and munge';

const SCHEDULER = 'batch_sched_delay=0,sched_interval=86400,default_queue_depth=10000';

describe('filters of a real Slurm', { skip }, () => {
  let slurm: Slurm;
  let said = '{"n2": {"temp": "hot"}}';
  const monitoring = createServer((_, response) => response.end(said));
  const world = new SiteWorld(() => {
    for (const pid of slurm?.pids ?? []) endNow(pid, 'SIGTERM');
  });
  const weft = (...args: string[]) => world.weft(...args);
  const give = async (...line: string[]): Promise<string> => {
    const words = ['--parsable', '--uid=nobody', '--chdir=/tmp', '--output=/dev/null', ...line];
    return (await slurm.command('sbatch', ...words)).trim();
  };
  const site = () => world.json<SiteView>('site', 'show', 'hpc');
  const write = (rules: readonly string[]): void => {
    const { port } = monitoring.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/`;
    const lines = ['sources:', `  monitoring: {url: '${url}', every: 1s}`, 'rules:'];
    writeFileSync(
      world.at('filters.yaml'),
      `${[...lines, ...rules.map((one) => `  ${one}`)].join('\n')}\n`,
    );
  };
  const RULES = [
    'hot: {data: monitoring, when: temp=hot, hide: true}',
    'fast: {when: node=n1, add: speed=fast}',
    'theirs: {over: jobs, when: name=secret, hide: true}',
    'needs-fast: {over: jobs, when: user=nobody, add: speed=fast}',
    'main: {over: queues, when: queue=main, rename: entry}',
    'old: {when: old, hide: true}',
  ];

  const takesNoMore = (old: string, now: string): Promise<true> =>
    until(`${old} takes no more`, async () => {
      const node = (await world.nodes()).find(({ name }) => name === old);
      return node?.fault === `the rules of its site call it ${now} now` || undefined;
    });

  before(async () => {
    monitoring.listen(0, '127.0.0.1');
    await once(monitoring, 'listening');
    slurm = await startSlurm(2, 2, SCHEDULER, { steered: true });
    await world.startHead();
    write(RULES);
    const options = { system: 'slurm', mode: 'steer', poll: '500ms' };
    const keys = { ...options, filters: world.at('filters.yaml') };
    await world.addGateway('hpc', keys, slurm.environment);
    await world.nodesUp(1, /^n\d/);
  });
  afterEach(showLogs(world));
  after(async () => {
    monitoring.close();
    await world.close(() => slurm?.stop());
  });

  it('[G8] what monitoring finds hot is hidden, and the rest has its labels', async () => {
    const members = (await world.nodes()).filter(({ name }) => name !== 'hpc');
    assert.deepEqual(
      members.map(({ name }) => name),
      ['n1.hpc'],
    );
    for (const label of ['speed=fast', 'queue=entry']) {
      assert.ok(members[0]?.labels.includes(label), `${label}: ${members[0]?.labels.join()}`);
    }
    const raw = await weft('site', 'show', 'hpc', '--raw');
    assert.match(raw, /^n2 .*hidden by rule hot$/m);
    const filtered = await weft('site', 'show', 'hpc', '--filtered');
    assert.doesNotMatch(filtered, /^n2 /m);
    assert.match(filtered, /^n1 .*speed=fast +fast$/m);
    assert.match(filtered, /^entry .* main +main$/m);
    assert.match(filtered, /^Warning: rule old matches none of 2 nodes\.$/m);
  });

  it('[G8] a job that a rule hides stays with its site, and why says which', async () => {
    const hidden = await give('--job-name=secret', '--wrap', 'true');
    await until('it is listed', async () => {
      return (await site()).jobs.some(({ id }) => id === hidden) || undefined;
    });
    const why = await world.tried('why', `hpc/${hidden}`);
    assert.match(
      why.error,
      /no job of ours stands for hpc\/\d+: .*rule theirs of its site hides it/,
    );
    const shown = await world.ours(`hpc/${await give('--wrap', 'true')}`);
    assert.ok(shown.request.labels.includes('speed=fast'), shown.request.labels.join());
    await slurm.command('scancel', hidden);
  });

  it('[G8] rules and data that change count without a restart', async () => {
    said = '{}';
    await world.nodesUp(2, /^n\d/);
    write(['slow: {when: node=n1, add: speed=slow}']);
    await until('n1 has another label', async () => {
      const n1 = (await world.nodes()).find(({ name }) => name === 'n1.hpc');
      return n1?.labels.includes('speed=slow') || undefined;
    });
    write(['bad: {whenn: x}']);
    const { filters } = await until('the mistake is told', async () => {
      const one = await site();
      return one.filters?.problem === null ? undefined : one;
    });
    assert.match(filters?.problem ?? '', /unknown key 'rules\.bad\.whenn'/);
    assert.deepEqual(
      filters?.rules.map(({ name }) => name),
      ['slow'],
      'those before stay',
    );
  });

  it('[G8] a node has the name that a rule gives it, and its site runs our jobs by its own', async () => {
    write(['both: {rename: same}']);
    const { filters } = await until('the clash is told', async () => {
      const one = await site();
      return one.filters?.problem?.includes('n1, n2 would all be called same') ? one : undefined;
    });
    assert.equal(filters?.problem?.startsWith('rule both: '), true);
    write(['call: {when: node=n2, rename: swift}']);
    await world.nodesUp(1, /^swift\.hpc$/);
    const id = await weft('run', '--nodes-named', 'swift.hpc', 'sleep', '600');
    assert.deepEqual((await world.become(Number(id), /^running/)).nodes, ['swift.hpc']);
    await until('it runs there by the name of the site', async () => {
      const ours = (await site()).jobs.find(({ isOurs, state }) => isOurs && state === 'running');
      return ours?.nodes.join() === 'n2' || undefined;
    });
    const filtered = await weft('site', 'show', 'hpc', '--filtered');
    assert.match(filtered, /^swift .* n2 +call$/m);
    await takesNoMore('n2.hpc', 'swift');

    // The gateway after this one knows of what runs under a name that nothing has any more.
    await world.end('hpc', 'SIGKILL');
    write(['call: {when: node=n2, rename: swallow}']);
    await world.startAgain('hpc');
    await world.nodesUp(1, /^swallow\.hpc$/);
    await takesNoMore('swift.hpc', 'swallow');
    await weft('kill', id);
    await world.become(Number(id), /^cancelled/);
    await until('the site has ended it, too', async () => {
      const ours = (await site()).jobs.filter(({ isOurs, state }) => isOurs && state === 'running');
      return ours.length === 0 || undefined;
    });
  });
});
