// Reservations: shown to all users, made and changed as the controller allows.

import type { ChangeReservationBody, MadeReservation } from '../../../api/reservations.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { Command } from '../../../machine/declared.ts';
import type {
  Occurrences,
  ReservationMembers,
  WantedReservation,
} from '../../../machine/reservations/commands.ts';
import type { UserActor } from '../../../model/actor.ts';
import { type Refusal, refuse } from '../../../model/errors.ts';
import type { JobId, NodeName, UserName } from '../../../model/ids.ts';
import type { Recurrence, Reservation } from '../../../model/reservation.ts';
import { viewInFull, viewReservation } from '../../answers/reservation-view.ts';
import { findAccount, findGroup } from '../../auth/accounts.ts';
import { occurrencesOf } from '../../recurrence.ts';
import type { Handler } from '../call.ts';
import type { Services } from '../services.ts';
import { changed } from './job-actions.ts';

export const listReservations: Handler<'listReservations'> = ({ engine }) => {
  const { state } = engine;
  const now = engine.now();
  const reservations = [...state.reservations.values()].map((r) => viewReservation(state, r, now));
  return ok({ reservations });
};

export const getReservation: Handler<'getReservation'> = ({ engine }, { params }) => {
  const found = find(engine, params.name);
  return found.ok ? ok(viewInFull(engine.state, found.value, engine.now())) : found;
};

export const createReservation: Handler<'createReservation'> = ({ engine }, { body, actor }) => {
  const occurrences = occurrencesFor(engine, body.recurrence ?? null);
  if (!occurrences.ok) return occurrences;
  const request = wishOf(body, { ...FRESH, durationMs: body.durationMs });
  if (!request.ok) return request;
  const members = { users: [], groups: [], jobs: [], ...membersOf(body) };
  const command: Command = {
    kind: 'create_reservation',
    name: body.name ?? null,
    members,
    request: request.value,
    recurrence: occurrences.value,
  };
  return execute(engine, command, actor, body);
};

export const changeReservation: Handler<'changeReservation'> = ({ engine }, call) => {
  const { params, body, actor } = call;
  const found = find(engine, params.name);
  if (!found.ok) return found;
  const placed = placedAnew(engine, found.value, body);
  if (!placed.ok) return placed;
  const command: Command = {
    kind: 'change_reservation',
    reservation: found.value.id,
    ...(body.name === undefined ? {} : { name: body.name }),
    members: membersOf(body),
    ...placed.value,
  };
  return execute(engine, command, actor, body);
};

export const cancelReservation: Handler<'cancelReservation'> = async ({ engine }, call) => {
  const command = { kind: 'cancel_reservation', reservation: call.params.name } as const;
  return changed(await engine.execute(command, call.actor));
};

type Engine = Services['engine'];
type Placed = { request?: WantedReservation; recurrence?: Occurrences | null };

/** Whole nodes, one of them, now. */
const FRESH: WantedReservation = {
  time: { kind: 'now' },
  durationMs: 0,
  nodeNames: [],
  nodeCount: 1,
  perNode: 'whole',
  labels: [],
  force: false,
};

async function execute(
  engine: Engine,
  command: Command,
  actor: UserActor,
  { users = [], groups = [] }: Pick<ChangeReservationBody, 'users' | 'groups'>,
): Promise<Result<MadeReservation, Refusal>> {
  const done = await engine.execute(command, actor);
  if (!done.ok) return done;
  if (done.value.kind !== 'reserved') throw new Error(`${command.kind} answers a reservation`);
  const view = viewReservation(engine.state, done.value.reservation, engine.now());
  const { state } = engine;
  const others = users.filter((user) => user !== actor.name);
  const unknownUsers = await unknownOf(others, knownUsers(state), findAccount);
  const unknownGroups = await unknownOf(groups, knownGroups(state), findGroup);
  return ok({
    ...view,
    ...(unknownUsers.length > 0 && { unknownUsers }),
    ...(unknownGroups.length > 0 && { unknownGroups }),
  });
}

