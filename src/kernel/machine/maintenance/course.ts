// The course of a maintenance: planned → warned → draining → active → restoring → done, failed or
// cancelled. Looked at with every tick; each look brings it as far as it can get at that instant.

import { present } from '../../base/assert.ts';
import type { NodeName } from '../../model/ids.ts';
import {
  isAlive,
  isUnderWay,
  type Maintenance,
  mayBeStopped,
  takesNode,
  worksOn,
} from '../../model/maintenance.ts';
import { certainAt } from '../head/clock.ts';
import type { Task } from '../jobs/facts.ts';
import { placeOf } from '../jobs/place.ts';
import type { Node } from '../nodes/facts.ts';
import { memberOf, siteOf } from '../nodes/members.ts';
import type { State } from '../state.ts';
import type { Step } from '../step.ts';
import { askCancel } from '../tasks/cancel.ts';
import { countsFrom, limitOf } from '../tasks/time-limit.ts';
import { maintenanceOf } from './apply.ts';
import {
  callOff,
  callOffPrograms,
  endedBy,
  hasPrograms,
  noteWork,
  skipNode,
  startProgram,
  watchPrograms,
} from './program.ts';

/** How far the window is moved on while programs are being ended after it. */
const OVERTIME_MS = 60_000;

/** Until nothing more comes of it: what one gives back as it ends, another may take at once. */
export function decideMaintenances(step: Step): void {
  const { maintenances } = step.state;
  for (let looks = 0; looks <= maintenances.size; looks += 1) {
    const before = step.events.length;
    for (const one of [...maintenances.values()]) {
      if (isAlive(one)) advanceMaintenance(step, one.id);
    }
    if (step.events.length === before) return;
  }
}

/** The window of one under way ends between two ticks: nobody gets in before it is looked at. */
export function decideLateMaintenances(step: Step): void {
  for (const { id, ...one } of [...step.state.maintenances.values()]) {
    if (!isUnderWay(one)) continue;
    const slot = step.state.reservations.get(id)?.slots[0];
    if (slot !== undefined && slot.until <= step.at) advanceMaintenance(step, id);
  }
}

export function advanceMaintenance(step: Step, id: string): void {
  const { phase, from, until } = maintenanceOf(step.state, id);
  if (isUnderWay({ phase })) return goOn(step, id);
  // A clock set forward by mistake must not miss it.
  if (step.at >= until && certainAt(step.state, step.at) < until) return;
  if (step.at >= until) return miss(step, id);
  if (step.at >= from) return begin(step, id);
  if (phase === 'planned') warn(step, id);
}

/** Ends it before, at or after its time: what was done to tasks and nodes is taken back. */
export function endMaintenance(step: Step, id: string): void {
  const { phase } = maintenanceOf(step.state, id);
  if (isUnderWay({ phase }) && phase !== 'restoring') {
    step.emit({ kind: 'maintenance_moved', id, phase: 'restoring' });
    callOffPrograms(step, id);
  }
  closeIfOver(step, id);
}

/** Gives one of its nodes back to service; it goes on with the others. */
export function takeBack(step: Step, id: string, name: NodeName, by: string): void {
  step.emit({ kind: 'maintenance_taken_back', id, node: name, by });
  const work = maintenanceOf(step.state, id).works[name];
  if (work?.kind === 'waiting') skipNode(step, id, name, `taken back by ${by}`);
  else callOff(step, id, name);
  goOn(step, id);
}

/** A signal to all that will still run when it begins, once. */
function warn(step: Step, id: string): void {
  const { warning, from, nodes } = maintenanceOf(step.state, id);
  if (warning === null || step.at < from - warning.leadMs) return;
  step.emit({ kind: 'maintenance_moved', id, phase: 'warned' });
  for (const task of usersTasks(step.state, nodes)) {
    const running = task.state === 'running' || task.state === 'suspended';
    if (!running || endsBy(task, from)) continue;
    const place = placeOf(task.job, task.index);
    step.emit({ kind: 'signal_asked', place, signal: warning.signal, by: words(id) });
  }
}

function endsBy(task: Task, at: number): boolean {
  const walltimeMs = limitOf(task);
  const from = countsFrom(task);
  return walltimeMs !== null && from !== null && from + walltimeMs <= at;
}

/** The head was away for all of its time: nothing was kept free, so nothing can have been done. */
function miss(step: Step, id: string): void {
  for (const node of maintenanceOf(step.state, id).nodes) {
    skipNode(step, id, node, 'the head was down for the whole maintenance');
  }
  closeIfOver(step, id);
}

function begin(step: Step, id: string): void {
  step.emit({ kind: 'maintenance_moved', id, phase: 'draining' });
  goOn(step, id);
}

