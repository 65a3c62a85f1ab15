// What operators ask of maintenance: planning it and calling it off. What then happens by time is
// in course.ts.

import { present } from '../../base/assert.ts';
import { formatDuration } from '../../base/duration.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { isWhole } from '../../base/whole.ts';
import type { Actor } from '../../model/actor.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { NodeName } from '../../model/ids.ts';
import { meetsLabel } from '../../model/labels.ts';
import { MAINTENANCE_MAX_MS, ON_THE_WAY_MS, RESERVATIONS_MAX } from '../../model/limits.ts';
import { isAlive, type Maintenance, type NodeWork } from '../../model/maintenance.ts';
import type {
  Reservation,
  ReservationRequest,
  ReservedSlot,
  ReservedTime,
} from '../../model/reservation.ts';
import { isMember } from '../../model/scheduling.ts';
import { nameOf, needRole } from '../authority.ts';
import { badProgram } from '../jobs/program.ts';
import type { Node } from '../nodes/facts.ts';
import { unknownLabel, unreadableLabel } from '../nodes/label-checks.ts';
import { isGateway, memberOf } from '../nodes/members.ts';
import { labelsOf, mayGetWork } from '../nodes/view.ts';
import { schedulingOf } from '../partitions/settings.ts';
import type { WantedReservation } from '../reservations/commands.ts';
import { checkRequest, endAsSaid, placeAll } from '../reservations/place.ts';
import type { State } from '../state.ts';
import type { Answer, Step } from '../step.ts';
import type { PlanMaintenance } from './commands.ts';
import { advanceMaintenance, endMaintenance } from './course.ts';

export function decidePlanMaintenance(step: Step, command: PlanMaintenance, actor: Actor): Answer {
  const refusal = mayPlan(step, command, actor) ?? badPlan(step, command);
  if (refusal !== null) return err(refusal);
  const partition = command.goal === undefined ? null : lastNodeOf(step, command);
  if (partition !== null)
    return err(invalid(`it is the last node of partition ${partition} that works`));
  const nodes = nodesOf(step, command);
  if (!nodes.ok) return nodes;
  const bad = badAtSites(step.state, nodes.value, command);
  if (bad !== null) return err(bad);
  const request = checkRequest(step, wishOf(step, nodes.value, command), null);
  if (!request.ok) return request;
  const placed = placeAll(step, request.value, null, null, 'maintenance');
  if (!placed.ok) return placed;
  const { slots } = placed.value;
  const by = nameOf(actor);
  const maintenance = maintenanceOf(step, command, { ...request.value, slots, by });
  step.emit({ kind: 'maintenance_planned', maintenance, by });
  const reservation = reservationOf(maintenance, request.value, slots);
  step.emit({ kind: 'reservation_created', reservation, by });
  advanceMaintenance(step, maintenance.id);
  return ok({ kind: 'maintenance_planned', id: maintenance.id });
}

/** At any stage; what it has done is undone, but for the work of its programs. */
export function decideCancelMaintenance(step: Step, id: string, actor: Actor): Answer {
  const allowed = needRole(actor, 'operator', 'cancelling maintenance');
  if (!allowed.ok) return allowed;
  const found = step.state.maintenances.get(id);
  if (found === undefined) return step.refuse('maintenance.not_found', { maintenance: id });
  const { phase, cancelledBy } = found;
  if (!isAlive(found) || cancelledBy !== null) {
    const words = isAlive(found) ? 'being cancelled' : phase;
    return step.refuse('maintenance.over', { maintenance: id, phase: words });
  }
  const by = nameOf(actor);
  step.emit({ kind: 'maintenance_cancelled', id, by });
  endMaintenance(step, id);
  return ok({ kind: 'done' });
}

