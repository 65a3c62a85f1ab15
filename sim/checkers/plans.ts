// What the scheduler decides, judged at the instant of the decision: nobody delays a task that was
// promised a start (A13, A14), nobody has more running than allowed (P5), and nobody makes room for
// nothing (P12). Each is counted anew from the state, not asked of the scheduler's own books.

import type { Event } from '../../src/kernel/machine/declared.ts';
import { schedulingOf } from '../../src/kernel/machine/partitions/settings.ts';
import { snapshotOf } from '../../src/kernel/machine/schedule.ts';
import type { State } from '../../src/kernel/machine/state.ts';
import type { Step } from '../../src/kernel/machine/step.ts';
import { formatTaskId, type TaskPlace } from '../../src/kernel/model/ids.ts';
import type { ResourceRequest } from '../../src/kernel/model/job.ts';
import { STARTS_PER_CYCLE_MAX } from '../../src/kernel/model/limits.ts';
import { addResources, subtractResources } from '../../src/kernel/model/resources.ts';
import { partitionOf, qosOf } from '../../src/kernel/model/scheduling.ts';
import { type Plan, plan } from '../../src/kernel/scheduler/cycle/plan.ts';
import { cpusOf } from '../../src/kernel/scheduler/line/quota.ts';
import { isLeaving } from '../../src/kernel/scheduler/room/lane.ts';
import { NodePool, type NodeView } from '../../src/kernel/scheduler/room/pool.ts';
import { type Rule, Violation } from '../violation.ts';
import { checkCards } from './cards.ts';

/** A cycle that has decided something: before it, and whom it sent away for whom. */
interface Cycle {
  readonly step: Step;
  readonly before: Plan;
  /**
   * True for a cycle that goes on from others, or is cut short: a whole one may decide otherwise.
   */
  readonly isPart: () => boolean;
  /** Ids of jobs that something makes room for. */
  readonly preemptors: Set<number>;
  readonly victims: TaskPlace[];
}

export class PlanWatch {
  #cycle: Cycle | null = null;

  /** An event is about to be applied; `first`: it is the first of its step. */
  before(step: Step, event: Event, first: boolean): void {
    if (first) this.settle();
    if (this.#cycle === null && isOfCycle(step, event)) {
      const before = planAt(step);
      const { state } = step;
      const goesOn = state.scratch.chain !== null;
      const isPart = (): boolean => goesOn || state.scratch.chain !== null;
      this.#cycle = { step, before, isPart, preemptors: new Set(), victims: [] };
    }
  }

