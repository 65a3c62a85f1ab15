// Jobs that users of a site gave to it, started by us: told to start once, followed by the word of
// the site, and over only with evidence.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { LauncherLine } from '../../../../../../src/kernel/agent/launcher-line.ts';
import { ok } from '../../../../../../src/kernel/base/result.ts';
import type { ProcessEvent } from '../../../../../../src/kernel/model/processes.ts';
import type { SiteJob } from '../../../../../../src/kernel/model/site.ts';
import type { LaunchRequest } from '../../../../../../src/kernel/ports/processes.ts';
import { emptyState } from '../../../../../../src/kernel/runner/state.ts';
import type { Adaptor } from '../../../../../../src/wings/sites/adaptors/adaptor.ts';
import { slurm } from '../../../../../../src/wings/sites/adaptors/slurm/slurm.ts';
import { executionQueue } from '../../../../../../src/wings/sites/adaptors/slurm/steer.ts';
import { type Launch, listedOf } from '../../../../../../src/wings/sites/fabric/site/launch.ts';
import { SiteProcesses } from '../../../../../../src/wings/sites/fabric/site/site-processes.ts';
import { Steerer } from '../../../../../../src/wings/sites/fabric/site/steerer.ts';
import { Untaken } from '../../../../../../src/wings/sites/fabric/site/untaken.ts';
import type { SiteWorld } from '../../../../../../src/wings/sites/fabric/site/world.ts';
import { siteFolders } from '../../../../../../src/wings/sites/os/site-folders.ts';
import { PLAIN_LAUNCH } from '../../../../../support/plain.ts';
import { VirtualClock } from '../../../../kernel/agent/fake-world.ts';
import { KeptLog } from '../../../../kernel/head/http/fixture.ts';
import { FakeSlurm } from './fake-slurm.ts';

const top = mkdtempSync(join(tmpdir(), 'weft-foreign-'));
after(() => rmSync(top, { recursive: true }));

let count = 0;

/** A job whose user has named no nodes. */
const listed = (id: string) => ({ id, handle: null, state: 'waiting', queue: null }) as SiteJob;

class Gateway {
  readonly site: FakeSlurm;
  readonly clock: VirtualClock;
  readonly folder: string;
  readonly events: ProcessEvent[] = [];
  readonly log = new KeptLog();
  readonly processes: SiteProcesses;

  constructor(
    before?: Gateway,
    more: { ticket?: string; listedJob?: SiteWorld['listedJob'] } = {},
  ) {
    count += 1;
    this.site = before?.site ?? new FakeSlurm();
    this.clock = before?.clock ?? new VirtualClock();
    this.folder = before?.folder ?? join(top, String(count));
    const { ticket = null, listedJob = listed } = more;
    const queue = executionQueue({ main: 'main', execution: 'steer' });
    const steering = { ...queue, needsHandle: ticket !== null };
    const settings = { pollMs: 1000, timeoutMs: 1000, before: [], commandsMax: 4 };
    const common = { commands: this.site, clock: this.clock, log: this.log };
    const steerer = new Steerer({ ...common, steering, settings });
    this.processes = new SiteProcesses({
      ...common,
      adaptor: ticketed(slurm(steering), ticket),
      folders: siteFolders(this.folder),
      listedJob,
      settings: {
        ...settings,
        prefix: 'weft-abc',
        queue: null,
        account: null,
        options: [],
      },
      place: { node: 'n1', steerer, nameAtSite: (name) => name.replace('.hpc', '') },
    });
    this.processes.onEvent((event) => this.events.push(event));
  }

  async begin(): Promise<void> {
    await this.processes.adopt();
  }

  start(
    job: number,
    nodes = ['n1.hpc', 'n2.hpc'],
    isLead = true,
    index: number | null = null,
  ): void {
    this.processes.start({
      ...PLAIN_LAUNCH,
      launchId: 1,
      argv: [`hpc/${job}`],
      environment: [],
      cwd: this.folder,
      foreign: { job: String(job), index, nodes, isLead },
    } satisfies LaunchRequest);
  }

  give(): number {
    return this.site.give('their job');
  }

  starts(): string[] {
    return this.site.ran
      .filter((argv) => argv[0] === 'scontrol' && argv[1] === 'update')
      .map((argv) => argv.slice(2).join(' '));
  }

  kinds(): string[] {
    return this.events.map(({ kind }) => kind);
  }
}

