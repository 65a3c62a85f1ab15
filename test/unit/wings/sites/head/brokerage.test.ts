// What the head makes of the listings of sites for the choice among them, and the words for it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkOf } from '../../../../../src/kernel/head/agent-link.ts';
import { explainJob } from '../../../../../src/kernel/head/http/handlers/show-job.ts';
import { BrokerageBook } from '../../../../../src/kernel/machine/brokerage-book.ts';
import type { EpochId, JobId, NodeName } from '../../../../../src/kernel/model/ids.ts';
import type { Share } from '../../../../../src/kernel/model/orders.ts';
import {
  DEFAULT_PARTITION,
  plainPartition,
  plainScheduling,
} from '../../../../../src/kernel/model/scheduling.ts';
import type {
  ListedJob,
  SiteNews,
  SiteNode,
  SiteUndone,
} from '../../../../../src/kernel/model/site.ts';
import type { Session } from '../../../../../src/kernel/ports/net.ts';
import type { Choice, Offer } from '../../../../../src/kernel/scheduler/room/brokerage.ts';
import { gatewaysOf } from '../../../../../src/wings/sites/head/gateways.ts';
import { choiceWords, head } from '../../../../../src/wings/sites/head/part.ts';
import { Sites } from '../../../../../src/wings/sites/head/sites.ts';
import { standingOf } from '../../../../../src/wings/sites/machine/standing.ts';
import { ANN } from '../../../../support/controller.ts';
import { EngineBench } from '../../../../support/engine.ts';
import { PLAIN_SITE_JOB, PLAIN_SITE_NODE } from '../../../../support/plain.ts';

const HOUR = 3_600_000;
const HPC = 'hpc' as NodeName;

function node(state: SiteNode['state'], cpuCount: number): SiteNode {
  return {
    ...PLAIN_SITE_NODE,
    name: `n${cpuCount}`,
    state,
    word: state,
    cpuCount,
  };
}

let last = 0;
function job(fields: Partial<ListedJob>): ListedJob {
  last += 1;
  return {
    ...PLAIN_SITE_JOB,
    id: String(last),
    name: 'x',
    owner: 'ann',
    word: 'PD',
    walltimeMs: HOUR,
    cpuCount: 2,
    isOurs: false,
    ...fields,
  };
}

test('[A29] a queue is what others run and wait for there, on nodes that take work', () => {
  const jobs = [
    job({}),
    job({ walltimeMs: null, cpuCount: null }),
    job({ state: 'held' }),
    job({ isOurs: true }),
    job({ state: 'running', startedAt: 10 * HOUR - HOUR / 2 }),
    job({ state: 'running', startedAt: HOUR, cpuCount: 1 }),
    // By a clock that is an hour ahead of ours.
    job({ state: 'running', startedAt: 11 * HOUR, cpuCount: 1, walltimeMs: HOUR / 2 }),
    job({ state: 'ended' }),
    job({ state: 'unknown' }),
    job({ state: 'running', isOurs: true }),
  ];
  const nodes = [node('idle', 4), node('busy', 2), node('down', 8), node('stopped', 16)];
  assert.deepEqual(standingOf({ nodes, jobs }, 10 * HOUR), {
    cpuCount: 6,
    cpusHeld: 4,
    // Half an hour of two cpus, and of one; what is past its limit is about to end.
    runningCpuMs: 1.5 * HOUR,
    waitingCpuMs: 3 * HOUR,
    listedAt: 10 * HOUR,
  });
});

test('only sites that decide for themselves have one, added up once for each word of theirs', () => {
  const sites = new Sites();
  const news = (more: Partial<SiteNews>): SiteNews => ({
    isFirst: true,
    isLast: true,
    system: 'slurm',
    mode: 'submit',
    takeover: null,
    problem: null,
    ageMs: 60_000,
    nodes: [node('idle', 4)],
    queues: [],
    gone: [],
    jobs: [job({ state: 'running', startedAt: 0 })],
    ...more,
  });
  sites.hear(HPC, news({}), 100_000);
  sites.hear('farm' as NodeName, news({ mode: 'steer' }), 100_000);
  // Listed half an hour after it began, which is a minute ago.
  const standings = sites.standings(100_000, HOUR / 2 + 60_000);
  assert.deepEqual([...standings.keys()], [HPC]);
  assert.equal(standings.get(HPC)?.runningCpuMs, HOUR);
  assert.equal(sites.standings(200_000, HOUR).get(HPC), standings.get(HPC));
  sites.hear(HPC, news({ isFirst: false, jobs: [job({})] }), 200_000);
  assert.equal(sites.standings(200_000, HOUR).get(HPC)?.waitingCpuMs, 2 * HOUR);
});

