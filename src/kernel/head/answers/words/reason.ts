// What is said of why a task waits.

import { formatDuration } from '../../../base/duration.ts';
import { formatInstant } from '../../../base/instant.ts';
import { plural } from '../../../base/plural.ts';
import { formatSize } from '../../../base/size.ts';
import { ROOT_LABEL, userOfLabel } from '../../../model/accounts.ts';
import { capUnit, typeOfKind } from '../../../model/caps.ts';
import type { JobId, UserName } from '../../../model/ids.ts';
import type {
  ArrayLimit,
  Behind,
  ClusterLack,
  GpusApart,
  PoolLimit,
  Reason,
  UserLimit,
  WindowReason,
} from '../../../model/reason.ts';
import { describeRequest } from '../../../model/request-words.ts';
import { DEFAULT_PARTITION } from '../../../model/scheduling.ts';
import { UNKNOWN_END } from '../../../scheduler/room/profile.ts';
import { instantWords, spanWords } from './instants.ts';
import { sayNodes } from './nodes.ts';

/** The reader of a reason, whom the words address, and the time of reading. */
export interface Reader {
  readonly name: UserName | null;
  readonly now: number;
}

/** What follows `it is pending:`. */
export function sayReason(reason: Reason, reader: Reader): string {
  switch (reason.kind) {
    case 'held':
      return sayHeld(reason);
    case 'head_behind':
      return 'the head lacks records that its nodes know of, and starts nothing; `weft info` says more';
    case 'dependency':
      return `waits for ${sayDependencies(reason)}`;
    case 'begin_time':
      return `its begin time is ${formatInstant(reason.at)}`;
    case 'quota':
      return sayLimit(reason.limit, reader);
    case 'partition':
      return sayPartition(reason);
    case 'no_node_can':
      return `needs ${describeRequest(reason.request)}; ${sayTooLarge(reason)}`;
    case 'resources':
      return `needs ${describeRequest(reason.request)}; ${sayShortage(reason)}`;
    case 'cluster_resource':
      return sayClusterLack(reason.lack);
    case 'pilots':
      return sayPilots(reason);
    case 'priority':
      return sayBehind(reason.behind, reader.now);
    default:
      return sayWindow(reason);
  }
}

type Of<K extends Reason['kind']> = Extract<Reason, { kind: K }>;

function sayHeld(reason: Of<'held'>): string {
  if ('there' in reason) {
    const { site, job, because } = reason.there;
    const words = `held at ${site}, as job ${job} there`;
    return because === null ? `${words}, where it can be released` : `${words}: ${because}`;
  }
  const { jobId, because } = reason;
  const release = `\`weft release ${jobId ?? 'JOB'}\``;
  return because === null ? `held; ${release} lets it start` : `${because}; ${release} tries again`;
}

const CONDITIONS = {
  ok: 'to complete',
  any: 'to end',
  fail: 'to fail',
  each: 'to complete',
  start: 'to start',
} as const;

function sayDependencies(reason: Of<'dependency'>): string {
  const { held = [] } = reason;
  const release = `\`weft release ${held.join(' ')}\``;
  const words = sayAwaited(reason);
  if (held.length === 0) return words;
  const [who, them] =
    held.length === 1
      ? [`job ${held[0]} is held`, 'it']
      : [`jobs ${held.join(' and ')} are held`, 'them'];
  return `${words}; ${who}: ${release} lets ${them} start`;
}

function sayAwaited(reason: Of<'dependency'>): string {
  if ('on' in reason) {
    const jobs = reason.on.map(({ jobId, condition, delayMs = 0, over }) => {
      if (over !== undefined && delayMs > 0) {
        const after = `${formatDuration(delayMs)} after the ${over.since} of job ${jobId}`;
        return `${formatInstant(over.at)}, ${after}`;
      }
      const then = delayMs === 0 ? '' : `, and then for ${formatDuration(delayMs)}`;
      return `job ${jobId} ${CONDITIONS[condition]}${then}`;
    });
    return jobs.join(', ');
  }
  const task = (job: JobId): string => `${job}[${reason.index}]`;
  return `task ${reason.arrays.map(task).join(' and ')} to complete`;
}

