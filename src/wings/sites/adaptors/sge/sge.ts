// Grid Engine (Son of Grid Engine 8.1 and its relatives), by its own commands.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import { parseSize } from '../../../../kernel/base/size.ts';
import type { SiteNode, SiteNodeState, SiteQueue } from '../../../../kernel/model/site.ts';
import type {
  Adaptor,
  SiteOutput,
  SiteProblem,
  SiteQuery,
  SiteSubmission,
  Steering,
} from '../adaptor.ts';
import { namedIn, saidBy, siteProblem, unreadable, wholeIn } from '../read.ts';
import { endCommand, readEnd, readEnds } from './accounting.ts';
import { failure } from './failure.ts';
import { JOBS_COMMAND, type JobWords, readJobs } from './jobs.ts';
import { below, childText, type Element, parseXml } from './xml.ts';

export interface SgeSettings extends JobWords {
  /** Queue whose instances are switched off and on with their hosts. */
  readonly queue: string;
}

export function sge(settings: SgeSettings, steering: Steering | null): Adaptor {
  const words = { ...settings, needsTicket: steering?.needsHandle === true };
  const read = (output: SiteOutput) => readJobs(output, words);
  const jobs = { command: JOBS_COMMAND, read };
  const isOnOneHost = !settings.oneSlotPerHost.includes(settings.environment ?? '');
  const environment = isOnOneHost ? settings.environment : null;
  return {
    system: 'sge',
    variables: ['SGE_*'],
    jobs,
    nodes: { command: NODES_COMMAND, read: readNodes },
    queues: { command: QUEUES_COMMAND, read: readQueues },
    submit: (job) => submit(job, settings),
    // Only jobs that have not ended have a name in a listing. An array is one job with its
    // elements.
    named: (name) => namedIn(jobs, name, (id) => id.replace(/\..*$/, '')),
    cancel: (job) => ({ command: { argv: cancelArgv(job) }, read: readCancelled }),
    end: (job) => ({ command: endCommand(job), read: (output) => readEnd(output, environment) }),
    ends: (array) => ({
      command: endCommand(array),
      read: (output) => readEnds(output, environment),
    }),
    known,
    element: (array, index) => `${array}.${index}`,
    setNode: ({ kind, node, parts = [settings.queue] }) => [
      { argv: ['qmod', kind === 'stop' ? '-d' : '-e', ...parts.map((one) => `${one}@${node}`)] },
    ],
    steering,
  };
}

function submit(job: SiteSubmission, { environment }: SgeSettings): SiteQuery<string> {
  const { queue, account, walltimeMs, nodeCount } = job;
  const slots = nodeCount > 1 ? nodeCount : job.cpuCount;
  const argv = [
    ...['qsub', '-terse', '-r', 'n', '-S', '/bin/sh', '-N', job.name, '-wd', job.directory],
    ...['-o', job.stdout, '-e', job.stderr],
    ...(queue === null ? [] : ['-q', queue]),
    ...(account === null ? [] : ['-A', account]),
    ...(walltimeMs === null ? [] : ['-l', `h_rt=${Math.ceil(walltimeMs / 1000)}`]),
    ...(slots > 1 && environment !== null ? ['-pe', environment, String(slots)] : []),
    ...job.options,
  ];
  return { command: { argv, input: job.script }, read: readSubmitted };
}

/** `45`, or of an array `48.1-4:1`. */
function readSubmitted(output: SiteOutput): Result<string, SiteProblem> {
  if (output.code !== 0) return failure('qsub', output);
  const [, id] = /^(\d+)(?:\.\S+)?$/m.exec(output.stdout) ?? [];
  return id === undefined ? unreadable('qsub', 'its answer has no job number') : ok(id);
}

function known(job: string): SiteQuery<boolean> {
  const [number = job] = job.split('.');
  return {
    command: { argv: ['qstat', '-j', number] },
    read(output) {
      if (/following jobs do not exist/i.test(saidBy(output))) return ok(false);
      return output.code === 0 ? ok(true) : failure('qstat', output);
    },
  };
}

function cancelArgv(job: string): string[] {
  const [number = job, task] = job.split('.');
  return ['qdel', number, ...(task === undefined ? [] : ['-t', task])];
}

