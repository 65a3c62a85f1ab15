// Jobs as `qstat -xml` lists them: a line for each job that waits, for each slot of one that runs,
// and for each element of an array that runs. Jobs that have ended are in no listing.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteJob, SiteJobState, SiteWhere } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { clockOf, elementsOf, notPlanned, unreadable, wholeIn } from '../read.ts';
import { failure } from './failure.ts';
import { below, childText, type Element, parseXml } from './xml.ts';

export const JOBS_COMMAND = { argv: ['qstat', '-xml', '-u', '*', '-r', '-g', 't'] };

export interface JobWords {
  /** Parallel environments that give one slot on each host. */
  readonly oneSlotPerHost: readonly string[];
  /** One that gives all slots on one host; null: none is known. */
  readonly environment: string | null;
  /** Requests for this complex hold the words that let a job start. */
  readonly ticket: string;
  /** A plan of ours starts what waits, by such words. Absent: jobs need none. */
  readonly needsTicket?: boolean;
}

export function readJobs(
  output: SiteOutput,
  words: JobWords,
): Result<readonly SiteJob[], SiteProblem> {
  if (output.code !== 0) return failure('qstat', output);
  const document = parseXml(output.stdout.trim());
  if (document?.name !== 'job_info') return unreadable('qstat', 'its answer is no whole job_info');
  const parts = document.children;
  const other = parts.flatMap(({ children }) => children).find(({ name }) => name !== 'job_list');
  if (other !== undefined) return unreadable('qstat', `its answer has '${other.name}' for jobs`);
  const jobs = new Map<string, SiteJob>();
  for (const listed of below(document, 'job_list')) {
    const job = jobOf(listed, words);
    if (job === null) return unreadable('qstat', 'a job has no number, owner or state');
    const before = jobs.get(job.id);
    jobs.set(job.id, before === undefined ? job : together(before, job));
  }
  return ok([...jobs.values()]);
}

/**
 * One job of two lines: of its slots, or of elements of an array that wait in different states. As
 * long as one of them may start, the array is not held.
 */
function together(before: SiteJob, job: SiteJob): SiteJob {
  const nodes = [...new Set([...before.nodes, ...job.nodes])];
  const nodeCount = Math.max(nodes.length, job.nodeCount);
  const first = job.state === 'waiting' ? job : before;
  if (before.elements === null || job.elements === null) return { ...before, nodes, nodeCount };
  return { ...first, elements: elementsOf(`${before.elements},${job.elements}`) };
}

function jobOf(listed: Element, words: JobWords): SiteJob | null {
  const number = childText(listed, 'JB_job_number');
  const owner = childText(listed, 'JB_owner');
  const word = childText(listed, 'state');
  if (number === null || !/^\d+$/.test(number) || owner === null || word === null) return null;
  const requests = new Map(
    [...below(listed, 'hard_request')].map((one) => [one.attributes.name ?? '', one.text.trim()]),
  );
  const slots = wholeIn(childText(listed, 'slots')) || 1;
  const tasks = childText(listed, 'tasks');
  const isWaiting = listed.attributes.state === 'pending';
  const [host] = /(?<=@).+$/.exec(childText(listed, 'queue_name') ?? '') ?? [];
  const environment = [...below(listed, 'requested_pe')][0]?.attributes.name ?? '';
  const handle = /^\*(.+)\*$/.exec(requests.get(words.ticket) ?? '')?.[1] ?? null;
  const state = jobStateOf(word);
  return {
    id: tasks === null || isWaiting ? number : `${number}.${tasks}`,
    name: childText(listed, 'full_job_name') ?? childText(listed, 'JB_name') ?? '',
    handle,
    owner,
    word,
    state,
    reason: null,
    queue: queueOf(listed),
    elements: isWaiting && tasks !== null ? elementsOf(tasks) : null,
    submittedAt: instantOf(childText(listed, 'JB_submission_time')),
    startedAt: instantOf(childText(listed, 'JAT_start_time')),
    endedAt: null,
    walltimeMs: clockOf(requests.get('h_rt') ?? ''),
    nodeCount: words.oneSlotPerHost.includes(environment) ? slots : 1,
    cpuCount: slots,
    memoryBytes: null,
    exit: null,
    isExclusive: /^(true|1)$/i.test(requests.get('exclusive') ?? ''),
    nodes: host === undefined ? [] : [host],
    ...(isWaiting ? placing(listed, { state, handle }, words) : {}),
  };
}

const NO_TICKET =
  'it has no ticket, as it was given to Grid Engine before the JSV; submit it again (qresub)';

