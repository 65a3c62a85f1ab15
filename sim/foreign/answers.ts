// The commands of the simulated batch system, run on its own server: what each does there, and
// says.

import { IntervalSet } from '../../src/kernel/base/interval-set.ts';
import type { SiteEnd, SiteJob, SiteNode, SiteQueue } from '../../src/kernel/model/site.ts';
import type { Said } from './adaptor.ts';
import type { ForeignSystem } from './system.ts';
import { type SystemJob, type SystemNode, ticketOf } from './system-job.ts';

/** What has come to it. */
export interface Heard {
  /** Without the name of the program. */
  readonly words: readonly string[];
  readonly input: string;
  /** In true time. */
  readonly sentAt: number;
}

export function answer(system: ForeignSystem, { words, input, sentAt }: Heard): Said {
  const [word, first = '', second = '', third = '', fourth = ''] = words;
  switch (word) {
    case 'jobs':
      return { value: listed(system).map((job) => jobOf(system, job)) };
    case 'nodes':
      return { value: system.nodes.map((node) => nodeOf(system, node)) };
    case 'queues':
      return { value: queuesOf(system) };
    case 'submit':
      return { value: submitted(system, { first, second, third, fourth, input }) };
    case 'named': {
      const known = [...system.jobs.values()].filter((one) => !one.isPurged);
      return { value: known.filter(({ name }) => name === first).map(({ id }) => id) };
    }
    case 'cancel':
      return saidOf(system.cancel(first));
    case 'end':
      return { value: siteEndOf(system.jobs.get(first)) };
    case 'known':
      return { value: system.knows(first) };
    case 'quiet':
      return { value: !system.isScheduling };
    case 'start':
      return saidOf(system.order(first, second.split(','), sentAt));
    case 'take-back':
      return saidOf(system.takeBack(first));
    case 'keep':
      return saidOf(system.keep(first, true, ''));
    case 'let':
      return saidOf(system.keep(first, false, second));
    case 'ticket':
      return saidOf(setTicket(system, first, second));
    case 'pass':
      system.pass(sentAt);
      return { value: null };
    case 'kept':
      return { value: keptArrays(system) };
    case 'opened':
      return { value: system.nodes.flatMap(({ name, ticket }) => (ticket === null ? [] : [name])) };
    case 'node':
      return saidOf(setNode(system, first, second));
    default:
      return { problem: 'refused', text: `no such command: ${word}` };
  }
}

function saidOf(refusal: string | null): Said {
  if (refusal === null) return { value: null };
  const problem = refusal === 'no such job' ? 'no_such_job' : 'refused';
  return { problem, text: refusal };
}

function submitted(
  system: ForeignSystem,
  of: { first: string; second: string; third: string; fourth: string; input: string },
): string {
  const { first: name, second: directory, third, fourth, input: script } = of;
  const walltimeMs = fourth === 'null' ? null : Number(fourth);
  const size = { nodeCount: 1, cpuCount: Number(third), walltimeMs, runMs: 0, code: 0 };
  return system.submit({ ...size, name, owner: 'weft', directory, script }).id;
}

function listed(system: ForeignSystem): SystemJob[] {
  const { now } = system.world.time;
  return [...system.jobs.values()].filter((one) => {
    // Of an array nothing is left of which no element waits, or was called off while it did.
    return !one.isPurged && one.hiddenUntil <= now && one.waits?.size !== 0;
  });
}

function jobOf({ hasTickets }: ForeignSystem, job: SystemJob): SiteJob {
  const { id, name, owner, word, nodes, exit, walltimeMs, nodeCount, cpuCount } = job;
  const { submittedAt, startedAt, endedAt, waits, kept, only } = job;
  const elements = waits === null ? null : elementsOf(waits);
  const isKept = job.state === 'waiting' && waits?.size !== 0 && waits?.isSubsetOf(kept) === true;
  const state = isKept ? 'held' : job.state;
  const handle = hasTickets ? ticketOf(job) : null;
  return {
    id,
    handle,
    name,
    owner,
    state,
    word,
    reason: null,
    queue: 'all',
    elements,
    submittedAt,
    startedAt,
    endedAt,
    walltimeMs,
    nodeCount,
    cpuCount: cpuCount * nodeCount,
    memoryBytes: null,
    isExclusive: false,
    nodes,
    exit,
    ...(only === null ? {} : { where: { only } }),
  };
}

function elementsOf(waits: ReadonlySet<number>): string {
  return IntervalSet.of([...waits].sort((a, b) => a - b).map((one) => [one, one])).toString();
}

function nodeOf(system: ForeignSystem, node: SystemNode): SiteNode {
  const { name, cpuCount, isUp, stopped } = node;
  const cpusUsed = system.cpusUsed(name);
  const used = cpusUsed > 0 ? 'running' : 'idle';
  const state = !isUp ? 'down' : stopped === null ? used : 'stopped';
  return {
    name,
    state,
    word: state.toUpperCase(),
    reason: stopped,
    cpuCount,
    cpusUsed,
    memoryBytes: null,
    memoryFreeBytes: null,
    features: [],
    queues: ['all'],
    parts: [{ name, isOpen: stopped === null }],
  };
}

function queuesOf({ isScheduling, hasQueue }: ForeignSystem): SiteQueue[] {
  const common = { isOpen: true, walltimeMaxMs: null, nodes: [] };
  const all = { name: 'all', isStarted: isScheduling, ...common };
  return hasQueue ? [all, { name: 'run', isStarted: true, ...common }] : [all];
}

/** Accounting: a record of each end, for ever. */
function siteEndOf(job: SystemJob | undefined): SiteEnd | null {
  if (job?.exit == null || job.endedAt === null) return null;
  const { startedAt, endedAt, exit, word } = job;
  return { startedAt, endedAt, exit, reason: word === 'DONE' ? null : word };
}

/** @param ticket empty: it is closed */
function setTicket(system: ForeignSystem, name: string, ticket: string): string | null {
  const node = system.nodes.find((one) => one.name === name);
  if (node === undefined) return `no node ${name}`;
  node.ticket = ticket === '' ? null : ticket;
  return null;
}

function keptArrays({ jobs }: ForeignSystem): string[] {
  return [...jobs.values()].flatMap((job) => (job.isPurged || job.kept.size === 0 ? [] : [job.id]));
}

/** @param why empty: it is given back */
function setNode(system: ForeignSystem, name: string, why: string): string | null {
  const node = system.nodes.find((one) => one.name === name);
  if (node === undefined) return `no node ${name}`;
  node.stopped = why === '' ? null : why;
  node.changedAt = system.world.time.now;
  if (node.wishedAt > node.seenAt) node.isOverlooked = true;
  system.world.note(`${system.world.site}: ${name} ${why === '' ? 'is back' : `stops: ${why}`}`);
  return null;
}
