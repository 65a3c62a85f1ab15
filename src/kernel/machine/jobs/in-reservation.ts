// Who may use a reservation, and which jobs can run in it at all.

import { formatDuration } from '../../base/duration.ts';
import { formatInstant } from '../../base/instant.ts';
import { plural } from '../../base/plural.ts';
import { ok, type Result } from '../../base/result.ts';
import { shortList } from '../../base/short-list.ts';
import type { UserActor } from '../../model/actor.ts';
import type { Refusal } from '../../model/errors.ts';
import type { JobId, NodeName } from '../../model/ids.ts';
import type { JobSpec } from '../../model/job.ts';
import { meetsLabel } from '../../model/labels.ts';
import { describeRequest, describeResources } from '../../model/request-words.ts';
import type { Reservation, ReservedSlot } from '../../model/reservation.ts';
import { askedOfPart, canHoldAny, fitsIn } from '../../model/resources.ts';
import { isMember, partitionOf } from '../../model/scheduling.ts';
import { totalOf } from '../nodes/cards.ts';
import type { Node } from '../nodes/facts.ts';
import { labelsOf } from '../nodes/view.ts';
import type { Step } from '../step.ts';
import type { Job } from './facts.ts';

/** By id or by name. */
export function findReservation(step: Step, text: string): Result<Reservation, Refusal> {
  const { reservations } = step.state;
  const found = reservations.get(text) ?? [...reservations.values()].find((r) => r.name === text);
  if (found !== undefined) return ok(found);
  return step.refuse('reservation.not_found', { reservation: text });
}

/** The id of the reservation that a job is submitted into. */
export function admitJob(
  step: Step,
  text: string,
  spec: JobSpec,
  actor: UserActor,
): Result<string, Refusal> {
  const found = findReservation(step, text);
  if (!found.ok) return found;
  const reservation = found.value;
  if (!mayUse(step, reservation, actor)) {
    return step.refuse('reservation.denied', { reservation: reservation.name, user: actor.name });
  }
  const fits = checkFit(step, reservation, spec);
  return fits.ok ? ok(reservation.id) : fits;
}

/** Nobody may use maintenance, whoever is named. */
function mayUse({ state }: Step, reservation: Reservation, actor: UserActor): boolean {
  if (reservation.purpose === 'maintenance') return false;
  if (reservation.users.includes(actor.name)) return true;
  const groups = [...(actor.groups ?? []), ...(state.users.get(actor.name)?.groups ?? [])];
  return groups.some((group) => reservation.groups.includes(group));
}

/** What can never start in it is refused now, not left waiting (J4). */
export function checkFit(step: Step, into: Into, spec: FitSpec): Result<null, Refusal> {
  const what = unfitWords(step, into, spec);
  if (what === null) return ok(null);
  return step.refuse('reservation.job_unfit', { reservation: into.name, what });
}

type Into = Pick<Reservation, 'name' | 'request' | 'slots' | 'recurrence'>;
type Head = Pick<Step, 'state' | 'settings'>;
export type FitSpec = Pick<JobSpec, 'walltimeMs' | 'beginAt' | 'request' | 'partition'>;

/** Why such a job can never start in it; null: it can. */
export function unfitWords(
  head: Head,
  { request, slots, recurrence }: Into,
  spec: FitSpec,
): string | null {
  const { walltimeMs, beginAt } = spec;
  if (walltimeMs === null) return 'it has no time limit; give it one with --time';
  if (walltimeMs > request.durationMs) {
    const [limit, lasts] = [walltimeMs, request.durationMs].map(formatDuration);
    return `its time limit is ${limit}, the reservation lasts ${lasts}`;
  }
  const until = recurrence === null ? (slots.at(-1)?.until ?? Infinity) : Infinity;
  if (beginAt !== null && beginAt + walltimeMs > until) {
    const [begins, ends] = [beginAt, until].map(formatInstant);
    const limit = formatDuration(walltimeMs);
    return `with a time limit of ${limit} it begins at ${begins}, the reservation ends at ${ends}`;
  }
  const able = Math.max(...slots.map((slot) => ableIn(head, slot, spec)));
  if (slots.length > 0 && able < spec.request.nodeCount) {
    const isOfKind = spec.request.perNode.gpuKind !== undefined;
    const hint = isOfKind
      ? '; of a part of a node a type can be asked for only where all its gpus are of it: ask for a number, or reserve whole nodes'
      : '';
    const share =
      request.perNode === 'whole' ? '' : `, ${describeResources(request.perNode)} of each node,`;
    const asked = describeRequest(spec.request);
    const fewer = able === 0 ? '' : `; only ${plural(able, 'node')} of it would do`;
    return `the reserved share${share} is too small for ${asked}${fewer}${outsideWords(head, slots, spec)}${hint}`;
  }
  return null;
}

/** `; removed from the cluster: n3; not in partition small: n4`. */
function outsideWords(head: Head, slots: readonly ReservedSlot[], spec: FitSpec): string {
  const names = [...new Set(slots.flatMap(({ shares }) => Object.keys(shares)))] as NodeName[];
  const { nodes } = head.state;
  const isInside = insideOf(head, spec);
  const gone = names.filter((name) => !nodes.has(name));
  const outside = names.filter((name) => {
    const node = nodes.get(name);
    return node !== undefined && !isInside(node);
  });
  const lines = [
    gone.length === 0 ? '' : `; removed from the cluster: ${shortList(gone)}`,
    outside.length === 0 ? '' : `; not in partition ${spec.partition}: ${shortList(outside)}`,
  ];
  return lines.join('');
}

/** Tells nodes of its partition; all are, where the config has that no more. */
function insideOf({ settings }: Head, spec: FitSpec): (node: Node) => boolean {
  const partition = partitionOf(settings.scheduling, spec.partition);
  return (node) =>
    partition === null || isMember(partition, { name: node.name, labels: labelsOf(node) });
}

/** How many of its nodes can hold a part of the job. */
function ableIn(head: Head, { shares }: ReservedSlot, spec: FitSpec): number {
  const { nodeNames, labels, perNode, exclusive } = spec.request;
  const isInside = insideOf(head, spec);
  const able = Object.entries(shares).filter(([name, share]) => {
    const node = head.state.nodes.get(name as NodeName);
    if (node === undefined || !isInside(node) || (exclusive && share !== 'whole')) return false;
    if (nodeNames.length > 0 && !nodeNames.includes(node.name)) return false;
    const has = labelsOf(node);
    if (!labels.every((label) => meetsLabel(has, label))) return false;
    const total = totalOf(node);
    if (share === 'whole') return fitsIn(perNode, total);
    return canHoldAny(share) && fitsIn(askedOfPart(perNode, total), share);
  });
  return able.length;
}

/** Jobs that are to be put into a reservation: they wait, none of their tasks runs. */
export function checkJobs(
  step: Step,
  ids: readonly JobId[],
  reservation: Into,
): Result<readonly Job[], Refusal> {
  const jobs: Job[] = [];
  for (const id of ids) {
    const job = step.state.jobs.get(id);
    if (job === undefined) return step.refuse('job.not_found', { job: String(id) });
    if (job.outcome !== null) {
      const details = { job: String(id), outcome: job.outcome.kind };
      return step.refuse('job.already_done', details);
    }
    if (job.entry.running > 0) {
      return step.refuse('job.not_pending', { job: String(id), state: 'running' });
    }
    const fits = checkFit(step, reservation, job.spec);
    if (!fits.ok) return fits;
    jobs.push(job);
  }
  return ok(jobs);
}
