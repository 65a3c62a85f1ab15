// What a gateway tells of its site: all of it once a session, then what has changed; nothing of
// what cannot be read.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ok } from '../../../../../../src/kernel/base/result.ts';
import type { FilterRule } from '../../../../../../src/kernel/model/filter-rule.ts';
import type { NodeName } from '../../../../../../src/kernel/model/ids.ts';
import { SITE_JOBS_PER_MESSAGE_MAX } from '../../../../../../src/kernel/model/limits.ts';
import type { SiteNews, StopRequest } from '../../../../../../src/kernel/model/site.ts';
import type { Adaptor } from '../../../../../../src/wings/sites/adaptors/adaptor.ts';
import { slurm } from '../../../../../../src/wings/sites/adaptors/slurm/slurm.ts';
import { executionQueue } from '../../../../../../src/wings/sites/adaptors/slurm/steer.ts';
import { Filters } from '../../../../../../src/wings/sites/fabric/filters/site-filters.ts';
import { NodeStops } from '../../../../../../src/wings/sites/fabric/site/node-stops.ts';
import { SiteWatch } from '../../../../../../src/wings/sites/fabric/site/site-watch.ts';
import { Steerer } from '../../../../../../src/wings/sites/fabric/site/steerer.ts';
import { Sites } from '../../../../../../src/wings/sites/head/sites.ts';
import { VirtualClock } from '../../../../kernel/agent/fake-world.ts';
import { KeptLog } from '../../../../kernel/head/http/fixture.ts';
import { FakeSlurm } from './fake-slurm.ts';

const HPC = 'hpc' as NodeName;

const RULE: FilterRule = {
  name: 'first',
  over: 'nodes',
  when: ['node=n1'],
  hide: true,
  add: [],
  queue: null,
};

class World {
  readonly site = new FakeSlurm();
  readonly clock = new VirtualClock();
  readonly told: SiteNews[] = [];
  readonly heard = new Sites();
  readonly log = new KeptLog();
  readonly watch: SiteWatch;

  constructor(adaptor: Adaptor = slurm(null)) {
    const settings = { pollMs: 5000, timeoutMs: 1000, before: [] };
    const common = { commands: this.site, log: this.log, settings };
    const { steering } = adaptor;
    this.watch = new SiteWatch({
      ...common,
      adaptor,
      clock: this.clock,
      mode: steering === null ? 'submit' : 'steer',
      steerer: steering === null ? null : new Steerer({ ...common, steering }),
    });
  }

  connect(): void {
    this.watch.connect((news) => {
      this.told.push(news);
      this.heard.hear(HPC, news, this.clock.monotonic());
    });
  }

  submit(name: string): void {
    void this.site.run({
      argv: ['sbatch', '', '', `--job-name=${name}`],
      timeoutMs: 1,
      keep: { part: 'first', length: 1 },
    });
  }

  states(): (string | undefined)[] {
    const [known] = this.heard.all;
    return [...(known?.jobs.values() ?? [])].map(({ id, state }) => `${id} ${state}`);
  }
}

async function begun(jobs: number): Promise<World> {
  const world = new World();
  world.watch.addPrefix('weft-abc');
  for (let at = 0; at < jobs; at += 1) world.submit(`job${at}`);
  world.connect();
  world.watch.start();
  await world.clock.settle();
  return world;
}

test('all of it is told first, and afterwards only what has changed', async () => {
  const world = await begun(2);
  assert.deepEqual(world.states(), ['101 waiting', '102 waiting']);
  assert.deepEqual(
    world.told[0]?.nodes?.map(({ name, state }) => `${name} ${state}`),
    ['n1 idle'],
  );
  world.submit('weft-abc-7');
  await world.clock.advance(5000);
  const [, second] = world.told;
  assert.equal(second?.isFirst, false);
  assert.equal(second?.nodes, undefined);
  assert.deepEqual(
    second?.jobs.map(({ id, isOurs }) => ({ id, isOurs })),
    [{ id: '103', isOurs: true }],
  );
  await world.clock.advance(5000);
  assert.deepEqual(world.told[2]?.jobs, []);
  assert.equal(world.states().length, 3);
});

test('nothing is told of a site before jobs and nodes were listed once', async () => {
  const world = new World();
  let isThere = false;
  world.site.run = (command) => {
    if (command.argv[0] === 'sinfo' && !isThere) {
      isThere = true;
      world.connect();
    }
    return FakeSlurm.prototype.run.call(world.site, command);
  };
  world.watch.start();
  await world.clock.settle();
  assert.deepEqual(
    world.told.map(({ isFirst, nodes }) => [isFirst, nodes?.length]),
    [[true, 1]],
  );
});