function sayLimit(limit: ArrayLimit | PoolLimit | UserLimit, reader: Reader): string {
  const { max } = limit;
  if (limit.of === 'pool') {
    const { running } = limit;
    const words = `its pool asks for ${plural(max, 'worker')} at present`;
    return `${words}; ${running} ${running === 1 ? 'is' : 'are'} running`;
  }
  if (limit.of === 'array') {
    const { running } = limit;
    const words = `this array runs at most ${plural(max, 'task')} at once (%${max})`;
    return `${words}; ${running} ${running === 1 ? 'is' : 'are'} running`;
  }
  const { user, what, held, of, name } = limit;
  const subject = user === reader.name ? 'you run' : `${user} runs`;
  const amount = amountOf(what, held);
  if (of === 'group') {
    const cap = `the cap of group ${name} together is ${countOf(what, max)}`;
    if (held === 0) return `${cap} in the whole cluster, less than this asks for`;
    return `group ${name} runs ${amount}; ${cap} in the whole cluster`;
  }
  if (of === 'user') {
    const whose = user === reader.name ? 'your' : `${user}'s`;
    if (held === 0) {
      return `${whose} cap is ${countOf(what, max)} in the whole cluster, less than this asks for`;
    }
    const type = typeOfKind(what);
    const cap = `${subject} ${amount}; ${whose} cap is ${max} in the whole cluster`;
    return type === null ? cap : `${cap} (what may be given any type counts, too)`;
  }
  const where = of === 'partition' ? `in partition ${name}` : `under QoS ${name}`;
  return `${subject} ${amount} ${where}; the limit is ${max} per user`;
}

function amountOf(what: UserLimit['what'], held: number): string {
  return what === 'tasks' ? countOf(what, held) : `tasks with ${countOf(what, held)}`;
}

function countOf(what: UserLimit['what'], count: number): string {
  return plural(count, what === 'tasks' ? 'task' : capUnit(what));
}

function sayPartition({ partition, problem }: Of<'partition'>): string {
  if (problem === 'empty') return `partition ${partition} has no nodes`;
  if (problem === 'gone') {
    return `partition ${partition} is no longer in the config; the job waits until it is back`;
  }
  if (problem === 'external') {
    return `there is room; partition ${partition} is run by an external scheduler (policy external), which has not started it yet`;
  }
  return `partition ${partition} is ${problem} and starts no jobs`;
}

function sayTooLarge(reason: Of<'no_node_can'>): string {
  const { partition, able, outdated, request, site, gone = [] } = reason;
  if (outdated !== null) return `${sayNodes(outdated)}; update it there`;
  if (gone.length > 0) {
    return `${gone.join(', ')} ${gone.length === 1 ? 'is' : 'are'} not in the cluster any more`;
  }
  const where = partition === DEFAULT_PARTITION ? '' : ` of partition ${partition}`;
  const few = able === 0 ? 'no node' : `only ${plural(able, 'node')}`;
  const others = request.labels.filter((label) => label.startsWith('!pilot='));
  const names = others.map((label) => label.slice('!pilot='.length)).join(', ');
  const whose = names === '' ? '' : `; pilots of ${names} run only the work of who started them`;
  if (able === 0 && request.labels.includes(ROOT_LABEL)) {
    return `no node${where} that runs jobs of root is large enough; nodes that switch users run none`;
  }
  const user = request.labels.map(userOfLabel).find((one) => one !== null);
  if (able === 0 && user !== undefined) {
    return `no node${where} that takes jobs of ${user} is large enough; owners of machines say of whom theirs take jobs`;
  }
  const single = site === undefined ? '' : `; ${saySize(site)}`;
  return `${few}${where} ${able <= 1 ? 'is' : 'are'} large enough${single}${whose}`;
}

