// What becomes of a task whose epoch is over, by how its parts have ended.

import { present } from '../../base/assert.ts';
import { formatSize } from '../../base/size.ts';
import { outsideWords } from '../../files/outside.ts';
import type { ExitStatus, Outcome } from '../../model/job.ts';
import type { Ending, Part, PartEnd, Task } from '../jobs/facts.ts';
import { firstOf } from '../machine.ts';
import { hasRestartedItsNode, isInMaintenance } from '../nodes/in-maintenance.ts';
import type { Step } from '../step.ts';
import { isNext } from './shown-state.ts';

/** What becomes of a task whose epoch is over. */
export type Verdict =
  | { readonly kind: 'done'; readonly outcome: Outcome }
  | {
      readonly kind: 'requeue';
      readonly outcome: Outcome;
      /** `anew`: what went before counts no more. */
      readonly counts: 'failure' | 'crash' | 'neither' | 'anew';
    };

export function verdict(step: Step, task: Task, parts: readonly Part[]): Verdict {
  const found = verdictOf(step, task, parts);
  const left = parts.flatMap(({ end }) => end?.stored?.outside ?? []);
  if (found.kind !== 'done' || left.length === 0) return found;
  // Of a job of a batch: its owner may look for it in vain.
  const said = found.outcome.detail === undefined ? [] : [found.outcome.detail];
  const detail = [...said, ...left.map(outsideWords)].join('; ');
  return { kind: 'done', outcome: { ...found.outcome, detail } };
}

function verdictOf(step: Step, task: Task, parts: readonly Part[]): Verdict {
  const { ending, job } = task;
  const program = endedProgram(task);
  // Whatever became of the servers after a program that has done its work: it has done it.
  const worst = program !== undefined && hasSucceeded(program) ? undefined : worstPart(parts);
  const { startsAgain } = step.state.machine.hooks;
  const again = firstOf(startsAgain.map((hook) => hook(step, task, worst)));
  if (again !== null) {
    const left = { ...completed(parts), detail: 'it left the pool' };
    const outcome = worst === undefined ? left : outcomeOfPart(worst);
    return { kind: 'requeue', outcome, counts: again };
  }
  const lost = worst === undefined ? parts.find(({ end }) => end?.stored?.problem) : undefined;
  const isWanted = job.spec.pool !== undefined && ending?.kind === 'requeue';
  if (ending?.kind === 'cancel' && ending.hastens) {
    return {
      kind: 'done',
      outcome: cancelledLate(ending, worst ?? lost ?? present(parts[0], 'a part')),
    };
  }
  if (worst === undefined && lost === undefined && !isWanted) {
    return { kind: 'done', outcome: completed(parts) };
  }
  if (ending?.kind === 'cancel') {
    // How a worker was ended that nobody needs any more says nothing.
    const exit = ending.closes ? {} : exitOf(worst ?? present(lost, 'a part'));
    return { kind: 'done', outcome: { ...cancelOutcome(ending), ...exit } };
  }
  if (ending?.kind === 'requeue') {
    const asked: Outcome = {
      kind: 'cancelled',
      detail: ending.because ?? `requeued by ${ending.by}`,
    };
    return { kind: 'requeue', outcome: asked, counts: 'neither' };
  }
  if (worst === undefined) return { kind: 'done', outcome: notStored(present(lost, 'a part')) };
  const end = present(worst.end, 'the end of the worst part');
  const outcome = outcomeOfPart(worst);
  const unbuilt = failedBefore(step, task, worst);
  // Nothing of the job itself has run.
  if (unbuilt !== null) return { kind: 'requeue', outcome: unbuilt, counts: 'neither' };
  if (end.there === 'untaken') return { kind: 'requeue', outcome, counts: 'neither' };
  if (end.there === 'cancelled') return { kind: 'done', outcome: cancelledThere(worst) };
  const wish = end.cause === 'ended' ? lostVerdict(task) : null;
  if (wish !== null) return wish;
  if (end.cause === 'exited') {
    if (task.failures >= job.spec.retriesMax) return { kind: 'done', outcome };
    return { kind: 'requeue', outcome, counts: 'failure' };
  }
  if (end.cause === 'lost' && hasRestartedItsNode(step.state, task)) {
    return { kind: 'done', outcome: { kind: 'completed', detail: 'restarted its node' } };
  }
  // Our books on it are lost, not the job: only its site says that it is over.
  if (job.spec.foreign !== undefined && end.cause === 'never_started') {
    const { detail = 'its site says what became of it' } = end;
    return { kind: 'requeue', outcome: { kind: 'node_fail', detail }, counts: 'neither' };
  }
  // Without requeue a second start is only harmless when nothing of the first ever ran.
  const mayStartAgain = job.spec.requeue || parts.every((part) => !hasRun(part));
  if (end.cause === 'never_started' && mayStartAgain) {
    return { kind: 'requeue', outcome, counts: 'neither' };
  }
  // A program of the cluster itself that cannot start is for an operator to look at.
  const isOwn = job.spec.system !== undefined;
  const hasNotBegun = end.cause === 'launch_failed' || end.cause === 'stage_failed';
  const mayHelp = end.nodeFault || end.there === 'refused';
  if (hasNotBegun && mayHelp && mayStartAgain && !isOwn) {
    return { kind: 'requeue', outcome, counts: 'crash' };
  }
  if (end.cause === 'launch_failed' && job.spec.foreign !== undefined) {
    return { kind: 'done', outcome: endedAtSite(end) };
  }
  if (outcome.kind === 'node_fail' && job.spec.requeue) {
    return {
      kind: 'requeue',
      outcome,
      counts: end.cause === 'lease_expired' ? 'neither' : crashOf(step, task),
    };
  }
  return { kind: 'done', outcome };
}