/** Starts need what listings say of each job, as in Grid Engine. */
function ticketed(adaptor: Adaptor, handle: string | null): Adaptor {
  const { command, read } = adaptor.jobs;
  const readAll: typeof read = (output) => {
    const jobs = read(output);
    return jobs.ok ? ok(jobs.value.map((job) => ({ ...job, handle }))) : jobs;
  };
  return { ...adaptor, jobs: { command, read: readAll } };
}

async function begun(): Promise<Gateway> {
  const gateway = new Gateway();
  await gateway.begin();
  return gateway;
}

test('[G2] it is started on the nodes of the plan, and its end is what the site says', async () => {
  const gateway = await begun();
  const job = gateway.give();
  gateway.start(job);
  await gateway.clock.advance(3000);
  assert.deepEqual(gateway.starts(), [
    `jobid=${job} Partition=steer NumNodes=2-2 ReqNodeList=n1,n2 Requeue=0`,
  ]);
  gateway.site.set(job, { state: 'RUNNING', nodes: 'n[1-2]' });
  await gateway.clock.advance(2000);
  gateway.site.set(job, { state: 'FAILED', exit: 3 << 8 });
  await gateway.clock.advance(2000);
  assert.deepEqual(gateway.kinds(), ['started', 'exited']);
  const [, end] = gateway.events;
  assert.deepEqual(end?.kind === 'exited' && end.exit, { code: 3 });
  assert.equal(gateway.site.ran.filter(([name]) => name === 'sbatch').length, 0);
});

test('[G2] one node of several has it started', async () => {
  const gateway = await begun();
  gateway.start(gateway.give(), ['n1.hpc', 'n2.hpc'], false);
  await gateway.clock.advance(30_000);
  assert.deepEqual(gateway.starts(), []);
});

test('a start that was refused is taken back, and ordered again', async () => {
  const gateway = await begun();
  gateway.site.moods.set('scontrol', ['refuses']);
  gateway.start(gateway.give());
  await gateway.clock.advance(3000);
  assert.match(gateway.starts()[1] ?? '', /Partition=main ReqNodeList=$/);
  assert.equal(gateway.starts().length, 3);
  assert.deepEqual(gateway.kinds(), []);
});

test('[G16] a start that does not take is taken back within seconds, for others to start', async () => {
  const gateway = await begun();
  gateway.start(gateway.give());
  await gateway.clock.advance(16_000);
  const [, back, ...others] = gateway.starts();
  assert.match(back ?? '', /Partition=main ReqNodeList=$/);
  assert.deepEqual(others, []);
  const [event] = gateway.events;
  assert.ok(event?.kind === 'refused' && event.there === 'untaken', JSON.stringify(event));
  assert.match(event.why, /^its site did not start it on n1, n2: /);
  assert.ok(!gateway.site.ran.some(([name]) => name === 'scancel'));
});

test('[G16] a start that its site goes on refusing is taken back within seconds', async () => {
  const gateway = await begun();
  gateway.site.refuses = (argv) => argv.includes('Partition=steer');
  gateway.start(gateway.give());
  await gateway.clock.advance(16_000);
  const [event] = gateway.events;
  assert.ok(event?.kind === 'refused' && event.there === 'untaken', JSON.stringify(event));
  assert.match(event.why, /^its site did not start it on n1, n2: .*Invalid qos/);
  assert.match(gateway.starts().at(-1) ?? '', /Partition=main ReqNodeList=$/);
});

test('[G16] a start is taken back to where its user had it, by the next gateway too', async () => {
  let where: Pick<SiteJob, 'queue' | 'where'> = { queue: 'debug' };
  const listedJob = (id: string) => ({ ...listed(id), ...where }) as SiteJob;
  const before = new Gateway(undefined, { listedJob });
  await before.begin();
  before.start(before.give());
  await before.clock.advance(1000);
  before.processes.close();
  // From the start on its site lists what we have chosen.
  where = { queue: 'steer', where: { only: ['n1', 'n2'], queues: ['steer'] } };
  const gateway = new Gateway(before, { listedJob });
  await gateway.begin();
  await gateway.clock.advance(16_000);
  assert.match(gateway.starts().at(-1) ?? '', /Partition=debug ReqNodeList=$/);
});

test('[G16] what a site did not start is held for a while, longer each time', () => {
  const untaken = new Untaken();
  const job = { id: '7', state: 'waiting' } as SiteJob;
  untaken.note('7', 'no room', 0);
  assert.deepEqual(untaken.seen(job, 59_000), {
    id: '7',
    state: 'held',
    reason: 'no room; tried again later',
    isHeldByUs: true,
  });
  assert.equal(untaken.seen(job, 60_000), job);
  untaken.note('7', 'no room', 70_000);
  assert.equal(untaken.of('7', 189_000), 'no room');
  assert.equal(untaken.of('7', 190_000), null);
});