  /** The event has been applied. */
  after(step: Step, event: Event): void {
    if (event.kind === 'task_allocated' && !event.next) {
      checkQuotas(step, event);
      checkCluster(step, event);
      checkCards(step.state, event);
    }
    const preemptor = preemptorOf(event);
    if (preemptor === null || this.#cycle === null || !('place' in event)) return;
    this.#cycle.preemptors.add(preemptor);
    this.#cycle.victims.push(event.place);
  }

  /** Called when its cycle is over, and nothing else has been decided since. */
  settle(): void {
    const cycle = this.#cycle;
    this.#cycle = null;
    if (cycle === null || cycle.isPart()) return;
    checkPromises(cycle);
    if (cycle.victims.length > 0) checkRoom(cycle);
  }
}

function isOfCycle({ state }: Step, event: Event): boolean {
  if (event.kind !== 'task_allocated') return preemptorOf(event) !== null;
  if (event.next) return false;
  // A look at a node starts at once and is in nobody's plan, as it holds nothing.
  return state.jobs.get(event.place.jobId)?.spec.system?.maintenance !== 'check';
}

/** Whom the task leaves for, as the journal says it. */
function preemptorOf(event: Event): number | null {
  if (event.kind !== 'end_asked' && event.kind !== 'suspend_asked') return null;
  const found = /^preempted by (\d+) /.exec(event.because ?? '');
  return found === null ? null : Number(found[1]);
}

function planAt({ state, settings, at }: Step): Plan {
  return plan(snapshotOf(state, settings, STARTS_PER_CYCLE_MAX, at), at);
}

/** A13, A14: planned again, now that others have started, no promise is later than before. */
function checkPromises({ step, before }: Cycle): void {
  if (before.rest !== null || before.preemptions.length > 0 || before.promised.length === 0) return;
  const { promised, starts, preemptions } = planAt(step);
  // Whoever waited for a limit goes before others.
  if (starts.length > 0 || preemptions.length > 0) return;
  const now = new Map(promised.map((one) => [`${one.jobId}[${one.index}]`, one.at]));
  // Whose owner is now at a limit has left the line, and who came after gets other slots.
  const known = before.promised.map(({ jobId, index }) => `${jobId}[${index}]`);
  if (known.some((key) => !now.has(key))) return;
  // What started counts as use of its owner, whose others stand further back since.
  const line = [...now.keys()].filter((key) => known.includes(key));
  if (line.some((key, at) => key !== known[at])) return;
  const scheduling = schedulingOf(step.state, step.settings);
  for (const { jobId, index, at } of before.promised) {
    const key = `${jobId}[${index}]`;
    const later = now.get(key) ?? 0;
    if (later <= at || isBehindNewcomer(key, before, [...now.keys()])) continue;
    const spec = step.state.jobs.get(jobId)?.spec;
    // What asks for nothing sets nothing aside, and others may fill its node.
    if (spec !== undefined && asksForNothing(spec.request)) continue;
    const name = spec?.partition ?? '';
    const rule = partitionOf(scheduling, name)?.policy === 'easy' ? 'A13' : 'A14';
    const words = `${jobId}[${index}] was promised ${at - step.at} ms from now`;
    throw new Violation(rule, `${words}, what started makes that ${later - step.at} ms`);
  }
}

function asksForNothing({ exclusive, perNode }: ResourceRequest): boolean {
  return !exclusive && perNode.cpuCount === 0 && perNode.memoryBytes === 0;
}

/** V14: what all that holds resources has of what the cluster counts as a whole, with this one. */
function checkCluster(step: Step, { place }: Extract<Event, { kind: 'task_allocated' }>): void {
  const { state } = step;
  const { resources = {} } = schedulingOf(state, step.settings);
  for (const name in state.jobs.get(place.jobId)?.spec.request.ofCluster ?? {}) {
    let held = 0;
    for (const { spec, active } of state.jobs.values()) {
      const each = spec.request.ofCluster?.[name] ?? 0;
      for (const task of active.values()) if (task.parts.size > 0) held += each;
    }
    if (held <= (resources[name] ?? 0)) continue;
    throw new Violation('V14', `job ${place.jobId} starts: ${held} ${name} are then held`);
  }
}

/** Somebody before it in the line was at a limit, and has room under it since. */
function isBehindNewcomer(key: string, before: Plan, line: readonly string[]): boolean {
  const known = [...before.promised, ...before.starts].map((one) => `${one.jobId}[${one.index}]`);
  const first = line.findIndex((one) => !known.includes(one));
  return first >= 0 && first < line.indexOf(key);
}

/** P5: what the owner of the task has running, with it. */
function checkQuotas(step: Step, { place }: Extract<Event, { kind: 'task_allocated' }>): void {
  const { state } = step;
  const job = state.jobs.get(place.jobId);
  if (job === undefined || job.spec.system !== undefined) return;
  const scheduling = schedulingOf(state, step.settings);
  const inPartition = heldBy(state, (one) => {
    return one.owner === job.owner && one.spec.partition === job.spec.partition;
  });
  const inQos = heldBy(state, (one) => {
    return one.owner === job.owner && one.entry.qos === job.entry.qos;
  });
  const qos = qosOf(scheduling, job.entry.qos);
  const limit = partitionOf(scheduling, job.spec.partition)?.limits.tasksPerUser ?? null;
  const words = `job ${job.id} of ${job.owner} starts a task:`;
  atMost(inPartition.tasks, limit, `${words} tasks in ${job.spec.partition}`);
  atMost(inQos.tasks, qos.runningTasksPerUser, `${words} tasks under ${qos.name}`);
  const { gpus, 'gpus:a100': a100s } = qos.gpusPerUser ?? {};
  atMost(inQos.gpus, gpus ?? null, `${words} gpus under ${qos.name}`, 'V21');
  atMost(inQos.a100s, a100s ?? null, `${words} a100 under ${qos.name}`, 'V21');
  const { caps = {} } = scheduling;
  const inAll = heldBy(state, (one) => one.owner === job.owner);
  atMost(inAll.gpus, caps.gpus ?? null, `${words} gpus`, 'V21');
  if (mayHaveA100(state)) atMost(inAll.a100s, caps['gpus:a100'] ?? null, `${words} a100`, 'V21');
  atMost(inAll.tasks, caps.running ?? null, `${words} tasks in all`);
  atMost(inQos.cpus, qos.runningCpusPerUser, `${words} cpus under ${qos.name}`);
}

/** A cap of a type holds where a node has one of it, or tells no type of one that it has. */
function mayHaveA100({ nodes }: State): boolean {
  return [...nodes.values()].some(({ total, gpus }) => {
    const cards = gpus?.cards.slice(0, total.gpuCount) ?? [];
    return (
      cards.length < total.gpuCount || cards.some(({ type }) => type === 'a100' || type === '')
    );
  });
}

type JobOf = Parameters<Parameters<State['jobs']['forEach']>[0]>[0];

function heldBy({ jobs }: State, isMeant: (job: JobOf) => boolean) {
  let tasks = 0;
  let cpus = 0;
  let gpus = 0;
  let a100s = 0;
  for (const job of jobs.values()) {
    if (!isMeant(job)) continue;
    const { nodeCount, perNode } = job.spec.request;
    const ofTask = nodeCount * perNode.gpuCount;
    const mayBeA100 = perNode.gpuKind?.types?.includes('a100') ?? true;
    for (const { parts } of job.active.values()) {
      if (parts.size === 0 || [...parts.values()].some(({ isNext }) => isNext)) continue;
      tasks += 1;
      cpus += cpusOf(job.spec.request);
      gpus += ofTask;
      if (mayBeA100) a100s += ofTask;
    }
  }
  return { tasks, cpus, gpus, a100s };
}

function atMost(count: number, limit: number | null, words: string, rule: Rule = 'P5'): void {
  if (limit === null || count <= limit) return;
  throw new Violation(rule, `${words} are then ${count}, the limit is ${limit}`);
}

/** P12: with all gone who are told to leave, everybody whom they leave for starts; and none is told
 * without need. */
function checkRoom(cycle: Cycle): void {
  const { preemptors, victims } = cycle;
  const started = startedWithout(cycle, null);
  const jobs = new Set([...started].map((task) => Number(task.split('[')[0])));
  for (const jobId of preemptors) {
    if (jobs.has(jobId)) continue;
    throw new Violation('P12', `others make room for job ${jobId}, which could not start then`);
  }
  // Room is sought for one task after the other: what leaves for the second may be enough for both.
  const { preemptions } = cycle.before;
  if (new Set(preemptions.map(({ for: { jobId, index } }) => `${jobId}[${index}]`)).size > 1)
    return;
  for (const victim of victims) {
    const others = startedWithout(cycle, victim);
    // What starts in its stead may be somebody else: only the same ones prove it needless.
    if (![...started].every((task) => others.has(task))) continue;
    const words = `${formatTaskId(victim.jobId, victim.index)} makes room`;
    throw new Violation('P12', `${words}, but without that the same tasks would start`);
  }
}

/** Tasks that start once all that leaves is gone, except for one that stays as it is. */
function startedWithout({ step }: Cycle, except: TaskPlace | null): ReadonlySet<string> {
  const { state, settings, at } = step;
  const snapshot = snapshotOf(state, settings, STARTS_PER_CYCLE_MAX, at);
  const pool = new NodePool();
  for (const view of snapshot.pool) pool.set(viewWithout({ state, at }, view, except));
  const { starts } = plan({ ...snapshot, pool }, at);
  return new Set(starts.map(({ jobId, index }) => `${jobId}[${index}]`));
}

function viewWithout(
  { state, at }: Pick<Step, 'state' | 'at'>,
  view: NodeView,
  except: TaskPlace | null,
): NodeView {
  const stays = ({ jobId, index }: { jobId: number; index: number }): boolean =>
    jobId === except?.jobId && index === (except.index ?? 0);
  const kept = [...view.running].filter((one) => !isLeaving(one, at) || stays(one));
  // Who stays holds its share for as long as it may run, not for a moment more.
  const staying = kept.map((one) => (stays(one) ? { ...one, leaving: false } : one));
  const gpus = new Set(view.gpusFree);
  for (const { share, task } of state.nodes.get(view.name)?.holding.values() ?? []) {
    const isStaying = staying.some(({ jobId, index }) => {
      return jobId === task?.job.id && index === task.index;
    });
    if (isStaying) continue;
    for (const gpu of share.gpus) gpus.add(gpu);
  }
  const none = subtractResources(view.total, view.total);
  const taken = staying.map((one) => one.resources).reduce(addResources, none);
  return {
    ...view,
    free: subtractResources(view.total, taken),
    gpusFree: [...gpus].sort((a, b) => a - b),
    idle: staying.length === 0,
    running: staying,
  };
}