/** What it wants of its nodes; one that wants what nobody plans is held for that. */
function placing(
  listed: Element,
  { state, handle }: Pick<SiteJob, 'state' | 'handle'>,
  words: JobWords,
): Partial<SiteJob> {
  const { ticket, environment, oneSlotPerHost, needsTicket = false } = words;
  if (!needsTicket) return {};
  const environments = [...oneSlotPerHost, ...(environment === null ? [] : [environment])];
  const where = handle === null ? NO_TICKET : whereOf(listed, { ticket, environments });
  if (where === undefined) return {};
  if (typeof where !== 'string') return { where };
  return state === 'held' ? {} : { state: 'held', reason: where, isHeldByUs: true };
}

function queueOf(listed: Element): string | null {
  const at = childText(listed, 'queue_name') || childText(listed, 'hard_req_queue');
  return at === null || at === '' ? null : at.replace(/@.*$/, '');
}

/**
 * Letters, as qstat(1) has them: d deletion, E error, h hold, r running, R restarted, s and S
 * suspended, t transferring, T threshold, q queued, w waiting.
 */
function jobStateOf(word: string): SiteJobState {
  if (!/^[dEhrRsStTqwPNzo]+$/.test(word)) return 'unknown';
  if (word.includes('d')) return 'completing';
  if (/[hE]/.test(word)) return 'held';
  if (/[sST]/.test(word)) return 'suspended';
  if (word.includes('t')) return 'starting';
  if (word.includes('q')) return 'waiting';
  return word.includes('r') ? 'running' : 'unknown';
}

/** Local time where the command ran; a gateway runs it with TZ=UTC. */
export function instantOf(text: string | null): number | null {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text ?? '')
    ? Date.parse(`${text}Z`)
    : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

// Where the user of a job of Grid Engine wants it to run: what a plan can keep to, and what none of
// ours can.

interface PlannedWords {
  /** Requests for this complex hold the words that let a job start. */
  readonly ticket: string;
  /** Parallel environments that are known. */
  readonly environments: readonly string[];
}

/** Limits that hosts keep, on whichever it runs; and what is read elsewhere. */
const ANYWHERE = /^([hs]_(rt|cpu|vmem|rss|fsize|data|stack|core)|exclusive)$/;
const NAME = /^[A-Za-z0-9_.-]+$/;

/** A string: what no plan of ours keeps to, in words. */
function whereOf(listed: Element, words: PlannedWords): SiteWhere | string | undefined {
  const [parallel] = [...below(listed, 'requested_pe')];
  const environment = parallel?.attributes.name ?? '';
  if (parallel !== undefined && !words.environments.includes(environment)) {
    return notPlanned(`the parallel environment ${environment} (site.environment, site.spread)`);
  }
  if (parallel !== undefined && !/^\d+$/.test(parallel.text.trim())) {
    return notPlanned(`a choice of slots (-pe ${environment} ${parallel.text.trim()})`);
  }
  const [hosts, features]: [string[], string[]] = [[], []];
  for (const { attributes, text } of below(listed, 'hard_request')) {
    const { name = '' } = attributes;
    if (name === words.ticket || ANYWHERE.test(name)) continue;
    if (name === 'arch' && NAME.test(text.trim())) {
      features.push(text.trim());
      continue;
    }
    const named = text.trim().split('|');
    if (name !== 'hostname' || !named.every((one) => NAME.test(one))) {
      return notPlanned(`${name}=${text.trim()} (-l)`);
    }
    hosts.push(...named);
  }
  const queues = [...below(listed, 'hard_req_queue')].map(({ text }) => text.trim());
  const at = queues.map((one) => one.split('@'));
  const [isPlain, isPlaced] = [
    at.every((one) => one.length === 1),
    at.every((one) => one.length === 2),
  ];
  if (!at.flat().every((one) => NAME.test(one)) || !(isPlain || isPlaced)) {
    return notPlanned(`${queues.join(', ')} (-q)`);
  }
  const placed = isPlain ? [] : at.map(([, host = '']) => host);
  const only =
    hosts.length > 0 && placed.length > 0
      ? hosts.filter((one) => placed.includes(one))
      : [...hosts, ...placed];
  const where = {
    ...(hosts.length + placed.length === 0 ? {} : { only }),
    ...(features.length === 0 ? {} : { features }),
    ...(queues.length === 0 ? {} : { queues: at.map(([queue = '']) => queue) }),
  };
  return Object.keys(where).length === 0 ? undefined : where;
}