test('[G16] an element listed by itself is held with its array, and the other way round', () => {
  const untaken = new Untaken();
  const stateOf = (id: string, elements: string | null = null) =>
    untaken.seen({ id, elements, state: 'waiting' } as SiteJob, 1).state;
  untaken.note('16', 'no room', 0);
  assert.equal(stateOf('16_2'), 'held');
  untaken.note('17_2', 'no room', 0);
  assert.equal(untaken.of('17', 1), null);
  assert.deepEqual([stateOf('17', '2'), stateOf('17', '2-3')], ['held', 'waiting']);
  assert.deepEqual(
    [stateOf('17_2'), stateOf('17_3'), stateOf('18_2')],
    ['held', 'waiting', 'waiting'],
  );
});

test('a start waits for the listing that has its ticket, and that is no failed start', async () => {
  const gateway = new Gateway(undefined, { ticket: 'tk' });
  await gateway.begin();
  gateway.site.moods.set('squeue', ['hangs', 'hangs']);
  gateway.start(gateway.give());
  await gateway.clock.advance(1500);
  assert.deepEqual(gateway.starts(), []);
  await gateway.clock.advance(5000);
  assert.equal(gateway.starts().length, 1);
  const said = gateway.log.lines.map(({ message }) => message);
  assert.ok(!said.includes('a start at the site did not take'), said.join());
});

test('[G5] an element that has not begun has the ticket of its array', async () => {
  const listedJob = (id: string) => (id === '16' ? ({ id, handle: 'tk' } as SiteJob) : undefined);
  const gateway = new Gateway(undefined, { ticket: 'tk', listedJob });
  await gateway.begin();
  gateway.start(16, ['n1.hpc'], true, 2);
  await gateway.clock.settle();
  assert.deepEqual(gateway.starts(), [
    'jobid=16_2 Partition=steer NumNodes=1-1 ReqNodeList=n1 Requeue=0',
  ]);
});

test('a ticket that others have read already is not waited for', async () => {
  const listedJob = (id: string) => ({ id, handle: 'tk' }) as SiteJob;
  const gateway = new Gateway(undefined, { ticket: 'tk', listedJob });
  await gateway.begin();
  gateway.site.moods.set('squeue', ['hangs', 'hangs', 'hangs']);
  gateway.start(gateway.give());
  await gateway.clock.settle();
  assert.equal(gateway.starts().length, 1);
});

test('[G3] in no listing it is not over; by the word that there is no such job it is', async () => {
  const gateway = await begun();
  const job = gateway.give();
  gateway.start(job);
  gateway.site.set(job, { state: 'RUNNING', nodes: 'n1' });
  await gateway.clock.advance(3000);
  gateway.site.hide(job);
  await gateway.clock.advance(60_000);
  assert.deepEqual(gateway.kinds(), ['started']);
  gateway.site.purge(job);
  await gateway.clock.advance(60_000);
  assert.deepEqual(gateway.kinds(), ['started', 'lost']);
  // Nobody asks for what is lost to be forgotten.
  assert.deepEqual(siteFolders(gateway.folder).list(), []);
});

test('[G4] ending it cancels it there, and the site says how it ended', async () => {
  const gateway = await begun();
  const job = gateway.give();
  gateway.start(job);
  await gateway.clock.advance(2000);
  gateway.processes.signal(1, 15);
  await gateway.clock.advance(3000);
  assert.ok(gateway.site.ran.some((argv) => argv.join(' ') === `scancel ${job}`));
  assert.deepEqual(gateway.kinds(), ['refused']);
});

test('[G14] its running time counts from the start that the site tells', async () => {
  const gateway = await begun();
  const job = gateway.give();
  gateway.start(job);
  await gateway.clock.advance(8000);
  const startedAt = gateway.clock.now() - 6000;
  const more = { start_time: Math.floor(startedAt / 1000) };
  gateway.site.set(job, { state: 'RUNNING', nodes: 'n1', more });
  await gateway.clock.advance(2000);
  const begin = gateway.events.find((event) => event.kind === 'started');
  assert.ok(begin?.kind === 'started' && (begin.agoMs ?? 0) >= 6000, JSON.stringify(begin));
});

