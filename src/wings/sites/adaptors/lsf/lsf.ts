// IBM Spectrum LSF 10.1, by its own commands. Its forms are read from its documents and from what
// others say that they got, never from a real one: docs/sites/lsf.md.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import { quoteWord } from '../../../../kernel/base/shell-word.ts';
import type { SiteNode, SiteNodeState, SiteQueue } from '../../../../kernel/model/site.ts';
import type {
  Adaptor,
  NodeSwitch,
  SiteCommand,
  SiteOutput,
  SiteProblem,
  SiteQuery,
  SiteSubmission,
} from '../adaptor.ts';
import { namedIn, saidBy, siteProblem, unreadable } from '../read.ts';
import { failure } from './failure.ts';
import { JOBS_COMMAND, readJobs } from './jobs.ts';
import { countOf, type Fields, fieldOf, recordsIn } from './records.ts';

const MIB = 1_048_576;
const JOBS = { command: JOBS_COMMAND, read: readJobs };

export function lsf(): Adaptor {
  return {
    system: 'lsf',
    variables: ['LSF_*', 'LSB_*', 'EGO_*'],
    jobs: JOBS,
    nodes: { command: NODES_COMMAND, read: readNodes },
    queues: { command: QUEUES_COMMAND, read: readQueues },
    submit,
    named: (name) => namedIn(JOBS, name, (id) => id.replace(/\[.*$/, '')),
    cancel: (job) => ({ command: { argv: ['bkill', job] }, read: readCancelled }),
    // Listings have what has ended for CLEAN_PERIOD, an hour.
    end: null,
    known,
    element: (array, index) => `${array}[${index}]`,
    setNode,
    steering: null,
  };
}

function submit(job: SiteSubmission): SiteQuery<string> {
  const { queue, account, walltimeMs, memoryBytes, nodeCount, cpuCount } = job;
  const span = nodeCount > 1 ? `span[ptile=${cpuCount}]` : 'span[hosts=1]';
  const memory = memoryBytes === null ? '' : `rusage[mem=${Math.ceil(memoryBytes / MIB)}MB] `;
  const argv = [
    ...['bsub', '-J', job.name, '-rn', '-env', 'none', '-cwd', job.directory],
    ...['-o', job.stdout, '-e', job.stderr, '-n', String(nodeCount * cpuCount)],
    ...['-R', `${memory}${span}`],
    ...(walltimeMs === null ? [] : ['-W', String(Math.ceil(walltimeMs / 60_000))]),
    ...(queue === null ? [] : ['-q', queue]),
    ...(account === null ? [] : ['-P', account]),
    ...job.options,
    // A script on its standard input would be searched for options, wherever they stand in it.
    `sh ${quoteWord(job.scriptFile)}`,
  ];
  return { command: { argv }, read: readSubmitted };
}

/** `Job <31> is submitted to default queue <normal>.`, behind what a site's own checks say. */
function readSubmitted(output: SiteOutput): Result<string, SiteProblem> {
  if (output.code !== 0) return failure('bsub', output);
  const [, id] =
    /^Job <(\d+)> is submitted to (?:default )?queue <\S+>\.?\s*$/m.exec(output.stdout) ?? [];
  return id === undefined ? unreadable('bsub', 'its answer has no job id') : ok(id);
}

const NOT_FOUND = /Job <\S+> is not found/;

/** Asks whether LSF knows a job: its exit code depends on lsf.conf, its words do not. */
function known(job: string): SiteQuery<boolean> {
  return {
    command: { argv: ['bjobs', '-u', 'all', '-a', '-o', 'jobid stat', '-json', job] },
    read(output) {
      const isHeard = output.code === 0 || output.code === 255;
      if (isHeard && NOT_FOUND.test(`${output.stdout}${output.stderr}`)) return ok(false);
      const records = recordsIn('bjobs', 'JOBS', output);
      return records.ok ? ok(records.value.length > 0) : records;
    },
  };
}

function readCancelled(output: SiteOutput): Result<null, SiteProblem> {
  if (output.code === 0) return ok(null);
  const words = saidBy(output);
  if (output.code !== null && /no matching job found|job has already finished/i.test(words)) {
    return siteProblem('no_such_job', `bkill: ${words}`);
  }
  return failure('bkill', output);
}

function setNode(change: NodeSwitch): readonly SiteCommand[] {
  if (change.kind === 'restore') return [{ argv: ['badmin', 'hopen', change.node] }];
  const comment = change.reason === '' ? [] : ['-C', change.reason];
  return [{ argv: ['badmin', 'hclose', ...comment, change.node] }];
}

// Hosts as `bhosts -json` lists them, queues as `bqueues -json` does. A cpu is one of their slots.

const NODES_COMMAND = { argv: ['bhosts', '-o', 'host_name status max njobs', '-json'] };
const QUEUES_COMMAND = { argv: ['bqueues', '-o', 'queue_name status', '-json'] };

function readNodes(output: SiteOutput): Result<readonly SiteNode[], SiteProblem> {
  const records = recordsIn('bhosts', 'HOSTS', output);
  if (!records.ok) return records;
  const nodes = records.value.map(nodeOf);
  const known = nodes.filter((node) => node !== null);
  if (known.length === nodes.length && known.length > 0) return ok(known);
  return unreadable('bhosts', 'a host has no HOST_NAME and STATUS, or it lists none');
}

function nodeOf(fields: Fields): SiteNode | null {
  const [name, word] = [fieldOf(fields, 'HOST_NAME'), fieldOf(fields, 'STATUS')];
  if (name === null || word === null || !/^\S+$/.test(name)) return null;
  const [cpuCount, cpusUsed] = [countOf(fields, 'MAX') ?? 0, countOf(fields, 'NJOBS') ?? 0];
  return {
    name,
    state: nodeStateOf(word, { cpusUsed, cpuCount }),
    word,
    reason: null,
    cpuCount,
    cpusUsed,
    memoryBytes: null,
    memoryFreeBytes: null,
    features: [],
    queues: [],
  };
}

/** Closed by what runs there. */
const BUSY = ['closed_Full', 'closed_Excl', 'closed_cu_Excl', 'closed_Busy'];

function nodeStateOf(
  word: string,
  node: { readonly cpusUsed: number; readonly cpuCount: number },
): SiteNodeState {
  if (word === 'unavail' || word === 'unreach') return 'down';
  if (BUSY.includes(word)) return 'busy';
  if (word.startsWith('closed')) return 'stopped';
  if (word !== 'ok') return 'unknown';
  if (node.cpusUsed === 0) return 'idle';
  return node.cpusUsed >= node.cpuCount ? 'busy' : 'running';
}

function readQueues(output: SiteOutput): Result<readonly SiteQueue[], SiteProblem> {
  const records = recordsIn('bqueues', 'QUEUES', output);
  if (!records.ok) return records;
  const queues = records.value.map(queueOf);
  const known = queues.filter((queue) => queue !== null);
  if (known.length === queues.length) return ok(known);
  return unreadable('bqueues', 'a queue has no QUEUE_NAME and STATUS');
}

/** `Open:Active`, `Closed:Inact_Adm`. */
function queueOf(fields: Fields): SiteQueue | null {
  const [name, status] = [fieldOf(fields, 'QUEUE_NAME'), fieldOf(fields, 'STATUS')];
  const [, open, active] = /^(\w+):(\w+)$/.exec(status ?? '') ?? [];
  if (name === null || open === undefined) return null;
  const isStarted = active === 'Active';
  return { name, isOpen: open === 'Open', isStarted, walltimeMaxMs: null, nodes: [] };
}