test('[G26] half of a look says nothing of a queue, and is not as new as a whole one', () => {
  const sites = new Sites();
  const news = (more: Partial<SiteNews>): SiteNews => ({
    isFirst: false,
    isLast: true,
    system: 'slurm',
    mode: 'submit',
    takeover: null,
    problem: null,
    ageMs: 0,
    nodes: [node('idle', 4)],
    queues: [],
    gone: [],
    jobs: [job({})],
    ...more,
  });
  sites.hear(HPC, news({ isFirst: true, isLast: false }), 1000);
  assert.equal(sites.standings(1000, HOUR).size, 0);
  assert.equal(sites.all[0]?.listedAt, null);
  sites.hear(HPC, news({}), 1000);
  assert.equal(sites.standings(1000, HOUR).get(HPC)?.waitingCpuMs, 4 * HOUR);
  sites.hear(HPC, news({ isLast: false }), 2000);
  assert.equal(sites.standings(2000, HOUR).get(HPC)?.waitingCpuMs, 4 * HOUR);
  assert.equal(sites.all[0]?.listedAt, 1000);
  sites.hear(HPC, news({}), 2000);
  assert.equal(sites.standings(2000, HOUR).get(HPC)?.waitingCpuMs, 8 * HOUR);
  assert.equal(sites.all[0]?.listedAt, 2000);
  sites.hear(HPC, news({}), 3000);
  for (let part = 0; part < 2; part += 1) sites.hear(HPC, news({ isLast: false }), 4000);
  const asked = sites.standings(4000, HOUR).get(HPC)?.waitingCpuMs;
  assert.equal(asked, 10 * HOUR, 'also when nobody had asked before its first part came');
});

test('a site that does not answer, or has not for long, has nothing free and no end of its wait', () => {
  const news: SiteNews = {
    isFirst: true,
    isLast: true,
    system: 'slurm',
    mode: 'submit',
    takeover: null,
    problem: null,
    ageMs: 0,
    nodes: [node('idle', 4)],
    queues: [],
    gone: [],
    jobs: [],
  };
  const cpus = (more: Partial<SiteNews>, laterMs = 0) => {
    const sites = new Sites();
    sites.hear(HPC, { ...news, ...more }, 1000);
    return sites.standings(1000 + laterMs, HOUR).get(HPC)?.cpuCount;
  };
  assert.equal(cpus({}), 4);
  assert.equal(cpus({ problem: 'squeue: it takes too long' }), 0);
  assert.equal(cpus({ ageMs: null }), undefined, 'its queue was not read yet');
  assert.equal(cpus({ ageMs: null, problem: 'squeue: it takes too long' }), 0);
  assert.equal(cpus({}, 299_999), 4);
  assert.equal(cpus({}, 300_000), 0);
});

test('a site hangs when its gateway says so, or has said nothing new for long', () => {
  const hang = (more: Partial<SiteNews>, laterMs: number) => {
    const sites = new Sites();
    const news: SiteNews = {
      isFirst: true,
      isLast: true,
      system: 'slurm',
      mode: 'steer',
      takeover: null,
      problem: null,
      ageMs: 0,
      nodes: [],
      queues: [],
      gone: [],
      jobs: [],
      ...more,
    };
    sites.hear(HPC, news, 1000);
    return sites.hangOf(['n1' as NodeName, HPC], 1000 + laterMs);
  };
  const problem = 'squeue: it takes too long';
  assert.deepEqual(hang({ problem, ageMs: null }, 0), { site: HPC, problem, ageMs: null });
  assert.deepEqual(hang({ problem }, 5000), { site: HPC, problem, ageMs: 5000 });
  assert.equal(hang({}, 299_999), undefined);
  assert.deepEqual(hang({}, 300_000), { site: HPC, problem: null, ageMs: 300_000 });
  assert.equal(hang({ ageMs: null }, 300_000), undefined, 'its queue was not read yet');
});

test('a standing says when its site was listed, also where that is too long ago, and if it ever was', () => {
  const news = (ageMs: number | null): SiteNews => ({
    isFirst: true,
    isLast: true,
    system: 'slurm',
    mode: 'submit',
    takeover: null,
    problem: null,
    ageMs,
    nodes: [node('idle', 4)],
    queues: [],
    gone: [],
    jobs: [],
  });
  const listedAt = (ageMs: number | null) => {
    const sites = new Sites();
    sites.hear(HPC, news(ageMs), 900_000);
    return sites.standings(900_000, HOUR).get(HPC)?.listedAt;
  };
  assert.equal(listedAt(10_000), HOUR - 10_000);
  assert.equal(listedAt(600_000), HOUR - 600_000);
  assert.equal(listedAt(null), undefined, 'its queue was not read yet');
});