function goOn(step: Step, id: string): void {
  watchPrograms(step, id);
  forgetGone(step, id);
  const { phase, until } = maintenanceOf(step.state, id);
  if (phase === 'restoring') callOffPrograms(step, id);
  else {
    for (const hook of step.state.machine.hooks.onMaintenance) hook(step, id);
    treatTasks(step, maintenanceOf(step.state, id));
    noteFree(step, id);
    resumeTasks(step, maintenanceOf(step.state, id));
    if (step.at < until) startPrograms(step, id);
    else endMaintenance(step, id);
  }
  closeIfOver(step, id);
}

/** No site gives back a node that is no node of it any more. */
function forgetGone(step: Step, id: string): void {
  const one = maintenanceOf(step.state, id);
  for (const name of one.nodes) {
    const node = step.state.nodes.get(name);
    if (!mayBeStopped(one, name) || (node !== undefined && memberOf(step.state, node) !== null)) {
      continue;
    }
    const stop = one.stops?.[name] === 'stopped' ? 'returned' : 'never';
    step.emit({ kind: 'maintenance_stop', id, node: name, stop });
  }
}

/** Also those that another keeps stopped already: that one may let them go meanwhile. */
function treatTasks(step: Step, one: Maintenance): void {
  const { id, running, nodes } = one;
  // What has come to nodes that are back in service is nobody's business here.
  const kept = nodes.filter((name) => worksOn(one, name) && endedBy(one, name) === null);
  if (running === 'wait') return requeueUnbegun(step, id, kept);
  for (const task of usersTasks(step.state, kept)) {
    const place = placeOf(task.job, task.index);
    if (running === 'suspend') {
      if (task.state === 'completing' || task.stops.has(words(id))) continue;
      // A part of it is at a site, where nobody would stop it.
      if (siteOf(step.state, task) !== null) continue;
      step.emit({ kind: 'suspend_asked', place, by: words(id), stopper: words(id) });
    } else if (task.ending === null && task.state !== 'completing') {
      // What must not run twice can only be cancelled.
      const why = running === 'requeue' && task.job.spec.requeue ? 'requeue' : 'cancel';
      if (why === 'cancel') askCancel(step, task, { by: words(id) });
      else step.emit({ kind: 'end_asked', place, why, by: words(id) });
    }
  }
}

/**
 * Tasks that their site has not begun have done nothing, and waiting for them would only keep the
 * nodes. Those that must not run twice are begun there all the same, by the gateway.
 */
function requeueUnbegun(step: Step, id: string, kept: readonly NodeName[]): void {
  const atSites = kept.filter((name) => {
    const node = step.state.nodes.get(name);
    return node !== undefined && memberOf(step.state, node) !== null;
  });
  for (const task of usersTasks(step.state, atSites)) {
    const hasBegun = [...task.parts.values()].some(({ state }) => state !== 'ordered');
    if (hasBegun || task.ending !== null || !task.job.spec.requeue) continue;
    const place = placeOf(task.job, task.index);
    step.emit({ kind: 'end_asked', place, why: 'requeue', by: words(id) });
  }
}

function noteFree(step: Step, id: string): void {
  const one = maintenanceOf(step.state, id);
  if (one.phase !== 'draining') return;
  const kept = one.nodes.filter((name) => takesNode(one, name));
  const free = kept.every((name) => {
    const isOut = !worksOn(one, name) || isStopped(step.state, one, name);
    return isFree(step.state.nodes.get(name)) && isOut;
  });
  if (free) step.emit({ kind: 'maintenance_moved', id, phase: 'active' });
}

/** On each node as soon as no user's task goes on there, whatever the others do. */
function startPrograms(step: Step, id: string): void {
  const one = maintenanceOf(step.state, id);
  const { program, works, nodes, goal } = one;
  for (const name of nodes) {
    const node = step.state.nodes.get(name);
    if (node === undefined && worksOn(one, name)) skipNode(step, id, name, 'the node was removed');
    if (program === null || works[name]?.kind !== 'waiting' || !isFree(node)) continue;
    if (!isStopped(step.state, one, name)) continue;
    // A repair may be of what makes the node say so.
    const isSound = node?.fault === null || goal !== undefined;
    const takesWork = node?.connected && isSound && node.pausing.now === null;
    if (takesWork) startProgram(step, id, node);
  }
}

/** No job of its site can come there any more; other nodes have no site. */
function isStopped(state: State, { stops }: Maintenance, name: NodeName): boolean {
  const node = state.nodes.get(name);
  return node === undefined || memberOf(state, node) === null || stops?.[name] === 'stopped';
}

/** No task of a user goes on there; suspended ones do not. */
function isFree(node: Node | undefined): boolean {
  for (const { task } of node?.holding.values() ?? []) {
    if (task === null) return false;
    if (task.job.spec.system === undefined && task.state !== 'suspended') return false;
  }
  return true;
}