test('[M9] news say which word on stops it has heard in this session', async () => {
  const { site, clock, log } = new World();
  const steering = executionQueue({ main: 'main', execution: 'steer' });
  const common = { adaptor: slurm(steering), commands: site, clock, log };
  const settings = { pollMs: 5000, timeoutMs: 1000, before: [] };
  const notes = { all: () => new Map(), write: () => undefined, remove: () => undefined };
  const stops = new NodeStops({ ...common, settings, notes });
  const watch = new SiteWatch({ ...common, mode: 'steer', steerer: null, stops, settings });
  const told: SiteNews[] = [];
  const connect = () => watch.connect((news) => told.push(news));
  connect();
  watch.start();
  await clock.settle();
  watch.stop([], 2);
  watch.disconnect();
  connect();
  assert.deepEqual(
    told.map(({ stopsHeard }) => stopsHeard),
    [0, 2, 0],
  );
  watch.close();
});

test('what is in no listing any more is told as that, and as nothing else', async () => {
  const world = await begun(2);
  world.site.jobs.shift();
  await world.clock.advance(5000);
  assert.deepEqual(world.told[1]?.gone, ['101']);
  assert.deepEqual(world.states(), ['102 waiting']);
});

test('a listing that cannot be read changes nothing but the age and the problem', async () => {
  const world = await begun(2);
  world.site.moods.set('squeue', ['rubbish']);
  await world.clock.advance(5000);
  assert.deepEqual(world.states(), ['101 waiting', '102 waiting']);
  const [known] = world.heard.all;
  assert.match(known?.problem ?? '', /squeue: its answer is no JSON/);
  assert.equal(world.clock.monotonic() - (known?.listedAt ?? 0), 5000);
  await world.clock.advance(5000);
  assert.equal(world.heard.all[0]?.problem, null);
});

test('while a command that no signal ends is still there, no more of them are run', async () => {
  const world = await begun(2);
  world.site.stuck = true;
  world.site.moods.set('squeue', ['hangs']);
  await world.clock.advance(5000);
  const before = world.site.ran.length;
  await world.clock.advance(50_000);
  assert.equal(world.site.ran.length, before);
  const [known] = world.heard.all;
  assert.match(known?.problem ?? '', /squeue: the command before it still runs/);
  assert.deepEqual(world.states(), ['101 waiting', '102 waiting']);
  world.site.stuck = false;
  await world.clock.advance(5000);
  assert.ok(world.site.ran.length > before);
  assert.equal(world.heard.all[0]?.problem, null);
});

test('a new session begins with all of it, in messages of bounded size', async () => {
  const world = await begun(SITE_JOBS_PER_MESSAGE_MAX + 1);
  assert.deepEqual(
    world.told.map(({ isFirst, jobs }) => [isFirst, jobs.length]),
    [
      [true, SITE_JOBS_PER_MESSAGE_MAX],
      [false, 1],
    ],
  );
  world.watch.disconnect();
  world.site.jobs.length = 1;
  await world.clock.advance(5000);
  assert.equal(world.told.length, 2);
  world.connect();
  assert.deepEqual(world.states(), ['101 waiting']);
});

test('one listing serves all who want one at the same time', async () => {
  const world = await begun(1);
  const before = world.site.ran.length;
  await Promise.all([world.watch.list(), world.watch.list(), world.watch.list()]);
  assert.equal(world.site.ran.length, before + 1);
});

test('a look that fails is logged, and the next one comes all the same', async () => {
  const world = await begun(1);
  let fails = true;
  world.site.run = async (command) => {
    if (fails) throw new Error('no more processes');
    return FakeSlurm.prototype.run.call(world.site, command);
  };
  await world.clock.advance(5000);
  const [line] = world.log.lines.filter(({ level }) => level === 'error');
  assert.match(`${line?.message}: ${line?.fields['error']}`, /^a look at .*no more processes$/);
  fails = false;
  world.submit('later');
  await world.clock.advance(5000);
  assert.deepEqual(world.states(), ['101 waiting', '102 waiting']);
});

test('an adaptor that fails with one job cancels the others, and nothing is left unheard', async () => {
  const real = slurm(null);
  const adaptor: Adaptor = {
    ...real,
    cancel: (id) => {
      if (id === '101') throw new Error('no such word');
      return real.cancel(id);
    },
  };
  const world = new World(adaptor);
  for (const name of ['a', 'b']) world.submit(name);
  await world.clock.settle();
  const unheard: unknown[] = [];
  const hear = (reason: unknown): void => void unheard.push(reason);
  process.on('unhandledRejection', hear);
  try {
    world.watch.cancel([
      { job: '101', index: null },
      { job: '102', index: null },
    ]);
    await world.clock.settle();
    // Node tells of a rejection once the microtasks of its turn are over.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('unhandledRejection', hear);
  }
  assert.deepEqual(unheard, []);
  assert.deepEqual(
    world.site.jobs.map(({ id, state }) => `${id} ${state}`),
    ['101 PENDING', '102 CANCELLED'],
  );
  assert.ok(
    world.log.lines.some(({ message }) => message === 'cancelling a job at its site failed'),
  );
});

