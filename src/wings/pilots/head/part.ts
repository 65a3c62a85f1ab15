// What the wing adds to a head.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { lacksAccount } from '../../../kernel/head/auth/accounts.ts';
import { makeTokenId } from '../../../kernel/head/auth/secrets.ts';
import type { Call, Handler, HandlersOf } from '../../../kernel/head/http/call.ts';
import { changed } from '../../../kernel/head/http/handlers/job-actions.ts';
import type { EventsPart } from '../../../kernel/head/http/public-events.ts';
import type { Services } from '../../../kernel/head/http/services.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { Node } from '../../../kernel/machine/nodes/facts.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import { pilotEvents } from '../api/events.ts';
import type { FleetView, pilotRoutes } from '../api/pilots.ts';
import type { PilotEvent } from '../machine/events.ts';
import type { Fleet, Launch, Pilot } from '../machine/facts.ts';
import { pilotsOf } from '../machine/find.ts';
import { pilotLog } from '../model/pilot.ts';
import { noAccount } from './world.ts';

// Fleets of pilots: started, shown, scaled and stopped. What their batch system says of them comes
// from the head's keeper by way of the state.

/** A batch system that says nothing for so long is told of as that: the fleet goes on trying. */
const ANSWER_MS = 20_000;
const LOOK_MS = 50;

export const startFleet: Handler<'startFleet'> = async (services, { body, actor, signal }) => {
  const { engine, chance, facts } = services;
  if (facts.fingerprint === null || facts.addresses.length === 0) {
    return err(refuse('pilot.no_address', {}));
  }
  if (actor.kind === 'user' && (await lacksAccount(actor.name))) {
    return err(refuse('pilot.refused', { why: noAccount(actor.name) }));
  }
  const { name = null, isOnce, min, max, idleMs, ...wish } = body;
  const { memoryBytes = null, walltimeMs = null, queue = null, image = null } = wish;
  const reply = await engine.execute(
    {
      kind: 'start_fleet',
      name,
      tag: makeTokenId(chance),
      ...(facts.multiUser ? { ownOnly: true as const } : {}),
      isOnce,
      min: isOnce ? max : min,
      max,
      idleMs,
      wish: { ...wish, memoryBytes, walltimeMs, queue, image },
    },
    actor,
  );
  if (!reply.ok) return reply;
  if (reply.value.kind !== 'fleet_started') throw new Error('a fleet answers its name');
  return await answered(services, reply.value.fleet, { actor, signal });
};

/** What the batch system says to the first submission; refused there, nothing is left here. */
async function answered(
  { engine, clock }: Services,
  id: string,
  { actor, signal }: Pick<Call<'startFleet'>, 'actor' | 'signal'>,
): Promise<Result<FleetView, Refusal>> {
  const until = clock.monotonic() + ANSWER_MS;
  for (;;) {
    const fleet = engine.state.fleets.get(id);
    if (fleet === undefined) return err(refuse('pilot.not_found', { fleet: id }));
    if (fleet.trouble !== null) {
      await engine.execute({ kind: 'stop_fleet', fleet: id }, actor);
      return err(refuse('pilot.refused', { why: fleet.trouble }));
    }
    const isAsked = [...fleet.launches.values()].some(({ site }) => site === null);
    if (!isAsked || signal.aborted || clock.monotonic() >= until) {
      return ok(viewFleet(engine.state, fleet));
    }
    await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
  }
}

const listFleets: Handler<'listFleets'> = ({ engine: { state } }) =>
  ok({ fleets: [...state.fleets.values()].map((fleet) => viewFleet(state, fleet)) });

const scaleFleet: Handler<'scaleFleet'> = async ({ engine }, { params, body, actor }) =>
  changed(await engine.execute({ kind: 'scale_fleet', fleet: params.fleet, ...body }, actor));

const stopFleet: Handler<'stopFleet'> = async ({ engine }, { params, actor }) =>
  changed(await engine.execute({ kind: 'stop_fleet', fleet: params.fleet }, actor));

function viewFleet(state: State, fleet: Fleet): FleetView {
  const { id: name, by: startedBy, wish, stoppedBy, isPaused, trouble } = fleet;
  const { isOnce, min, max, idleMs, startedAt } = fleet;
  const going = isPaused ? ('paused' as const) : ('active' as const);
  return {
    name,
    system: wish.system,
    startedBy,
    startedAt,
    isOnce,
    min,
    max,
    idleMs,
    trouble,
    state: stoppedBy === null ? going : 'stopping',
    cpuCount: wish.cpuCount,
    walltimeMs: wish.walltimeMs,
    pilots: [...pilotsOf(fleet)].map(({ launch, pilot }) => viewPilot(state, fleet, launch, pilot)),
  };
}

function viewPilot(
  { nodes }: State,
  { wish: { directory, system } }: Fleet,
  { site }: Launch,
  { node, index, phase, leaving, endsAt }: Pilot,
): FleetView['pilots'][number] {
  return {
    node,
    job: site === null ? null : `${site}${system === 'sge' ? '.' : '_'}${index}`,
    state: leaving === null ? pilotStateOf(phase, site, nodes.get(node)) : 'leaving',
    why: leaving,
    endsAt,
    log: `${directory.replace(/\/$/, '')}/${pilotLog(node)}`,
  };
}

function pilotStateOf(
  phase: Pilot['phase'],
  site: string | null,
  node: Node | undefined,
): FleetView['pilots'][number]['state'] {
  if (site === null) return 'asked';
  if (node?.connected === false) return 'away';
  if (phase === 'up' && node !== undefined) return 'up';
  return phase === 'waiting' ? 'waiting' : 'starting';
}

const events: EventsPart<PilotEvent> = { kinds: pilotEvents };

const handlers: HandlersOf<typeof pilotRoutes> = { startFleet, listFleets, scaleFleet, stopFleet };

export const head: HeadPart = { handlers, events };
