// What a gateway's look at a large site costs: CPU of one poll cycle over 10,000 jobs and 1,000
// nodes, whose listings are files made of what a real Slurm said, printed by `cat`.
//
//   node bench/foreign-poll.ts JOBS NODES

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SiteNews } from '../src/kernel/model/site.ts';
import { systemCommands } from '../src/kernel/os/commands.ts';
import { encode } from '../src/kernel/wire/codec.ts';
import type { Adaptor } from '../src/wings/sites/adaptors/adaptor.ts';
import { slurm } from '../src/wings/sites/adaptors/slurm/slurm.ts';
import { SiteWatch } from '../src/wings/sites/fabric/site/site-watch.ts';
import { figure } from './cluster.ts';
import { quietLog, realClock } from './support.ts';

const [JOBS = 10_000, NODES = 1000] = process.argv.slice(2).map(Number);
const CYCLES = 10;
/** Jobs in a hundred that change their state from one cycle to the next. */
const CHANGED = 5;
const POLL_MS = 500;

type Listing = Readonly<Record<string, unknown>> &
  Record<'jobs' | 'nodes', Record<string, unknown>[]>;

function recorded(name: string): Listing {
  const file = join(import.meta.dirname, '../test/recorded/slurm', name);
  const text = readFileSync(file, 'utf8');
  return JSON.parse(text.slice(text.indexOf('\n') + 1)) as Listing;
}

const folder = mkdtempSync(join(tmpdir(), 'weft-foreign-'));
const [jobsFile, nodesFile] = [join(folder, 'jobs'), join(folder, 'nodes')];

/** Each as the real one, under an id and a name of its own. */
function writeJobs(cycle: number): void {
  const listing = recorded('running.squeue-json.txt');
  const real = listing.jobs.filter(({ array_job_id: array }) => array === 0);
  const jobs = Array.from({ length: JOBS }, (_, at) => {
    const job = { ...real[at % real.length], job_id: at + 1, name: `job ${at}` };
    return at % 100 < CHANGED ? { ...job, state_reason: `cycle ${cycle}` } : job;
  });
  writeFileSync(jobsFile, JSON.stringify({ ...listing, jobs }, null, 2));
}

function writeNodes(): void {
  const listing = recorded('running.sinfo-json.txt');
  const nodes = Array.from({ length: NODES }, (_, at) => {
    return { ...listing.nodes[at % listing.nodes.length], name: `n${at + 1}` };
  });
  writeFileSync(nodesFile, JSON.stringify({ ...listing, nodes }, null, 2));
}

const real = slurm(null);
const adaptor: Adaptor = {
  ...real,
  jobs: { ...real.jobs, command: { argv: ['cat', jobsFile] } },
  nodes: { ...real.nodes, command: { argv: ['cat', nodesFile] } },
  queues: {
    command: { argv: ['true'] },
    read: () => ({ ok: true, value: [] }),
  },
};

/** The news of one cycle, all of it. */
function nextNews(): Promise<{ jobs: number; bytes: number }> {
  return new Promise((resolve) => {
    let [jobs, bytes] = [0, 0];
    onNews = (news) => {
      jobs += news.jobs.length;
      bytes += encode({ kind: 'site', news }).length;
      if (news.isLast) resolve({ jobs, bytes });
    };
  });
}

let onNews: (news: SiteNews) => void = () => undefined;
writeJobs(0);
writeNodes();
const settings = { pollMs: POLL_MS, timeoutMs: 60_000, before: [] };
const common = { clock: realClock, log: quietLog, mode: 'submit', steerer: null } as const;
const watch = new SiteWatch({ ...common, adaptor, commands: systemCommands, settings });
watch.connect((news) => onNews(news));
try {
  const took: number[] = [];
  let told = nextNews();
  let before = process.cpuUsage();
  watch.start();
  for (let cycle = 0; cycle <= CYCLES; cycle += 1) {
    const { jobs, bytes } = await told;
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1000;
    if (cycle === 0) figure('the first cycle, everything told', 'ms of CPU', [ms], { jobs, bytes });
    else took.push(ms);
    // Written while nobody looks: it is the bench's own work.
    writeJobs(cycle + 1);
    told = nextNews();
    before = process.cpuUsage();
  }
  const load = loadavg().map((one) => Number(one.toFixed(1)));
  const bytes = readFileSync(jobsFile).length + readFileSync(nodesFile).length;
  const more = { asked: 1000, listingMiB: Number((bytes / 1_048_576).toFixed(1)), load };
  figure(`a poll cycle of ${JOBS} jobs and ${NODES} nodes`, 'ms of CPU', took, more);
} finally {
  watch.close();
  rmSync(folder, { recursive: true });
}