const PLAIN_NEWS: SiteNews = {
  isFirst: true,
  isLast: true,
  system: 'slurm',
  mode: 'submit',
  takeover: null,
  problem: null,
  ageMs: 0,
  nodes: [],
  queues: [],
  gone: [],
  jobs: [],
};

const offer = (site: string, more: Partial<Offer> = {}): Offer => ({
  node: site as NodeName,
  waitMs: 0,
  price: 0,
  hasData: false,
  ...more,
});

test('why a task is at its site, in words', () => {
  const says = (rule: Choice['rule'], ...offers: Offer[]) => choiceWords({ rule, offers });
  assert.equal(
    says('least_wait', offer('hpc'), offer('sge', { waitMs: 1.5 * HOUR })),
    'Its site was chosen because it was to wait least there: hpc (no wait) before sge (about 1h30m of wait).',
  );
  assert.equal(
    says('cheapest', offer('hpc', { price: 1, waitMs: 10 }), offer('sge', { price: 2.5 })),
    'Its site was chosen because it is the cheapest with room: hpc (price 1, about 1m of wait) before sge (price 2.5, no wait).',
  );
  assert.equal(
    says('near_data', offer('hpc', { hasData: true })),
    'Its site was chosen because its input files have been there: hpc (had its inputs, no wait), the only one with room.',
  );
  const never = offer('sge', { waitMs: Number.POSITIVE_INFINITY });
  assert.match(
    says('near_data', offer('hpc'), never),
    /because no site with room had its input files, .*hpc \(no wait\) before sge \(takes no work\)\.$/,
  );
});

test('a site whose queue was not read yet, or that does not answer, is told of as that', () => {
  const last = { waitMs: Number.POSITIVE_INFINITY, price: 1 };
  const unread = offer('farm', { ...last, unknown: 'unread' });
  const silent = offer('lab', { ...last, unknown: 'silent' });
  assert.equal(
    choiceWords({ rule: 'cheapest', offers: [offer('hpc', { price: 2 }), unread, silent] }),
    'Its site was chosen because it is the cheapest with room: hpc (price 2, no wait) before farm (price 1, queue not read yet), lab (price 1, does not answer).',
  );
  assert.equal(
    choiceWords({ rule: 'cheapest', offers: [unread] }),
    'Its site was chosen because nothing else has room: farm (price 1, queue not read yet), the only one with room.',
  );
});

test('where inputs have been is forgotten when there is too much of it, the oldest first', () => {
  const book = new BrokerageBook();
  const shares = (site: string) => [{ node: site } as unknown as Share];
  const noted = (hash: string, site: string, id: number, choice?: Choice) => {
    const spec = { staging: { inputs: hash } };
    book.note({ id, spec } as never, 0, { shares: shares(site), choice });
  };
  noted('first', 'a', 1, { rule: 'near_data', offers: [offer('a')] });
  noted('first', 'b', 2);
  assert.deepEqual([...(book.data.get('first') ?? [])], ['a', 'b']);
  for (let at = 0; at < 2000; at += 1) noted(`list ${at}`, 'a', 3);
  assert.equal(book.data.size, 2000);
  assert.equal(book.data.get('first'), undefined);
  assert.equal(book.choiceOf({ id: 1 as JobId }, 0)?.offers[0]?.node, 'a');
  assert.equal(book.choiceOf({ id: 2 as JobId }, 0), undefined);
});

test('a gateway that hangs delays a start elsewhere by no moment', async () => {
  const bench = await new EngineBench().start();
  for (const site of ['one', 'two']) {
    await bench.connect(site, { site: 'script', labels: [`site=${site}`] });
  }
  const starts = () => bench.take().filter((line) => line.startsWith('to '));
  bench.submit('held', { labels: ['site=one'] });
  await bench.settle();
  assert.deepEqual(starts(), ['to one: launch 1#1']);
  // It answers nothing from here on, and its clock stands still: no time-out has come.
  for (const [at, job] of [2, 3, 4].entries()) {
    bench.submit(`more ${at}`, { labels: ['site=one'] });
    bench.submit(`else ${at}`, { labels: ['site=two'] });
    await bench.settle();
    assert.ok(starts().includes(`to two: launch ${2 * job - 1}#1`));
  }
});

