// The program of a maintenance: a job of the system on each node, what its end says of the node,
// and the restart that it may bring.

import type { JobId, NodeName } from '../../model/ids.ts';
import type { JobSpec, Outcome, SystemWork } from '../../model/job.ts';
import { NAME_LENGTH_MAX } from '../../model/limits.ts';
import { type Maintenance, type NodeWork, SYSTEM_USER } from '../../model/maintenance.ts';
import { NO_RESOURCES } from '../../model/resources.ts';
import { DEFAULT_PARTITION } from '../../model/scheduling.ts';
import type { Job } from '../jobs/facts.ts';
import { placeOf } from '../jobs/place.ts';
import { environmentId } from '../jobs/submit.ts';
import type { Node } from '../nodes/facts.ts';
import type { Step } from '../step.ts';
import { endPending } from '../tasks/ending.ts';
import { cancelledBy as cancelledOutcome } from '../tasks/verdict.ts';
import { maintenanceOf } from './apply.ts';

type Busy = Extract<NodeWork, { kind: 'running' | 'restarting' }>;

/**
 * Starts it without the scheduler: the window keeps everybody away, and it takes no share, so that
 * it runs beside suspended tasks and on drained nodes too.
 */
export function startProgram(step: Step, id: string, node: Node): void {
  const { until, program } = maintenanceOf(step.state, id);
  const jobId = startOwn(step, node, {
    name: `${id}@${node.name}`,
    program: program?.program ?? { kind: 'argv', argv: [] },
    // To its end and no longer: whoever is planned for the time after that keeps the place.
    walltimeMs: until - step.at,
    reservation: id,
    system: { maintenance: id, account: program?.account ?? null },
  });
  noteWork(step, id, node.name, { kind: 'running', jobId, bootId: node.bootId });
}

/** What the cluster itself runs on one node, at once. */
export function startOwn(
  step: Step,
  node: Node,
  own: Pick<JobSpec, 'name' | 'program' | 'walltimeMs' | 'reservation'> & { system: SystemWork },
): JobId {
  const jobId = step.state.nextJobId as JobId;
  const { maintenance } = own.system;
  step.emit({
    kind: 'job_submitted',
    jobId,
    owner: SYSTEM_USER,
    uid: null,
    environmentId: environmentId(step, { MAINTENANCE_ID: maintenance }),
    spec: { ...OWN_SPEC, ...own, name: own.name.slice(0, NAME_LENGTH_MAX), request: onlyOn(node) },
    key: null,
    waitsFor: [],
  });
  const shares = [{ node: node.name, resources: NO_RESOURCES, gpus: [] }];
  step.emit({ kind: 'task_allocated', place: { jobId, index: null }, epoch: 1, shares });
  return jobId;
}

function onlyOn({ name }: Node): JobSpec['request'] {
  return {
    nodeCount: 1,
    processesPerNode: 1,
    perNode: NO_RESOURCES,
    exclusive: false,
    labels: [],
    nodeNames: [name],
  };
}

const OWN_SPEC = {
  environment: {},
  directory: { kind: 'private' },
  files: {},
  array: null,
  dependencies: [],
  beginAt: null,
  nice: 0,
  held: false,
  onNodeLoss: { kind: 'wait' },
  requeue: false,
  retriesMax: 0,
  partition: DEFAULT_PARTITION,
  umask: 0o022,
} as const satisfies Partial<JobSpec>;

/** What became of the programs since the last look. */
export function watchPrograms(step: Step, id: string): void {
  for (const name of maintenanceOf(step.state, id).nodes) watch(step, id, name);
}

function watch(step: Step, id: string, name: NodeName): void {
  const known = maintenanceOf(step.state, id);
  const node = step.state.nodes.get(name);
  let work = known.works[name];
  if (work?.kind === 'running') {
    const outcome = step.state.jobs.get(work.jobId)?.outcome ?? null;
    if (outcome === null) return;
    work = afterwards(known, { name, work, outcome });
    noteWork(step, id, name, work);
  }
  if (work?.kind !== 'restarting' || node?.connected !== true) return;
  if (node.bootId === work.bootId) return;
  noteWork(step, id, name, { kind: 'done', jobId: work.jobId });
}

/** The user who has called the maintenance off on this node; null: nobody. */
export function endedBy({ cancelledBy, takenBack }: Maintenance, node: NodeName): string | null {
  return cancelledBy ?? takenBack?.[node] ?? null;
}