function* usersTasks(state: State, nodes: Iterable<NodeName>): Generator<Task> {
  const seen = new Set<Task>();
  for (const name of nodes) {
    for (const { task, next } of [...(state.nodes.get(name)?.holding.values() ?? [])]) {
      // What is next there holds nothing, and is recalled.
      if (next !== null) continue;
      if (task === null || task.job.spec.system !== undefined || seen.has(task)) continue;
      seen.add(task);
      yield task;
    }
  }
}

/** Ends it once no node is taken any more, or its time is over and no program is left. */
function closeIfOver(step: Step, id: string): void {
  const known = maintenanceOf(step.state, id);
  if (!isAlive(known)) return;
  const { phase, nodes, cancelledBy } = known;
  const waits = nodes.some((node) => takesNode(known, node));
  const isReturning = nodes.some((node) => mayBeStopped(known, node));
  const isEnding = phase === 'restoring' || cancelledBy !== null;
  const isOpen = isEnding ? hasPrograms(step, id) || isReturning : waits;
  if (isOpen) return keepWindow(step, known);
  settleRest(step, known);
  resumeTasks(step, maintenanceOf(step.state, id));
  const by = cancelledBy === null ? 'system' : cancelledBy;
  const why = cancelledBy === null ? 'over' : 'cancelled';
  if (step.state.reservations.has(id)) step.emit({ kind: 'reservation_ended', id, why, by });
  step.emit({
    kind: 'maintenance_moved',
    id,
    ...verdict(step.state, maintenanceOf(step.state, id)),
  });
}

/** Nodes that are through go back to service at once; the others stay out a little longer. */
function keepWindow(step: Step, one: Maintenance): void {
  const { id, nodes, until } = one;
  const reservation = present(step.state.reservations.get(id), `the reservation of ${id}`);
  const slot = present(reservation.slots[0], `the time of ${id}`);
  const taken = nodes.filter((node) => takesNode(one, node));
  const isLate = step.at >= slot.until;
  if (!isLate && taken.length === Object.keys(slot.shares).length) return;
  const shares = Object.fromEntries(taken.map((name) => [name, 'whole' as const]));
  const end = isLate ? step.at + OVERTIME_MS : Math.max(until, slot.until);
  const slots = [{ ...slot, until: end, shares }];
  const changed = { ...reservation, slots };
  step.emit({ kind: 'reservation_changed', reservation: changed, by: 'system' });
}

/** Nodes whose work has not come to an end by itself. */
function settleRest(step: Step, one: Maintenance): void {
  const { id, program, nodes, cancelledBy, stops = {} } = one;
  for (const name of nodes) {
    if (!worksOn(one, name)) continue;
    const isLeft = stops[name] !== 'returned' && !isStopped(step.state, one, name);
    if (cancelledBy !== null) skipNode(step, id, name, `cancelled by ${cancelledBy}`);
    else if (isLeft) skipNode(step, id, name, 'its site never stopped it');
    else if (program === null) noteWork(step, id, name, { kind: 'done', jobId: null });
    else
      skipNode(step, id, name, 'its program never started: tasks still ran, or the node was away');
  }
}

/**
 * Takes away its own stops where it has no node of the task any more. On any node: the part that
 * was on one of its own may have ended meanwhile.
 */
function resumeTasks(step: Step, one: Maintenance): void {
  if (one.running !== 'suspend') return;
  const stopper = words(one.id);
  const kept = new Set(one.nodes.filter((name) => takesNode(one, name)));
  for (const task of usersTasks(step.state, step.state.nodes.keys())) {
    if (!task.stops.has(stopper) || [...task.parts.keys()].some((name) => kept.has(name))) continue;
    const place = placeOf(task.job, task.index);
    step.emit({ kind: 'resume_asked', place, by: stopper, stopper });
  }
}

function verdict(
  state: State,
  { works, nodes, cancelledBy, program, takenBack = {} }: Maintenance,
): { phase: 'done' | 'failed' | 'cancelled'; detail: string } {
  if (cancelledBy !== null) return { phase: 'cancelled', detail: `cancelled by ${cancelledBy}` };
  const bad = nodes.flatMap((name) => {
    const work = works[name];
    if (takenBack[name] !== undefined) return [];
    return work?.kind === 'failed' || work?.kind === 'skipped' ? [`${name}: ${work.why}`] : [];
  });
  if (bad.length > 0) return { phase: 'failed', detail: bad.join('; ') };
  // Whoever did the work by hand wants to know that a node was never his.
  const taken = program === null ? nodes.filter((one) => !isFree(state.nodes.get(one))) : [];
  const early = Object.entries(takenBack).map(([name, by]) => `; ${by} took ${name} back`);
  const detail = `all nodes are back in service${early.join('')}`;
  if (taken.length === 0) return { phase: 'done', detail };
  return { phase: 'done', detail: `${detail}; tasks still ran at its end on ${taken.join(', ')}` };
}

/** For `by` fields: what a user reads of a task that was touched. */
function words(id: string): `maintenance ${string}` {
  return `maintenance ${id}`;
}