test('[G22] a job that runs is told to stand still and to go on, and signals are passed on', async () => {
  const gateway = await begun();
  const job = gateway.give();
  gateway.start(job);
  await gateway.clock.advance(2000);
  gateway.site.set(job, { state: 'RUNNING', nodes: 'n1' });
  await gateway.clock.advance(2000);
  const { processes, site, clock } = gateway;
  const said = (words: RegExp) =>
    site.ran.map((argv) => argv.join(' ')).filter((line) => words.test(line));
  processes.signal(1, 15, true);
  await clock.advance(100);
  processes.signal(1, 19);
  await clock.advance(3000);
  assert.deepEqual(said(/suspend/), [`scontrol suspend ${job}`]);
  assert.deepEqual(gateway.kinds(), ['started'], 'only its listing says that it stands still');
  site.set(job, { state: 'SUSPENDED' });
  processes.signal(1, 12, true);
  await clock.advance(3000);
  assert.deepEqual(gateway.kinds(), ['started', 'stopped']);
  const sent = [`scancel --full --signal=15 ${job}`];
  assert.deepEqual(said(/signal/), sent);
  processes.close();
  const next = new Gateway(gateway);
  assert.deepEqual(await next.processes.adopt(), [
    { launchId: 1, state: 'stopped', isForeign: true },
  ]);
  next.processes.signal(1, 18);
  await clock.advance(3000);
  assert.deepEqual(said(/resume/), [`scontrol resume ${job}`]);
  assert.deepEqual(next.kinds(), []);
  site.set(job, { state: 'RUNNING' });
  await clock.advance(3000);
  assert.deepEqual(next.kinds(), ['continued']);
  assert.deepEqual(said(/signal/), sent, 'those of a gateway that is gone are gone with it');
  next.processes.signal(1, 9, true);
  await clock.advance(3000);
  assert.deepEqual(said(/^scancel \d/), [`scancel ${job}`]);
});

test('[G22] the other nodes of a job leave it to the first, and see it stand still', async () => {
  const gateway = await begun();
  const job = gateway.give();
  gateway.start(job, ['n1.hpc', 'n2.hpc'], false);
  gateway.site.set(job, { state: 'RUNNING', nodes: 'n[1-2]' });
  await gateway.clock.advance(3000);
  gateway.processes.signal(1, 19);
  gateway.processes.signal(1, 12, true);
  gateway.site.set(job, { state: 'SUSPENDED' });
  await gateway.clock.advance(30_000);
  assert.deepEqual(gateway.kinds(), ['started', 'stopped']);
  assert.ok(gateway.site.ran.every(([program]) => program === 'squeue'));
});

test('[G23] a gateway whose own records are lost lets the job go on at its site', async () => {
  const gateway = new Gateway();
  await gateway.begin();
  const { site, clock } = gateway;
  const job = gateway.give();
  gateway.start(job);
  site.set(job, { state: 'RUNNING' });
  await clock.advance(3000);
  gateway.processes.close();
  const { processes, log } = new Gateway(gateway);
  const nothing = () => undefined;
  const line = new LauncherLine({
    clock,
    log,
    state: emptyState(),
    step: nothing,
    onFound: nothing,
    onAdopted: nothing,
    connect: () => Promise.resolve(processes),
    isBroken: () => false,
  });
  await line.connect();
  await clock.advance(10_000);
  assert.equal(
    site.ran.some(([name]) => name === 'scancel'),
    false,
  );
  assert.deepEqual(siteFolders(gateway.folder).list(), []);
});

test('a gateway that is killed goes on with it', async () => {
  const gateway = await begun();
  const job = gateway.give();
  gateway.start(job);
  await gateway.clock.advance(2000);
  gateway.processes.close();
  gateway.site.set(job, { state: 'COMPLETED', nodes: 'n1', exit: 0 });
  const next = new Gateway(gateway);
  await next.begin();
  await next.clock.advance(3000);
  assert.deepEqual(next.kinds(), ['started', 'exited']);
});

test('[G5] an element that has not begun is there as long as its array has it', () => {
  const entry = { stage: { kind: 'at_site', siteJob: '16_2' } } as Launch['entry'];
  const launch = (index: number) =>
    ({ entry, foreign: { job: '16', index, nodes: [], isLead: true } }) as unknown as Launch;
  const jobs = new Map([['16', { id: '16', elements: '1-3,7' } as SiteJob]]);
  assert.deepEqual(
    [2, 7, 5].map((index) => listedOf(launch(index), jobs)?.id),
    ['16', '16', undefined],
  );
  const own = new Map([...jobs, ['16_2', { id: '16_2' } as SiteJob]]);
  assert.equal(listedOf(launch(2), own)?.id, '16_2');
});