test('[G3] a job that only the head has seen is asked for, and told to be over by word only', async () => {
  const steering = executionQueue({ main: 'main', execution: 'steer' });
  // What the takeover needs is another matter.
  const world = new World(slurm({ ...steering, requirements: [] }));
  world.connect();
  world.watch.start();
  await world.clock.settle();
  world.site.give('theirs');
  world.site.hide(101);
  world.watch.ask(['101', '99']);
  await world.clock.advance(5000);
  assert.deepEqual(world.states(), ['101 unknown', '99 ended']);
});

test('[G6] what steering needs is looked at again, once in twelve listings, and told', async () => {
  let isMet = true;
  const query = { command: { argv: ['scontrol', 'ping'] }, read: () => ok(isMet) };
  const requirements = [{ what: 'its scheduler is off', query, remedy: 'switch it off' }];
  const steering = executionQueue({ main: 'main', execution: 'steer' });
  const world = new World(slurm({ ...steering, requirements }));
  world.connect();
  world.watch.start();
  await world.clock.settle();
  isMet = false;
  await world.clock.advance(11 * 5000);
  assert.equal(world.told.at(-1)?.problem, null);
  await world.clock.advance(5000);
  const words = 'this is not so: its scheduler is off. Remedy: switch it off';
  assert.equal(world.told.at(-1)?.problem, words);
  assert.equal(world.watch.faultOf('n1'), `its site: ${words}`);
  // Whoever has mended it waits for one listing only.
  isMet = true;
  await world.clock.advance(5000);
  assert.equal(world.watch.faultOf('n1'), null);
});

test('[G8] both sides are told: what the site says, and what its filters make of it', async () => {
  const world = new World();
  let rules = [RULE];
  const filters = new Filters({
    clock: world.clock,
    reader: { read: () => assert.fail('there is no source') },
    load: () => ({ rules, sources: [] }),
  });
  const told: SiteNews[] = [];
  const watch = new SiteWatch({
    adaptor: slurm(null),
    commands: world.site,
    clock: world.clock,
    log: world.log,
    filters,
    mode: 'submit',
    steerer: null,
    settings: { pollMs: 5000, timeoutMs: 1000, before: [] },
  });
  watch.addPrefix('weft-abc');
  world.submit('theirs');
  world.submit('weft-abc-1');
  watch.connect((news) => told.push(news));
  watch.start();
  await world.clock.settle();
  const [first] = told;
  assert.deepEqual(
    first?.nodes?.map(({ name, seen }) => [name, seen?.hiddenBy]),
    [['n1', 'first']],
  );
  assert.equal(watch.faultOf('n1'), 'rule first of its site hides it');
  assert.deepEqual(first?.filters?.rules, [{ name: 'first', over: 'nodes', matched: 1, of: 1 }]);
  // Without a restart; what we have given to the site is not for its rules.
  rules = [{ ...RULE, over: 'jobs', when: [] }];
  await world.clock.advance(5000);
  assert.deepEqual(
    told[1]?.nodes?.map(({ seen }) => seen),
    [undefined],
  );
  assert.deepEqual(
    told[1]?.jobs.map(({ name, seen }) => [name, seen?.hiddenBy]),
    [['theirs', 'first']],
  );
  assert.equal(watch.faultOf('n1'), null);
});