function knownUsers({ users, tokens }: Engine['state']): ReadonlySet<string> {
  const known = new Set<string>(users.keys());
  for (const { user, purpose } of tokens.values()) if (purpose === 'user') known.add(user);
  return known;
}

function knownGroups({ users }: Engine['state']): ReadonlySet<string> {
  return new Set([...users.values()].flatMap(({ groups }) => groups));
}

/** Looked for in a directory service, one after the other, so many at most. */
const NAMES_ASKED_MAX = 50;

/** Names that are perhaps misspelt: the reservation lets in who has them, should anybody. */
async function unknownOf(
  names: readonly string[],
  known: ReadonlySet<string>,
  find: (name: string) => Promise<boolean | undefined>,
): Promise<string[]> {
  const unknown: string[] = [];
  for (const name of names.filter((one) => !known.has(one)).slice(0, NAMES_ASKED_MAX)) {
    const isThere = await find(name);
    // The reservation is made, and its reply does not wait for each name in turn.
    if (isThere === undefined) break;
    if (!isThere) unknown.push(name);
  }
  return unknown;
}

/** When and where the body says it shall be now; nothing when it says nothing of that. */
function placedAnew(
  engine: Engine,
  known: Reservation,
  body: ChangeReservationBody,
): Result<Placed, Refusal> {
  const { at, within, durationMs, nodeNames, nodeCount, share, labels, force, recurrence } = body;
  const said = [at, within, durationMs, nodeNames, nodeCount, share, labels, force, recurrence];
  if (said.every((one) => one === undefined)) return ok({});
  const occurrences = occurrencesFor(
    engine,
    recurrence === undefined ? known.recurrence : recurrence,
  );
  if (!occurrences.ok) return occurrences;
  const request = wishOf(body, known.request);
  return request.ok ? ok({ request: request.value, recurrence: occurrences.value }) : request;
}

function occurrencesFor(
  engine: Engine,
  recurrence: Recurrence | null,
): Result<Occurrences | null, Refusal> {
  return recurrence === null ? ok(null) : occurrencesOf(recurrence, engine.now());
}

function wishOf(
  { at, within, durationMs, nodeNames, nodeCount, share, labels, force }: ChangeReservationBody,
  known: WantedReservation,
): Result<WantedReservation, Refusal> {
  if (at !== undefined && within !== undefined) {
    const what = 'give either a start or a window, not both';
    return err(refuse('argument.invalid', { what }));
  }
  let time = known.time;
  if (at !== undefined) time = { kind: 'fixed', from: at };
  if (within !== undefined) {
    time = { kind: 'flexible', notBefore: within.notBefore ?? 0, until: within.until };
  }
  const names = nodeNames as readonly NodeName[] | undefined;
  return ok({
    ...known,
    time,
    durationMs: durationMs ?? known.durationMs,
    nodeNames: names ?? known.nodeNames,
    nodeCount: nodeCount ?? (names === undefined ? known.nodeCount : Math.max(1, names.length)),
    perNode: share ?? known.perNode,
    labels: labels ?? known.labels,
    force: force ?? known.force,
  });
}

function membersOf({ users, groups, jobs }: ChangeReservationBody): Partial<ReservationMembers> {
  return {
    ...(users === undefined ? {} : { users: users as UserName[] }),
    ...(groups === undefined ? {} : { groups }),
    ...(jobs === undefined ? {} : { jobs: jobs as JobId[] }),
  };
}

function find({ state }: Engine, text: string): Result<Reservation, Refusal> {
  const { reservations } = state;
  const found = reservations.get(text) ?? [...reservations.values()].find((r) => r.name === text);
  if (found !== undefined) return ok(found);
  return err(refuse('reservation.not_found', { reservation: text }));
}