test('[A29] why a task is at its site is said also while it waits in the queue there', async () => {
  const scheduling = plainScheduling('first_fit');
  const partition = { ...plainPartition(DEFAULT_PARTITION), placement: 'cheapest' as const };
  const partitions = { [DEFAULT_PARTITION]: partition };
  const bench = await new EngineBench({ scheduling: { ...scheduling, partitions } }).start();
  for (const site of ['one', 'two']) await bench.connect(site, { site });
  bench.submit('job');
  await bench.settle();
  const call = { params: { id: '1' }, actor: ANN };
  const services = { engine: bench.engine, answerParts: [head] };
  const why = await explainJob(services as never, call as never);
  assert.match(
    why.ok ? why.value.words : '',
    /^It waits in the queue of its site: it is being given to site one\.\nIts site was chosen because .*: one /,
  );
});

test('what a site does not do is said of tasks that are there, by nobody but its gateway', async () => {
  const bench = await new EngineBench().start();
  const world = { clock: bench.clock, engine: () => bench.engine, linkOf: () => undefined };
  const gateways = gatewaysOf(world);
  for (const site of ['one', 'two']) await bench.connect(site, { site, labels: [`site=${site}`] });
  bench.submit('job', { labels: ['site=one'] });
  await bench.settle();
  let linkOfTwo = linkOf({} as Session);
  const from = (name: string) => {
    const session = { peer: name, send: () => undefined, close: () => undefined };
    const link = linkOf(session as Partial<Session> as Session);
    if (name === 'two') linkOfTwo = link;
    gateways.greeted(link, [], name);
    const number = bench.engine.state.nodes.get(name as NodeName)?.session ?? 0;
    link.stage = { kind: 'welcomed', session: number, reports: 0 };
    return (...undone: SiteUndone[]) => {
      gateways.hear(link, { ...PLAIN_NEWS, ...(undone.length === 0 ? {} : { undone }) });
    };
  };
  const why = async () => {
    const call = { params: { id: '1' }, actor: ANN };
    const said = await explainJob(
      { engine: bench.engine, answerParts: [] } as never,
      call as never,
    );
    return said.ok ? said.value.words : '';
  };
  const undone = { epochId: '1#1' as EpochId, words: 'Its site does not take it: no. Again.' };
  const [one, two] = [from('one'), from('two')];
  two(undone);
  assert.doesNotMatch(await why(), /does not/);
  one(undone, { ...undone, epochId: '1#2' as EpochId }, { ...undone, epochId: 'x' as EpochId });
  assert.equal(
    await why(),
    `It waits in the queue of its site: it is being given to site one. ${undone.words}`,
  );
  assert.equal(bench.engine.state.scratch.taskNotices.size, 1);
  two();
  assert.match(await why(), /does not take it/);
  one();
  assert.doesNotMatch(await why(), /does not/);
  one({ ...undone, words: 'x'.repeat(100_000) });
  assert.ok((await why()).length < 2000);
  assert.ok(gateways.standings().has('one' as NodeName));
  gateways.look(linkOfTwo);
  assert.ok(gateways.standings().has('one' as NodeName));
  // Its tasks are over by then, but it cannot say so any more; another node has come meanwhile.
  const { nodes } = bench.engine.state;
  nodes.set('three' as NodeName, nodes.get('two' as NodeName) ?? assert.fail('two is there'));
  nodes.delete('one' as NodeName);
  gateways.look(linkOfTwo);
  assert.equal(bench.engine.state.scratch.taskNotices.size, 0);
  assert.ok(!gateways.standings().has('one' as NodeName));
});

test('[A29] a site speaks for its own starts only, and for those that it lists now', () => {
  const sites = new Sites();
  const FOE = 'foe' as NodeName;
  const news = (more: Partial<SiteNews>): SiteNews => ({
    isFirst: false,
    isLast: true,
    system: 'slurm',
    mode: 'submit',
    takeover: null,
    problem: null,
    ageMs: 0,
    nodes: [],
    queues: [],
    gone: [],
    jobs: [],
    ...more,
  });
  const [one, two] = ['1#1' as EpochId, '2#1' as EpochId];
  const own = job({ id: 'own', epochId: one });
  sites.hear(HPC, news({ isFirst: true, jobs: [own] }), 0);
  sites.hear(FOE, news({ isFirst: true, jobs: [job({ id: 'lie', epochId: one })] }), 0);
  const found = (epochId: EpochId, site = HPC) => sites.startOf(epochId, [site], 0)?.job.id;
  assert.equal(found(one), 'own', 'the other one has taken nothing from it');
  sites.hear(HPC, news({ jobs: [{ ...own, epochId: two }] }), 0);
  assert.deepEqual([found(one), found(two)], [undefined, 'own'], 'it is another start now');
  sites.hear(HPC, news({ gone: ['own'] }), 0);
  assert.equal(found(two), undefined);
  sites.hear(FOE, news({ isFirst: true }), 0);
  assert.equal(found(one, FOE), undefined, 'a session begins with nothing');
});
