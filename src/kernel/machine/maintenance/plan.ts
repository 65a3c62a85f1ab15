// What operators ask of maintenance: planning it and calling it off. What then happens by time is
// in maintenance-course.ts.

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
import { nameOf, needRole } from '../authority.ts';
import { badProgram } from '../jobs/program.ts';
import { unknownLabel, unreadableLabel } from '../nodes/label-checks.ts';
import { isGateway } from '../nodes/members.ts';
import { labelsOf } from '../nodes/view.ts';
import type { WantedReservation } from '../reservations/commands.ts';
import { checkRequest, endAsSaid, placeAll } from '../reservations/place.ts';
import type { Answer, Step } from '../step.ts';
import { badAtSites } from './at-sites.ts';
import type { PlanMaintenance } from './commands.ts';
import { advanceMaintenance, endMaintenance } from './course.ts';
import { lastNodeOf } from './last-node.ts';

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