function mayPlan(step: Step, { program }: PlanMaintenance, actor: Actor): Refusal | null {
  const allowed = needRole(actor, 'operator', 'planning maintenance');
  if (!allowed.ok) return allowed.error;
  if (step.state.reservations.size >= RESERVATIONS_MAX) {
    return refuse('reservation.too_many', { limit: String(RESERVATIONS_MAX) });
  }
  if (program === null) return null;
  // It runs as whoever the agents run as, which is root where they switch users.
  const trusted = needRole(actor, 'admin', 'running a program in maintenance');
  return trusted.ok ? null : trusted.error;
}

function badPlan(step: Step, command: PlanMaintenance): Refusal | null {
  const { nodes, labels = [], durationMs, warning, reason, program, time } = command;
  if (nodes.length + labels.length === 0)
    return invalid('name at least one node for the maintenance');
  if (!isWhole(durationMs, 1000, MAINTENANCE_MAX_MS)) {
    return invalid(
      `the duration of a maintenance is from 1s to ${formatDuration(MAINTENANCE_MAX_MS)}`,
    );
  }
  if (reason.trim() === '') return invalid('give a reason for the maintenance');
  if (warning !== null && !isWhole(warning.signal, 1, 64)) {
    return invalid(`${warning.signal} is not a signal number (1-64)`);
  }
  if (warning !== null && !isWhole(warning.leadMs, 1000, MAINTENANCE_MAX_MS)) {
    return invalid('a warning must come at least 1s before the start');
  }
  if (time.kind === 'now' && warning !== null) {
    return invalid('a maintenance that starts now cannot warn; give it a later start with --at');
  }
  // `in ten minutes, warned ten minutes before`: the warning goes at once.
  if (
    warning !== null &&
    time.kind === 'fixed' &&
    time.from - warning.leadMs < step.at - ON_THE_WAY_MS
  ) {
    const [lead, left] = [warning.leadMs, Math.max(time.from - step.at, 0)].map(formatDuration);
    return invalid(
      `a warning ${lead} before the start is too late: the maintenance starts in ${left}`,
    );
  }
  return program === null ? null : badProgram(program.program);
}

function invalid(what: string): Refusal {
  return refuse('argument.invalid', { what });
}

/** Those named, or all, as far as they meet the labels at this instant. */
function nodesOf(
  { state }: Step,
  { nodes: named, labels = [] }: PlanMaintenance,
): Result<readonly NodeName[], Refusal> {
  // Checked with the rest of the request; among those with the labels a slip would go unnoticed.
  const unknown = named.some((name) => !state.nodes.has(name));
  if (labels.length === 0 || unknown) return ok(named);
  // A gateway has nothing that could be maintained but its site, whose nodes have the labels, too.
  const all = [...state.nodes.values()].filter(
    (node) => !(isGateway(node) && node.total.cpuCount === 0) || named.includes(node.name),
  );
  const bad = unreadableLabel(labels) ?? unknownLabel(labels, all);
  if (bad !== null) return err(bad);
  const meeting = all.filter((node) => {
    if (named.length > 0 && !named.includes(node.name)) return false;
    return labels.every((label) => meetsLabel(labelsOf(node), label));
  });
  if (meeting.length > 0) return ok(meeting.map(({ name }) => name));
  const among = named.length === 0 ? '' : ` of ${named.join(', ')}`;
  return err(refuse('label.unmet', { labels: labels.join(', '), among }));
}

/**
 * At a fixed time what runs is not in the way: it is treated at the start. Where there is a choice
 * the warning comes in time.
 */
function wishOf(
  { at }: Step,
  nodeNames: readonly NodeName[],
  { time, durationMs, warning }: PlanMaintenance,
): WantedReservation {
  const earliest = at + (warning?.leadMs ?? 0);
  const choice = (one: Extract<ReservedTime, { kind: 'flexible' }>): ReservedTime => {
    if (one.notBefore >= earliest) return one;
    return { ...one, notBefore: earliest, until: endAsSaid(one, earliest, durationMs) };
  };
  return {
    time: time.kind === 'flexible' ? choice(time) : time,
    durationMs,
    nodeNames,
    nodeCount: nodeNames.length,
    perNode: 'whole',
    labels: [],
    force: time.kind !== 'flexible',
  };
}

