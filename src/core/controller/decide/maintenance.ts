// What operators ask of maintenance: planning it and calling it off. What then happens by time is
// in maintenance-course.ts.

import { formatDuration } from '../../base/duration.ts';
import { formatInstant } from '../../base/instant.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Actor } from '../../model/actor.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { NodeName } from '../../model/ids.ts';
import { MAINTENANCE_MAX_MS, RESERVATIONS_MAX } from '../../model/limits.ts';
import { isAlive, type Maintenance, type NodeWork } from '../../model/maintenance.ts';
import type { Reservation } from '../../model/reservation.ts';
import type { PlanMaintenance } from '../commands.ts';
import { badProgram } from '../spec.ts';
import type { Answer, Step } from '../step.ts';
import { nameOf, needRole } from './authority.ts';
import { advanceMaintenance, endMaintenance } from './maintenance-course.ts';
import { earliestSlot, takenAt } from './maintenance-slot.ts';

export function decidePlanMaintenance(step: Step, command: PlanMaintenance, actor: Actor): Answer {
  const refusal = mayPlan(step, command, actor) ?? badPlan(step, command);
  if (refusal !== null) return err(refusal);
  const from = placeOf(step, command);
  if (!from.ok) return from;
  const by = nameOf(actor);
  const maintenance = maintenanceOf(step, command, { from: from.value, by });
  step.emit({ kind: 'maintenance_planned', maintenance, by });
  step.emit({ kind: 'reservation_created', reservation: reservationOf(maintenance), by });
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
    return invalid(`there are ${RESERVATIONS_MAX} reservations already`);
  }
  if (program === null) return null;
  // It runs as whoever the agents run as, which is root where they switch users.
  const trusted = needRole(actor, 'admin', 'running a program in maintenance');
  return trusted.ok ? null : trusted.error;
}

function badPlan(step: Step, command: PlanMaintenance): Refusal | null {
  const { nodes, durationMs, warning, reason, program, time } = command;
  if (nodes.length === 0) return invalid('maintenance needs a node');
  if (new Set(nodes).size < nodes.length) return invalid('a node is named twice');
  const unknown = nodes.find((name) => !step.state.nodes.has(name));
  if (unknown !== undefined) return refuse('node.not_found', { node: unknown });
  if (!isBetween(durationMs, 1000, MAINTENANCE_MAX_MS)) {
    return invalid(`a maintenance lasts from 1s to ${formatDuration(MAINTENANCE_MAX_MS)}`);
  }
  if (reason.trim() === '') return invalid('maintenance needs a reason');
  if (warning !== null && !isBetween(warning.signal, 1, 64)) {
    return invalid(`${warning.signal} is not a signal number (1-64)`);
  }
  if (warning !== null && !isBetween(warning.leadMs, 1000, MAINTENANCE_MAX_MS)) {
    return invalid('a warning comes at least 1s before');
  }
  if (time.kind === 'now' && warning !== null) {
    return invalid('what begins now leaves no time for a warning');
  }
  return program === null ? null : badProgram(program.program);
}

function isBetween(value: number, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

function invalid(what: string): Refusal {
  return refuse('argument.invalid', { what });
}

/** When it begins; refused where there is no room for it. */
function placeOf(step: Step, command: PlanMaintenance): Result<number, Refusal> {
  const { time, nodes, durationMs } = command;
  const { state, at } = step;
  if (time.kind === 'flexible') return flexible(step, command, time);
  if (time.kind === 'fixed' && time.from < at) return past('The start', time.from);
  const from = time.kind === 'now' ? at : time.from;
  const taken = takenAt(state, nodes, { from, until: from + durationMs });
  if (taken === null) return ok(from);
  return step.refuse('maintenance.conflict', {
    node: taken.node,
    other: taken.other,
    from: formatInstant(taken.from),
    until: formatInstant(taken.until),
  });
}

function flexible(
  step: Step,
  { nodes, durationMs }: PlanMaintenance,
  { notBefore, until }: { notBefore: number; until: number },
): Result<number, Refusal> {
  const { state, at } = step;
  if (until <= at) return past('The end of the window', until);
  const from = earliestSlot(state, nodes, { durationMs, notBefore: Math.max(notBefore, at), at });
  if (from + durationMs <= until) return ok(from);
  return step.refuse('maintenance.no_slot', {
    duration: formatDuration(durationMs),
    until: formatInstant(until),
    nearest: `the first room begins at ${formatInstant(from)}`,
  });
}

function past(what: string, at: number): Result<never, Refusal> {
  return err(refuse('maintenance.past', { what, at: formatInstant(at) }));
}

function maintenanceOf(
  { state, at }: Step,
  command: PlanMaintenance,
  { from, by }: { from: number; by: string },
): Maintenance {
  const { nodes, durationMs, running, warning, program, reason } = command;
  const works = nodes.map((name): [NodeName, NodeWork] => [name, { kind: 'waiting' }]);
  return {
    id: `m${state.nextReservationId}`,
    nodes,
    from,
    until: from + durationMs,
    ...{ running, warning, program, reason: reason.trim(), createdBy: by, createdAt: at },
    phase: 'planned',
    cancelledBy: null,
    works: Object.fromEntries(works),
    suspended: [],
    endedAt: null,
    detail: null,
  };
}

/** The window that keeps the users' tasks away. */
function reservationOf(maintenance: Maintenance): Reservation {
  const { id, nodes, from, until, createdBy, createdAt } = maintenance;
  const shares = Object.fromEntries(nodes.map((name) => [name, 'whole' as const]));
  return {
    id,
    name: id,
    purpose: 'maintenance',
    users: [],
    groups: [],
    jobs: [],
    slots: [{ from, until, shares, begun: false }],
    skipped: [],
    request: {
      time: { kind: 'fixed', from },
      durationMs: until - from,
      nodeNames: nodes,
      nodeCount: nodes.length,
      perNode: 'whole',
      labels: [],
      force: true,
    },
    recurrence: null,
    placedUntil: until,
    createdBy,
    createdAt,
  };
}