/** Returns null when the end of this part says nothing of what comes before the task's own work. */
export function failedBefore({ state }: Step, task: Task, part: Part): Outcome | null {
  return firstOf(state.machine.hooks.failedBefore.map((hook) => hook(task, part)));
}

/**
 * The verdict on a task that was told to end by a head that has lost the record: a node has kept
 * the reason of the order, and a cancelled task must not run again.
 */
export function lostVerdict({ ending, parts }: Task): Verdict | null {
  if (ending !== null && ending.kind !== 'sibling') return null;
  const told = (why: string): Part | undefined =>
    [...parts.values()].find(({ end }) => end?.cause === 'ended' && end.detail === why);
  const words = (what: string): string => `${what}; by whom was lost with records of the head`;
  const cancelled = told('cancel');
  if (cancelled !== undefined) {
    const detail = words('cancelled');
    return { kind: 'done', outcome: { kind: 'cancelled', ...exitOf(cancelled), detail } };
  }
  if (told('requeue') === undefined) return null;
  const outcome: Outcome = { kind: 'cancelled', detail: words('requeued') };
  return { kind: 'requeue', outcome, counts: 'neither' };
}

/** The outcome of a task that its owner or its site ended before it began. */
function endedAtSite({ detail = 'it is gone' }: PartEnd): Outcome {
  return { kind: 'cancelled', detail: `ended at its site: ${detail}` };
}

/** The outcome of a task that its owner or an operator ended at its site. */
function cancelledThere(part: Part): Outcome {
  const { detail = 'ended at its site' } = present(part.end, 'the end of the part');
  const how = exitOf(part);
  // Nobody let it do its work: 0 stands for a code that its site does not have.
  return { kind: 'cancelled', ...(how.exit?.code === 0 ? {} : how), detail };
}

/** A node that goes down in its maintenance, or is sent away, was not taken down by the task. */
export function crashOf({ state }: Step, task: Task): 'crash' | 'neither' {
  if (isNext(task) || isInMaintenance(state, task)) return 'neither';
  const { isSentAway } = state.machine.hooks;
  const isExpected = [...task.parts.keys()].some((node) =>
    isSentAway.some((hook) => hook(state, node)),
  );
  return isExpected ? 'neither' : 'crash';
}

/** The first part of an MPI task, once its program has ended: the others only serve it. */
export function endedProgram({ job, parts }: Task): Part | undefined {
  if (job.spec.mpi === undefined) return undefined;
  const first = [...parts.values()].find((part) => part.nodeRank === 0);
  return first?.end?.cause === 'exited' ? first : undefined;
}

export function outcomeOfProgram(part: Part): Outcome {
  return hasSucceeded(part) ? completed([part]) : outcomeOfPart(part);
}

export function hasSucceeded({ end }: Part): boolean {
  return end !== null && !isBad(end);
}

const GRAVITY: readonly PartEnd['cause'][] = [
  'out_of_memory',
  'timeout',
  'launch_failed',
  'stage_failed',
  'lost',
  'lease_expired',
  'exited',
  'never_started',
  // By us, as a sibling's end asked for it: whatever else there is says why.
  'ended',
];

/** The part that decides how the task ended; none when all processes of all parts exited 0. */
function worstPart(parts: readonly Part[]): Part | undefined {
  return parts
    .filter((part) => part.end !== null && isBad(part.end))
    .sort((a, b) => gravity(a) - gravity(b) || a.nodeRank - b.nodeRank)[0];
}

