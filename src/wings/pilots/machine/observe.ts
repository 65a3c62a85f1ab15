// What the shell says of a launch: whether it was taken, and where its pilots are. Only a listing
// that does not have a pilot any more, or says that it has ended, is evidence that its node is
// gone.

import { ok } from '../../../kernel/base/result.ts';
import { needRole } from '../../../kernel/machine/authority.ts';
import { loseNode } from '../../../kernel/machine/nodes/sessions.ts';
import type { Answer, Step } from '../../../kernel/machine/step.ts';
import type { Actor } from '../../../kernel/model/actor.ts';
import type { NoteLaunch, ObservePilots, PilotSeen } from './commands.ts';
import { decideFleet } from './course.ts';
import type { Fleet, Launch, Pilot } from './facts.ts';

export function decideNoteLaunch(step: Step, command: NoteLaunch, actor: Actor): Answer {
  const allowed = needSystem(step, actor);
  if (allowed !== null) return allowed;
  const { said } = command;
  const found = known(step, command);
  // Said again, or of a launch that is over: nothing new.
  if (found === null || found.launch.site !== null) return ok({ kind: 'changed', count: 0 });
  const of = { fleet: command.fleet, launch: command.launch };
  if (said.kind === 'submitted') step.emit({ kind: 'pilots_submitted', ...of, site: said.site });
  else step.emit({ kind: 'pilots_refused', ...of, why: said.why });
  decideFleet(step, found.fleet);
  return ok({ kind: 'changed', count: 1 });
}

export function decideObserve(step: Step, command: ObservePilots, actor: Actor): Answer {
  const allowed = needSystem(step, actor);
  if (allowed !== null) return allowed;
  const found = known(step, command);
  if (found === null) return ok({ kind: 'changed', count: 0 });
  for (const seen of command.seen) {
    const pilot = found.launch.pilots.get(seen.index);
    if (pilot !== undefined) observe(step, { ...found, pilot }, seen);
  }
  decideFleet(step, found.fleet);
  return ok({ kind: 'changed', count: command.seen.length });
}

interface Of {
  readonly fleet: Fleet;
  readonly launch: Launch;
}

function observe(
  step: Step,
  { fleet, launch, pilot }: Of & { pilot: Pilot },
  seen: PilotSeen,
): void {
  const of = { fleet: fleet.id, launch: launch.number, index: pilot.index };
  if (seen.state === 'gone') return lose(step, { fleet, pilot }, of, seen.why);
  if (seen.state === 'held') return noteHeld(step, pilot, of, seen.why);
  const isRunning = seen.state === 'running';
  const endsAt = seen.state === 'running' ? seen.endsAt : null;
  if (isRunning === (pilot.phase !== 'waiting') && endsAt === pilot.endsAt) return;
  step.emit({ kind: 'pilot_seen', ...of, isRunning, endsAt });
}

/** Said once: it is asked again every moment. */
function noteHeld(
  step: Step,
  { leaving }: Pilot,
  of: { readonly fleet: string; readonly launch: number; readonly index: number },
  words: string,
): void {
  if (leaving === null || leaving.includes(HELD)) return;
  step.emit({ kind: 'pilot_leaving', ...of, why: `${leaving}${HELD}${words}` });
}

const HELD = '; it is not ended yet: ';

/** Removes a pilot with its node; tasks there are over, as the batch system ended all processes. */
function lose(
  step: Step,
  { fleet, pilot }: { readonly fleet: Fleet; readonly pilot: Pilot },
  of: { readonly fleet: string; readonly launch: number; readonly index: number },
  why: string,
): void {
  const node = step.state.nodes.get(pilot.node);
  const by = fleet.wish.system;
  if (node !== undefined) {
    loseNode(step, node, { by, why: `pilot ${pilot.node} is gone: ${why}` });
    step.emit({ kind: 'node_removed', node: node.name, by });
  }
  const failed = node === undefined && pilot.leaving === null;
  step.emit({ kind: 'pilot_gone', ...of, why, failed });
}

function known(
  { state }: Step,
  { fleet: id, launch: number }: Pick<NoteLaunch, 'fleet' | 'launch'>,
): Of | null {
  const fleet = state.fleets.get(id);
  const launch = fleet?.launches.get(number);
  return fleet === undefined || launch === undefined ? null : { fleet, launch };
}

/** Nobody else may say what a batch system has said. */
function needSystem(step: Step, actor: Actor): Answer | null {
  if (actor.kind === 'system') return null;
  const allowed = needRole(actor, 'admin', 'speaking for a batch system');
  if (!allowed.ok) return allowed;
  return step.refuse('argument.invalid', { what: 'only the head speaks for a batch system' });
}