function readCancelled(output: SiteOutput): Result<null, SiteProblem> {
  if (output.code === 0) return ok(null);
  const words = saidBy(output);
  if (/job "\S+" does not exist/.test(words)) return siteProblem('no_such_job', `qdel: ${words}`);
  return failure('qdel', output);
}

// Hosts as `qhost` lists them, with their queue instances; cluster queues as `qstat -g c` does.

const NODES_COMMAND = { argv: ['qhost', '-q', '-xml'] };
const QUEUES_COMMAND = { argv: ['qstat', '-g', 'c', '-xml'] };

function readNodes(output: SiteOutput): Result<readonly SiteNode[], SiteProblem> {
  if (output.code !== 0) return failure('qhost', output);
  const document = parseXml(output.stdout.trim());
  if (document?.name !== 'qhost') return unreadable('qhost', 'its answer is no whole qhost');
  const hosts = [...below(document, 'host')].filter(
    ({ attributes }) => attributes.name !== 'global',
  );
  return ok(hosts.map(nodeOf));
}

interface Instance {
  readonly name: string;
  readonly slots: number;
  readonly used: number;
  /** Letters, as qhost(1) has them. */
  readonly state: string;
}

function nodeOf(host: Element): SiteNode {
  const values = valuesOf(host, 'hostvalue');
  const instances = [...below(host, 'queue')].map(instanceOf);
  const memory = sizeOf(values.get('mem_total'));
  const used = sizeOf(values.get('mem_used'));
  const cpuCount = Math.max(0, ...instances.map(({ slots }) => slots));
  const letters = instances.map(({ state }) => state).join('');
  const cpusUsed = instances.reduce((sum, one) => sum + one.used, 0);
  return {
    name: host.attributes.name ?? '',
    state: nodeStateOf(letters, { isHeard: memory !== null, cpusUsed, cpuCount }),
    word: letters === '' ? 'no letter' : letters,
    reason: null,
    cpuCount,
    cpusUsed,
    memoryBytes: memory,
    memoryFreeBytes: memory === null || used === null ? null : Math.max(0, memory - used),
    features: [values.get('arch_string') ?? ''].filter((word) => word !== '' && word !== '-'),
    queues: instances.map(({ name }) => name),
    parts: instances.map((one) => ({ name: one.name, isOpen: !one.state.includes('d') })),
  };
}

function valuesOf(element: Element, name: string): Map<string, string> {
  const values = element.children.filter((child) => child.name === name);
  return new Map(values.map((one) => [one.attributes.name ?? '', one.text.trim()]));
}

function instanceOf(queue: Element): Instance {
  const values = valuesOf(queue, 'queuevalue');
  return {
    name: queue.attributes.name ?? '',
    slots: wholeIn(values.get('slots')) ?? 0,
    used: wholeIn(values.get('slots_used')) ?? 0,
    state: values.get('state_string') ?? '',
  };
}

/** `23.5G`, where G are 2^30; `-` of a host that does not report. */
function sizeOf(text: string | undefined): number | null {
  const size = parseSize(text === '0.0' ? '0' : (text ?? ''));
  return size.ok ? size.value : null;
}

/** u unknown, E error, d and D disabled, s, S and C suspended, a and A over a load threshold. */
function nodeStateOf(
  letters: string,
  host: { readonly isHeard: boolean; readonly cpusUsed: number; readonly cpuCount: number },
): SiteNodeState {
  if (/[^uEdDsSCaAoPc]/.test(letters)) return 'unknown';
  if (!host.isHeard || letters.includes('u')) return 'down';
  if (/[EdDsSC]/.test(letters)) return 'stopped';
  if (host.cpusUsed >= host.cpuCount) return 'busy';
  return host.cpusUsed > 0 ? 'running' : 'idle';
}

function readQueues(output: SiteOutput): Result<readonly SiteQueue[], SiteProblem> {
  if (output.code !== 0) return failure('qstat', output);
  const document = parseXml(output.stdout.trim());
  if (document?.name !== 'job_info') return unreadable('qstat', 'its answer is no whole job_info');
  const queues = [...below(document, 'cluster_queue_summary')].map((queue) => ({
    name: childText(queue, 'name') ?? '',
    isOpen: true,
    isStarted: (Number(childText(queue, 'available') ?? '0') || 0) > 0,
    walltimeMaxMs: null,
    nodes: [],
  }));
  return ok(queues);
}