test('[G8] a node that rules rename is stopped at its site by its own name, and told by ours', async () => {
  const world = new World();
  const call = (to: string): FilterRule => {
    return { ...RULE, when: [], hide: false, rename: { from: 'n*', to } };
  };
  let rules = [call('fast-*')];
  const filters = new Filters({
    clock: world.clock,
    reader: { read: () => assert.fail('there is no source') },
    load: () => ({ rules, sources: [] }),
  });
  const wanted: string[] = [];
  const stop = { maintenance: 'm1', until: 1, state: 'stopped', why: null } as const;
  const stops = {
    all: [{ ...stop, node: 'n1' }],
    onChange: () => undefined,
    look: () => undefined,
    want: (wishes: readonly StopRequest[]) => wanted.push(...wishes.map(({ node }) => node)),
    headIsAway: () => undefined,
  } as unknown as NodeStops;
  const told: SiteNews[] = [];
  const watch = new SiteWatch({
    adaptor: slurm(null),
    commands: world.site,
    clock: world.clock,
    log: world.log,
    filters,
    mode: 'steer',
    steerer: null,
    stops,
    settings: { pollMs: 5000, timeoutMs: 1000, before: [] },
  });
  watch.connect((news) => told.push(news));
  watch.start();
  await world.clock.settle();
  const toldStops = () => told.at(-1)?.stops?.map(({ node }) => node);
  assert.deepEqual(toldStops(), ['fast-1'], 'nobody has asked for it yet');
  assert.deepEqual([watch.nameAtSite('fast-1'), watch.nameAtSite('n7')], ['n1', 'n7']);
  assert.equal(watch.faultOf('n1', 'fast-1'), null);
  // A maintenance that has begun by the old name goes on by it.
  rules = [call('slow-*')];
  await world.clock.advance(5000);
  assert.equal(watch.faultOf('n1', 'fast-1'), 'the rules of its site call it slow-1 now');
  watch.stop(
    ['fast-1', 'slow-1'].map((node) => ({ node, maintenance: 'm1', until: 1 })),
    1,
  );
  assert.deepEqual(wanted, ['n1', 'n1']);
  await world.clock.advance(5000);
  assert.deepEqual(toldStops(), ['fast-1', 'slow-1']);
  watch.close();
});

test('[G8] until it is known what its filters hide, the site has a problem and shows no node', async () => {
  const { clock, site, log } = new World();
  const from = { kind: 'file', path: '/hot.json' } as const;
  const sources = [{ name: 'monitoring', from, everyMs: 5000, timeoutMs: 1000 }];
  let said: string | null = null;
  const filters = new Filters({
    clock,
    reader: { read: () => (said === null ? Promise.reject('no answer') : Promise.resolve(said)) },
    load: () => ({ rules: [{ ...RULE, when: ['hot'], data: 'monitoring' }], sources }),
  });
  const told: SiteNews[] = [];
  const shown: unknown[] = [];
  const watch = new SiteWatch({
    adaptor: slurm(null),
    commands: site,
    clock,
    log,
    filters,
    mode: 'submit',
    steerer: null,
    settings: { pollMs: 5000, timeoutMs: 1000, before: [] },
  });
  watch.onNodes((nodes) => shown.push(...nodes.map(({ seen }) => seen?.hiddenBy)));
  watch.connect((news) => told.push(news));
  watch.start();
  await clock.settle();
  assert.match(told[0]?.problem ?? '', /^source monitoring, .* never read: no answer$/);
  assert.match(watch.faultOf('n1') ?? '', /never read/);
  assert.deepEqual(shown, []);
  said = '{"n1": ["hot"]}';
  // The reading that is begun now is in force at the look after it.
  await clock.advance(5000);
  await clock.advance(5000);
  assert.equal(told.at(-1)?.problem, null);
  assert.deepEqual(shown, ['first']);
  watch.close();
});

test('[G20] a user of the site is told there why a job is held, as long as it is', async () => {
  const world = new World(slurm(executionQueue({ main: 'main', execution: 'steer' })));
  const { site, clock, watch } = world;
  const id = site.give('theirs');
  watch.addPrefix('weft-own');
  const own = site.give('weft-own-1');
  const licensed = { licenses: 'matlab' };
  for (const one of [id, own]) site.set(one, { more: licensed });
  watch.start();
  await clock.advance(1);
  const commentOf = (one: number) =>
    site.jobs.find((job) => job.id === one)?.more?.['admin_comment'];
  assert.match(String(commentOf(id)), /^weft: it asks for licenses/);
  assert.equal(commentOf(own), undefined);
  const updates = () => site.ran.filter((argv) => argv[1] === 'update').length;
  await clock.advance(15_000);
  assert.equal(updates(), 1);
  site.set(id, { more: { admin_comment: commentOf(id), excluded_nodes: 'n1' } });
  await clock.advance(5000);
  assert.equal(commentOf(id), 'weft: no node of its site is where it is to run');
  site.set(id, { more: { admin_comment: commentOf(id) } });
  await clock.advance(5000);
  assert.equal(commentOf(id), '');
  // What the head says is read at the next listing; its own hold is none that the site could end.
  watch.hold([{ job: String(id), why: 'held here; weft release 3 lets it start' }]);
  await clock.advance(5000);
  assert.equal(commentOf(id), 'weft: held here; weft release 3 lets it start');
  assert.deepEqual(watch.job(String(id))?.state, 'waiting');
  watch.hold([]);
  site.set(id, { more: { admin_comment: commentOf(id) } });
  await clock.advance(5000);
  assert.equal(commentOf(id), '');
  watch.close();
});
