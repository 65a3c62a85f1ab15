// Jobs, nodes and partitions as `weft … -o json` prints them. A newer release may say more, so that
// what is not known here is left alone.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import { parseTaskId } from '../../../../kernel/model/ids.ts';
import type { ExitStatus, OutcomeKind } from '../../../../kernel/model/job.ts';
import type {
  SiteEnd,
  SiteJob,
  SiteJobState,
  SiteNode,
  SiteNodeState,
  SiteQueue,
} from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { exactOf, isRecord, parseJson, recordsOf, textOf, unreadable, wholeOf } from '../read.ts';
import { failure } from './failure.ts';

type View = Readonly<Record<string, unknown>>;

const JOB_STATES: Readonly<Record<string, SiteJobState>> = {
  pending: 'waiting',
  staging_in: 'starting',
  starting: 'starting',
  running: 'running',
  suspended: 'suspended',
  staging_out: 'completing',
  completing: 'completing',
  done: 'ended',
};

/** Outcomes that a process has decided; of others nobody knows what it had done by then. */
const DECIDED: readonly OutcomeKind[] = [
  ...(['completed', 'failed', 'cancelled', 'timeout', 'out_of_memory'] as const),
];

export function readJobs(output: SiteOutput): Result<readonly SiteJob[], SiteProblem> {
  return readList(output, jobOf, 'a job has no id, name, owner or state');
}

export function readNodes(output: SiteOutput): Result<readonly SiteNode[], SiteProblem> {
  return readList(output, nodeOf, 'a node has no name or state');
}

export function readQueues(output: SiteOutput): Result<readonly SiteQueue[], SiteProblem> {
  return readList(output, queueOf, 'a partition has no name or state');
}

function readList<T>(
  output: SiteOutput,
  read: (view: View) => T | null,
  problem: string,
): Result<readonly T[], SiteProblem> {
  if (output.code !== 0) return failure(output);
  const listed = recordsOf(parseJson(output.stdout));
  if (listed === null) return unreadable('weft', 'its answer is no JSON list');
  const all = listed.map(read).filter((one) => one !== null);
  return all.length === listed.length ? ok(all) : unreadable('weft', problem);
}

/** Returns null when it has not ended, or there is no evidence of how. */
export function readEnd(output: SiteOutput): Result<SiteEnd | null, SiteProblem> {
  if (output.code !== 0) return failure(output);
  const view = parseJson(output.stdout);
  const job = isRecord(view) ? jobOf(view) : null;
  if (job === null) return unreadable('weft', 'its answer is no job');
  const { startedAt, endedAt, exit, reason } = job;
  return ok(endedAt === null || exit === null ? null : { startedAt, endedAt, exit, reason });
}

function jobOf(view: View): SiteJob | null {
  const [id, owner, word] = [exactOf(view.id), textOf(view.owner), textOf(view.state)];
  const { name } = view;
  if (id === null || !parseTaskId(String(id)).ok || typeof name !== 'string') return null;
  if (owner === null || word === null) return null;
  const isEnded = JOB_STATES[word] === 'ended';
  const request = isRecord(view.request) ? view.request : {};
  const perNode = isRecord(request.perNode) ? request.perNode : {};
  const nodeCount = wholeOf(request.nodeCount) || 1;
  const cpus = wholeOf(perNode.cpuCount);
  return {
    id: String(id),
    handle: null,
    name,
    owner,
    word,
    state: jobStateOf(view, word),
    reason: reasonOf(view),
    queue: textOf(view.partition),
    elements: word === 'pending' ? textOf(view.array) : null,
    submittedAt: exactOf(view.submittedAt) || null,
    nodeCount,
    startedAt: exactOf(view.runStartedAt) || exactOf(view.startedAt) || null,
    endedAt: isEnded ? exactOf(view.endedAt) || null : null,
    walltimeMs: exactOf(view.walltimeMs) || null,
    cpuCount: wholeOf((cpus ?? 0) * nodeCount) || null,
    memoryBytes: exactOf(perNode.memoryBytes) || null,
    isExclusive: request.exclusive === true,
    nodes: stringsOf(view.nodes),
    exit: isEnded ? exitOf(view) : null,
  };
}

function jobStateOf(view: View, word: string): SiteJobState {
  const state = JOB_STATES[word] ?? 'unknown';
  return state === 'waiting' && view.held === true ? 'held' : state;
}

/** Why it waits, or how it ended. */
function reasonOf({ reason, outcome }: View): string | null {
  if (isRecord(outcome)) {
    const detail = textOf(outcome.detail);
    return [textOf(outcome.kind), detail].filter((one) => one !== null).join(': ') || null;
  }
  return isRecord(reason) ? textOf(reason.words) : null;
}

/** An array has as many ends as tasks, and no exit of its own. */
function exitOf({ outcome, exit, array }: View): ExitStatus | null {
  const kind = isRecord(outcome) ? textOf(outcome.kind) : null;
  const isDecided = DECIDED.some((one) => one === kind);
  if (!isDecided || !isRecord(exit) || textOf(array) !== null) return null;
  const [code, signal] = [exactOf(exit.code), exactOf(exit.signal)];
  if (signal !== null && signal > 0) return { signal };
  return code === null || (code === 0 && kind !== 'completed') ? null : { code };
}

function nodeOf(view: View): SiteNode | null {
  const [name, word] = [textOf(view.name), textOf(view.state)];
  if (name === null || word === null) return null;
  const total = isRecord(view.total) ? view.total : {};
  const free = isRecord(view.free) ? view.free : {};
  const cpuCount = exactOf(total.cpuCount) ?? 0;
  const cpusUsed = cpuCount - Math.min(cpuCount, exactOf(free.cpuCount) ?? cpuCount);
  const { drained, fault, paused } = view;
  const stopped = [drained, fault, paused].find((one) => one !== null && one !== undefined);
  return {
    name,
    word,
    cpuCount,
    cpusUsed,
    state: nodeState(word, { cpuCount, cpusUsed, isStopped: stopped !== undefined }),
    reason: isRecord(drained) ? textOf(drained.reason) : textOf(fault),
    memoryBytes: exactOf(total.memoryBytes),
    memoryFreeBytes: exactOf(free.memoryBytes),
    features: stringsOf(view.labels),
    queues: [],
  };
}

function nodeState(
  word: string,
  node: { readonly cpuCount: number; readonly cpusUsed: number; readonly isStopped: boolean },
): SiteNodeState {
  if (word === 'away' || word === 'unreachable' || word === 'never_seen') return 'down';
  if (word !== 'up') return 'unknown';
  if (node.isStopped) return 'stopped';
  if (node.cpusUsed === 0) return 'idle';
  return node.cpusUsed < node.cpuCount ? 'running' : 'busy';
}

function queueOf(view: View): SiteQueue | null {
  const [name, state] = [textOf(view.name), textOf(view.state)];
  if (name === null || state === null) return null;
  const limits = isRecord(view.limits) ? view.limits : {};
  return {
    name,
    isOpen: state === 'up' || state === 'down',
    isStarted: state === 'up' || state === 'drain',
    walltimeMaxMs: exactOf(limits.walltimeMs),
    nodes: stringsOf(view.nodes),
  };
}

function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string' && one !== '') : [];
}