interface Placed {
  readonly nodeNames: readonly NodeName[];
  readonly slots: readonly ReservedSlot[];
  readonly by: string;
}

function maintenanceOf(
  { state, at }: Step,
  { running, warning, program, reason, goal }: PlanMaintenance,
  { nodeNames: nodes, slots: [slot], by }: Placed,
): Maintenance {
  const { from, until } = present(slot, 'its time');
  const works = nodes.map((name): [NodeName, NodeWork] => [name, { kind: 'waiting' }]);
  return {
    id: `m${state.nextReservationId}`,
    nodes,
    from,
    until,
    running,
    warning,
    program,
    reason: reason.trim(),
    createdBy: by,
    createdAt: at,
    ...(goal === undefined ? {} : { goal }),
    phase: 'planned',
    cancelledBy: null,
    works: Object.fromEntries(works),
    endedAt: null,
    detail: null,
  };
}

/** The window that keeps the users' tasks away. */
function reservationOf(
  { id, until, createdBy, createdAt }: Maintenance,
  request: ReservationRequest,
  slots: readonly ReservedSlot[],
): Reservation {
  return {
    id,
    name: id,
    purpose: 'maintenance',
    users: [],
    groups: [],
    jobs: [],
    slots,
    skipped: [],
    request,
    recurrence: null,
    placedUntil: until,
    createdBy,
    createdAt,
  };
}

// What maintenance of a site's nodes cannot be, because a site knows no such thing: refused when it
// is planned, with the reason, not found out in its time.

const SUSPENDS_NOTHING = 'no maintenance suspends jobs of a site; choose wait, requeue or kill';
const PASSES_NO_SIGNALS = 'no maintenance warns jobs of a site; leave the warning out';

type PlanTerms = Pick<PlanMaintenance, 'running' | 'warning' | 'program'>;

/** Returns null when nothing is wrong. */
function badAtSites(state: State, names: readonly NodeName[], wish: PlanTerms): Refusal | null {
  for (const name of names) {
    const node = state.nodes.get(name);
    const why = node === undefined ? null : whyNot(state, node, wish);
    if (why !== null) return refuse('maintenance.not_at_site', { node: name, why });
  }
  return null;
}

function whyNot(state: State, node: Node, { running, warning, program }: PlanTerms): string | null {
  if (isGateway(node)) {
    if (running === 'suspend') return SUSPENDS_NOTHING;
    if (warning !== null) return PASSES_NO_SIGNALS;
    if (program === null) return null;
    return 'it is the gateway of a whole site, whose own scheduler would choose where the program runs; name nodes of a steered site, like n1.SITE';
  }
  if (memberOf(state, node) === null) return null;
  if (running === 'suspend') return SUSPENDS_NOTHING;
  if (warning !== null) return PASSES_NO_SIGNALS;
  if (program?.restarts === true) {
    return 'a restart of it cannot be seen from its gateway; let the program end by itself';
  }
  return null;
}

// A repair that nobody asked for takes no partition its last node: what decided on it looked at the
// cluster a moment before, and others may have gone since.

/** The partition in which no other node works; null: there is none. */
function lastNodeOf({ state, settings }: Step, { nodes }: PlanMaintenance): string | null {
  const all = [...state.nodes.values()];
  const taken = new Set<string>(nodes);
  for (const maintenance of state.maintenances.values()) {
    if (isAlive(maintenance)) for (const name of maintenance.nodes) taken.add(name);
  }
  for (const partition of Object.values(schedulingOf(state, settings).partitions)) {
    const members = all.filter((node) => {
      return isMember(partition, { name: node.name, labels: labelsOf(node) });
    });
    const isNeeded = members.some((node) => nodes.includes(node.name) && mayGetWork(node));
    const goesOn = members.some((node) => !taken.has(node.name) && mayGetWork(node));
    if (isNeeded && !goesOn) return partition.name;
  }
  return null;
}