function saySize({ name, largest }: NonNullable<Of<'no_node_can'>['site']>): string {
  const { cpuCount, memoryBytes } = largest;
  const memory = memoryBytes === null ? '' : ` and ${formatSize(memoryBytes)} memory`;
  return `the largest node of site ${name} has ${plural(cpuCount, 'cpu')}${memory}`;
}

function sayShortage({ nodes, room, apart }: Of<'resources'>): string {
  const lacking = sayNodes(nodes);
  const words = apart === undefined ? lacking : `${lacking}; ${sayApart(apart)}`;
  if (room === null) return words;
  const count = room === 1 ? 'only 1 node has' : `only ${room} nodes have`;
  return words === '' ? `${count} room` : `${count} room; ${words}`;
}

function sayApart({ count, words, unjoined }: GpusApart): string {
  const how = unjoined === undefined ? 'on different nodes' : 'not joined with each other';
  return `${count} ${words} are free, but ${how}`;
}

function sayClusterLack({ name, asked, total, used, holders }: ClusterLack): string {
  const wish = `asks for ${asked} ${name}`;
  if (asked > total) return `${wish}; the cluster has ${total}, by \`cluster.resources\``;
  const free = Math.max(0, total - used);
  const who = holders.length === 1 ? 'job' : 'jobs';
  const held = `${who} ${holders.join(', ')} ${holders.length === 1 ? 'has' : 'have'} the others`;
  return `${wish}; ${free} of the cluster's ${total} ${free === 1 ? 'is' : 'are'} free, ${held}`;
}

function sayBehind(behind: Behind | null, now: number): string {
  if (behind === null) return 'other tasks are ahead of it in the queue';
  if (behind.kind === 'turn') {
    return `job ${behind.jobId} is ahead of it, and this partition starts jobs in order (fifo)`;
  }
  const when =
    behind.at >= UNKNOWN_END
      ? 'when tasks without a time limit have ended'
      : `at ${instantWords(behind.at, now)}`;
  return `the free nodes are kept for job ${behind.jobId}, which starts ${when}`;
}

function sayPilots({ fleet, trouble, isPaused }: Of<'pilots'>): string {
  if (trouble === null) return `waits for pilots of fleet ${fleet}`;
  const again = isPaused ? `; \`weft pilot scale ${fleet}\` tries again` : '';
  return `waits for pilots of fleet ${fleet}, which failed to start: ${trouble}${again}`;
}

/** A pilot is gone at its end: nothing is to be hoped for after it. */
function sayNodeEnd(reason: WindowReason): string {
  if (reason.problem !== 'would_run_into') return `pilot ${reason.name} is about to end`;
  const subject = reason.hasLimit ? 'it' : 'it has no time limit and';
  return `${subject} could outlast pilot ${reason.name}, which ends in ${spanWords(reason.startsInMs)}`;
}

export function sayWindow(reason: WindowReason): string {
  if (reason.kind === 'node_end') return sayNodeEnd(reason);
  const title = `${reason.kind} ${reason.name}`;
  switch (reason.problem) {
    case 'begun':
      return `waits for ${title} on ${reason.node} to end in ${spanWords(reason.endsInMs)}`;
    case 'would_run_into': {
      const subject = reason.hasLimit ? 'it' : 'it has no time limit and';
      const when = `which starts in ${spanWords(reason.startsInMs)}`;
      return `${subject} could run into ${title} on ${reason.node}, ${when}`;
    }
    case 'unfit':
      return `it cannot run in ${title}: ${reason.what}`;
    case 'over':
      return `${title} is over`;
    case 'not_begun':
      return `${title} starts in ${spanWords(reason.startsInMs)}`;
    default: {
      const { endsInMs, walltimeMs } = reason;
      const limit =
        walltimeMs === null
          ? 'the job has no time limit'
          : `the time limit of the job is ${formatDuration(walltimeMs)}`;
      return `${title} ends in ${spanWords(endsInMs)}; ${limit}`;
    }
  }
}
