// A job of a site's user that begins and ends between two listings, as each system tells of it
// afterwards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListedJob, SiteNews } from '../../../../../../src/kernel/model/site.ts';
import type { Command, CommandEnd } from '../../../../../../src/kernel/ports/commands.ts';
import type { Adaptor, SiteOutput } from '../../../../../../src/wings/sites/adaptors/adaptor.ts';
import { oar } from '../../../../../../src/wings/sites/adaptors/oar/oar.ts';
import { queuesOff } from '../../../../../../src/wings/sites/adaptors/oar/steer.ts';
import { sge } from '../../../../../../src/wings/sites/adaptors/sge/sge.ts';
import { tickets } from '../../../../../../src/wings/sites/adaptors/sge/steer.ts';
import { slurm } from '../../../../../../src/wings/sites/adaptors/slurm/slurm.ts';
import { executionQueue } from '../../../../../../src/wings/sites/adaptors/slurm/steer.ts';
import { SiteWatch } from '../../../../../../src/wings/sites/fabric/site/site-watch.ts';
import { Steerer } from '../../../../../../src/wings/sites/fabric/site/steerer.ts';
import { VirtualClock } from '../../../../kernel/agent/fake-world.ts';
import { KeptLog } from '../../../../kernel/head/http/fixture.ts';
import { recorded } from '../../adaptors/recorded.ts';

const POLL_MS = 5000;
const SGE = { queue: 'main.q', environment: 'one', oneSlotPerHost: [], ticket: 'ticket' };

type Says = (argv: readonly string[]) => SiteOutput;

/** `waits`, `over`: what its commands say while the job waits, and once it is over. */
interface Case {
  readonly adaptor: Adaptor;
  readonly id: string;
  readonly waits: Says;
  readonly over: Says;
  readonly nodes: readonly string[];
}

/** The recorded end, and the same listing as it was while the job waited. */
function listings(name: string, change: (text: string) => string): Pick<Case, 'waits' | 'over'> {
  const end = recorded(name);
  return { waits: () => ({ ...end, stdout: change(end.stdout) }), over: () => end };
}

function slurmWaits(text: string): string {
  const whole = JSON.parse(text) as { jobs: { job_id: number }[] };
  const isIt = (job: { job_id: number }) => job.job_id === 3;
  const waiting = { job_state: 'PENDING', nodes: '', state_reason: 'Priority' };
  return JSON.stringify({
    ...whole,
    jobs: whole.jobs.filter(isIt).map((job) => ({ ...job, ...waiting })),
  });
}

function oarWaits(text: string): string {
  const whole = JSON.parse(text) as Record<string, object>;
  const waiting = { state: 'Waiting', assigned_network_address: [], assigned_resources: [] };
  return JSON.stringify({ 6: { ...whole[6], ...waiting, exit_code: null } });
}

const CASES: Readonly<Record<string, Case>> = {
  slurm: {
    adaptor: slurm(executionQueue({ main: 'main', execution: 'steer' })),
    id: '3',
    nodes: ['n1'],
    ...listings('slurm/ends-late.squeue-json.txt', slurmWaits),
  },
  oar: {
    adaptor: oar(queuesOff(30_000)),
    id: '6',
    nodes: ['n2', 'n3'],
    ...listings('oar/12-oarstat-fJ-exit3.txt', oarWaits),
  },
  'oar, an hour later': {
    adaptor: oar(queuesOff(30_000)),
    id: '6',
    nodes: ['n2', 'n3'],
    waits: listings('oar/12-oarstat-fJ-exit3.txt', oarWaits).waits,
    over: (argv) => {
      const name = argv.at(-1) === 'job_id = 6' ? '12-oarstat-fJ-exit3' : '12-oarstat-sql-none';
      return recorded(`oar/${name}.txt`);
    },
  },
  sge: {
    adaptor: sge(SGE, tickets('ticket')),
    id: '4',
    nodes: ['n1'],
    waits: () => recorded('sge/ticket.qstat-xml-r.txt'),
    over: ([program]) => {
      return recorded(program === 'qacct' ? 'sge/end.exit3.txt' : 'sge/empty.qstat-xml.txt');
    },
  },
};

class World {
  readonly clock = new VirtualClock();
  readonly jobs = new Map<string, ListedJob>();
  isOver = false;

  async run({ adaptor: { steering, ...adaptor }, waits, over }: Case): Promise<void> {
    assert.ok(steering !== null);
    const run = async ({ argv }: Command): Promise<CommandEnd> => {
      const { stdout, stderr, code } = (this.isOver ? over : waits)(argv);
      const end = { output: stdout, errors: stderr, code, succeeded: code === 0 };
      return { ...end, how: 'it ended', isThere: () => false };
    };
    const settings = { pollMs: POLL_MS, timeoutMs: 1000, before: [] };
    const common = { commands: { run }, log: new KeptLog(), settings };
    const steerer = new Steerer({ ...common, steering: { ...steering, requirements: [] } });
    const nodes = { ...adaptor.nodes, read: () => ({ ok: true, value: [] }) as const };
    const own = { adaptor: { ...adaptor, steering, nodes }, clock: this.clock, steerer };
    const watch = new SiteWatch({ ...common, ...own, mode: 'steer' });
    watch.connect((news: SiteNews) => {
      for (const id of news.gone) this.jobs.delete(id);
      for (const job of news.jobs) this.jobs.set(job.id, job);
    });
    watch.start();
    await this.clock.settle();
  }
}

for (const [name, one] of Object.entries(CASES)) {
  test(`[G3] a job that ends between two listings has its nodes and its end: ${name}`, async () => {
    const world = new World();
    await world.run(one);
    const before = world.jobs.get(one.id);
    assert.deepEqual([before?.state, before?.nodes], ['waiting', []]);
    world.isOver = true;
    await world.clock.advance(2 * POLL_MS);
    const after = world.jobs.get(one.id);
    assert.deepEqual([after?.state, after?.nodes, after?.exit], ['ended', one.nodes, { code: 3 }]);
  });
}