/** Exit of the process that decided, in its own words; a cancelled one may end by itself. */
function exitOf(part: Part): Pick<Outcome, 'exit' | 'process'> {
  const { processes } = present(part.end, 'the end of the part');
  const process = processes.find((one) => one.exit.code !== 0) ?? processes[0];
  if (process === undefined) return {};
  return { exit: process.exit, process: { node: part.share.node, rank: process.rank } };
}

function hasRun(part: Part): boolean {
  const end = present(part.end, 'the end of the part');
  if (end.cause === 'never_started' || end.cause === 'stage_failed') return false;
  return end.cause !== 'launch_failed' || end.processes.length > 0;
}

function gravity(part: Part): number {
  return GRAVITY.indexOf(present(part.end, 'the end of the part').cause);
}

function isBad(end: PartEnd): boolean {
  if (end.cause !== 'exited' || end.there === 'cancelled') return true;
  return end.processes.some((process) => process.exit.code !== 0);
}

export function completed(parts: readonly Part[]): Outcome {
  const first = present(parts[0], 'a part');
  const process = { node: first.share.node, rank: 0 };
  return { kind: 'completed', exit: { code: 0 }, process };
}

/** The outcome of a task that has done its work, but whose results are lost. */
function notStored({ end, share: { node } }: Part): Outcome {
  const problem = end?.stored?.problem ?? 'it could not be kept';
  const detail = `what it left on ${node} is lost: ${problem}`;
  return { kind: 'stage_failed', exit: { code: 0 }, process: { node, rank: 0 }, detail };
}

/** Cancelled when its processes had ended: how they did is told, and what became of their files. */
function cancelledLate(ending: Extract<Ending, { kind: 'cancel' }>, part: Part): Outcome {
  const { detail = '', ...cancelled } = cancelOutcome(ending);
  const problem = part.end?.stored?.problem;
  const files =
    problem === undefined
      ? 'what it left is kept'
      : `what it left on ${part.share.node} is lost: ${problem}`;
  const when = `${detail} after its processes had ended; ${files}`;
  return { ...cancelled, ...exitOf(part), detail: when };
}

/** How the task ends if this part decides. */
export function outcomeOfPart(part: Part): Outcome {
  const end = present(part.end, 'the end of the part');
  const { node } = part.share;
  const exit = end.processes.some((one) => one.exit.code !== 0) ? exitOf(part) : {};
  const said = end.detail === undefined ? {} : { detail: end.detail };
  switch (end.cause) {
    case 'exited':
      return { kind: 'failed', ...exit, detail: `${exitWords(exit.exit)} on ${node}` };
    case 'timeout':
      return { kind: 'timeout', ...exit, detail: 'reached its time limit' };
    case 'out_of_memory':
      return { kind: 'out_of_memory', ...exit, detail: outOfMemoryWords(part), ...said };
    case 'launch_failed':
      return { kind: 'launch_failed', ...exit, detail: `could not start on ${node}`, ...said };
    case 'stage_failed':
      return { kind: 'stage_failed', detail: unstagedWords(node, end.detail) };
    case 'lease_expired':
      return {
        kind: 'node_fail',
        ...exit,
        detail: `${node} did not reach the head within its lease`,
      };
    case 'never_started':
      return { kind: 'node_fail', detail: `did not start on ${node}`, ...said };
    default:
      return { kind: 'node_fail', ...exit, detail: `its processes on ${node} were lost`, ...said };
  }
}

/** On which node matters: it is that one's disk that has to be looked after. */
function unstagedWords(node: string, why: string | undefined): string {
  const what = `its files did not get to ${node}`;
  return why === undefined ? what : `${what}: ${why}`;
}

function outOfMemoryWords({ share: { node, resources } }: Part): string {
  if (resources.memoryBytes === 0) return `${node} ran out of memory; ask for some with --memory`;
  const limit = formatSize(resources.memoryBytes);
  return `exceeded its limit of ${limit} on ${node}; ask for more with --memory`;
}

function exitWords(exit: ExitStatus | undefined): string {
  if (exit?.signal !== undefined) return `ended by signal ${exit.signal}`;
  return `exited with code ${exit?.code ?? 'unknown'}`;
}

export function cancelledBy(by: string): Outcome {
  return { kind: 'cancelled', detail: `cancelled by ${by}` };
}

export function cancelOutcome({
  by,
  because,
  closes,
}: Pick<Extract<Ending, { kind: 'cancel' }>, 'by' | 'because' | 'closes'>): Outcome {
  if (closes) return { kind: 'completed', detail: `closed by ${by}` };
  return because === undefined ? cancelledBy(by) : { kind: 'cancelled', detail: because };
}