function afterwards(
  known: Maintenance,
  {
    name,
    work,
    outcome,
  }: { readonly name: NodeName; readonly work: Busy; readonly outcome: Outcome },
): NodeWork {
  const { program, phase } = known;
  const { jobId, bootId } = work;
  const by = endedBy(known, name);
  if (by !== null) return calledOff(by);
  if (outcome.kind === 'completed' && program?.restarts !== true) return { kind: 'done', jobId };
  const mayBeShutDown = outcome.kind === 'node_fail' || outcome.exit?.signal !== undefined;
  const wasCut =
    outcome.kind === 'timeout' || (phase === 'restoring' && outcome.kind === 'cancelled');
  if (wasCut) return notThrough(jobId);
  const isOver = outcome.kind === 'completed' || mayBeShutDown;
  if (program?.restarts === true && isOver) return { kind: 'restarting', jobId, bootId };
  const detail = outcome.detail === undefined ? '' : `: ${outcome.detail}`;
  return { kind: 'failed', why: `its program (job ${jobId}) ended as ${outcome.kind}${detail}` };
}

/** Nothing was done to the node, or no more is: it goes back to service. */
export function skipNode(step: Step, id: string, node: NodeName, why: string): void {
  noteWork(step, id, node, { kind: 'skipped', why });
}

function calledOff(by: string): NodeWork {
  return { kind: 'skipped', why: `cancelled by ${by}` };
}

function notThrough(jobId: Job['id']): NodeWork {
  return {
    kind: 'failed',
    why: `its program (job ${jobId}) did not finish before the maintenance ended`,
  };
}

/**
 * At the end of the time, or when it is called off. A silent node is not waited for; one that was
 * heard of lately, or by a head that was away itself, gets the time to say how it went.
 */
export function callOffPrograms(step: Step, id: string): void {
  for (const name of maintenanceOf(step.state, id).nodes) callOff(step, id, name);
}

export function callOff(step: Step, id: string, name: NodeName): void {
  const known = maintenanceOf(step.state, id);
  const by = endedBy(known, name);
  const work = known.works[name];
  if (work?.kind !== 'running' && work?.kind !== 'restarting') return;
  // Its own time limit ends the program there too.
  if (by === null && mayComeBack(step.state.nodes.get(name))) return;
  if (work.kind === 'running') {
    endProgram(step, step.state.jobs.get(work.jobId), `maintenance ${id}`);
    // One that waited to be started again has ended in this moment.
    watch(step, id, name);
    if (step.state.nodes.get(name)?.connected === true) return;
    if (maintenanceOf(step.state, id).works[name] !== work) return;
  }
  if (by !== null) noteWork(step, id, name, calledOff(by));
  else
    noteWork(step, id, name, {
      kind: 'failed',
      why: 'the node did not come back before the maintenance ended',
    });
}

function mayComeBack(node: Node | undefined): boolean {
  return node !== undefined && !node.connected && node.unreachableSince === null;
}

function endProgram(step: Step, job: Job | undefined, by: string): void {
  if (job === undefined || job.outcome !== null) return;
  const { pending } = job.entry;
  for (const task of job.active.values()) {
    // One that was told to start again must not either.
    if (task.parts.size === 0 || task.ending?.kind === 'cancel') continue;
    step.emit({ kind: 'end_asked', place: placeOf(job, task.index), why: 'cancel', by });
  }
  if (pending.size > 0) endPending(step, job, pending, cancelledOutcome(by));
}

/** A program is still being ended, or its node may yet say how it went. */
export function hasPrograms({ state }: Step, id: string): boolean {
  const { works, nodes } = maintenanceOf(state, id);
  return nodes.some(
    (name) => works[name]?.kind === 'running' || works[name]?.kind === 'restarting',
  );
}

/** A node whose program failed stays out, with the reason, until an operator has looked. */
export function noteWork(step: Step, id: string, name: NodeName, work: NodeWork): void {
  step.emit({ kind: 'maintenance_work', id, node: name, work });
  const node = step.state.nodes.get(name);
  if (work.kind !== 'failed' || node === undefined || node.drain !== null) return;
  const reason = `${DRAINED}${id}: ${work.why}`;
  step.emit({ kind: 'node_drained', node: name, reason, by: 'system' });
}

/** Begins the reason of nodes that stay out because a program has failed there. */
const DRAINED = 'maintenance ';

export function isDrainOfMaintenance({ drain }: Node): boolean {
  return drain?.by === 'system' && drain.reason.startsWith(DRAINED);
}
