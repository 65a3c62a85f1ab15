// Starting, scaling and stopping fleets of pilots. For admins: a pilot lets a machine join.

import { err, ok } from '../../../kernel/base/result.ts';
import { isWhole } from '../../../kernel/base/whole.ts';
import { nameOf, needRole } from '../../../kernel/machine/authority.ts';
import { checked, whole, wrong } from '../../../kernel/machine/jobs/wrong.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Answer, Step } from '../../../kernel/machine/step.ts';
import type { Actor } from '../../../kernel/model/actor.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import {
  FLEETS_MAX,
  PILOT_WALLTIME_MAX_MS,
  PILOT_WALLTIME_MIN_MS,
  PILOT_WORD_LENGTH_MAX,
  PILOT_WORDS_MAX,
  PILOTS_MAX,
  POOL_IDLE_MS_MAX,
} from '../../../kernel/model/limits.ts';
import { FLEET_NAME_FORM, isFleetName, type PilotRequest } from '../model/pilot.ts';
import type { ScaleFleet, StartFleet, StopFleet } from './commands.ts';
import { decideFleet } from './course.ts';
import type { Fleet } from './facts.ts';
import { fleetOf } from './find.ts';

export function decideStartFleet(step: Step, command: StartFleet, actor: Actor): Answer {
  const allowed = needRole(actor, 'admin', 'starting pilots');
  if (!allowed.ok) return allowed;
  if (actor.kind !== 'user') {
    return step.refuse('argument.invalid', { what: 'pilots are started by users' });
  }
  const { tag, isOnce, min, max, idleMs, wish } = command;
  const id = command.name ?? freeName(step.state, wish.system);
  const refused = flawOf(command) ?? notFree(step.state, id);
  if (refused !== null) return err(refused);
  const own = command.ownOnly === true ? { ownOnly: true as const } : {};
  const fleet = { id, tag, by: actor.name, ...own, isOnce, wish };
  step.emit({ kind: 'fleet_started', fleet, min, max, idleMs });
  decideFleet(step, fleetOf(step.state, id));
  return ok({ kind: 'fleet_started', fleet: id });
}

/** What they run goes on; a paused fleet tries again. */
export function decideScaleFleet(step: Step, command: ScaleFleet, actor: Actor): Answer {
  const found = ownFleet(step, command.fleet, actor);
  if ('code' in found) return err(found);
  const { min = found.min, max = found.max, idleMs = found.idleMs } = command;
  const isChanged = min !== found.min || max !== found.max || idleMs !== found.idleMs;
  if (found.isOnce && isChanged) {
    const what = `fleet ${found.id} was started with a fixed number of pilots`;
    return step.refuse('argument.invalid', { what }, 'Start another one with --min and --max.');
  }
  const flaw = rangeFlaw({ min, max, idleMs });
  if (flaw !== null) return err(flaw);
  if (!isChanged && found.failures === 0 && !found.isPaused)
    return ok({ kind: 'changed', count: 0 });
  const by = nameOf(actor);
  step.emit({ kind: 'fleet_scaled', fleet: found.id, min, max, idleMs, by });
  decideFleet(step, found);
  return ok({ kind: 'changed', count: 1 });
}

export function decideStopFleet(step: Step, { fleet }: StopFleet, actor: Actor): Answer {
  const found = ownFleet(step, fleet, actor);
  if ('code' in found) return err(found);
  if (found.stoppedBy !== null) return ok({ kind: 'changed', count: 0 });
  step.emit({ kind: 'fleet_stopped', fleet: found.id, by: nameOf(actor) });
  decideFleet(step, found);
  return ok({ kind: 'changed', count: 1 });
}

function ownFleet({ state }: Step, id: string, actor: Actor): Fleet | Refusal {
  const allowed = needRole(actor, 'admin', 'changing pilots');
  if (!allowed.ok) return allowed.error;
  return state.fleets.get(id) ?? refuse('pilot.not_found', { fleet: id });
}

function freeName({ fleets, nextFleet }: State, system: string): string {
  let number = nextFleet;
  while (fleets.has(`${system}${number}`)) number += 1;
  return `${system}${number}`;
}

function notFree(state: State, id: string): Refusal | null {
  if (state.fleets.size >= FLEETS_MAX) {
    return refuse('pilot.too_many', { count: String(state.fleets.size) });
  }
  // Names of nodes begin with it: one that still has a node of its name would get another's.
  const isTaken = state.fleets.has(id) || [...state.nodes.keys()].some((n) => isNodeOf(n, id));
  return isTaken ? refuse('pilot.name_taken', { fleet: id }) : null;
}

function isNodeOf(node: string, fleet: string): boolean {
  return node.startsWith(`${fleet}-`) && /^\d+-\d+$/.test(node.slice(fleet.length + 1));
}

function flawOf({ name, min, max, idleMs, wish }: StartFleet): Refusal | null {
  if (name !== null && !isFleetName(name)) {
    return refuse('argument.invalid', {
      what: `'${name}' is not a name for a fleet; write ${FLEET_NAME_FORM}`,
    });
  }
  return rangeFlaw({ min, max, idleMs }) ?? requestFlaw(wish);
}

function rangeFlaw({ min, max, idleMs }: Pick<Fleet, 'min' | 'max' | 'idleMs'>): Refusal | null {
  const result = checked(() => {
    whole('the most pilots of a fleet', max, 1, PILOTS_MAX);
    whole('the fewest pilots of a fleet', min, 0, max);
    whole('the idle time of a pilot in ms', idleMs, 0, POOL_IDLE_MS_MAX);
  });
  return result.ok ? null : result.error;
}

function requestFlaw(wish: PilotRequest): Refusal | null {
  const { cpuCount, memoryBytes, walltimeMs, options, dockerArgs, image } = wish;
  const result = checked(() => {
    whole('the cpus of a pilot', cpuCount, 1, 100_000);
    if (memoryBytes !== null) whole('the memory of a pilot', memoryBytes, 1, 2 ** 50);
    if (walltimeMs !== null) {
      whole('the time of a pilot in ms', walltimeMs, PILOT_WALLTIME_MIN_MS, PILOT_WALLTIME_MAX_MS);
    }
    if (dockerArgs.length > 0 && image === null) wrong('--docker-args needs --docker-image');
    for (const words of [options, dockerArgs]) {
      if (!isWhole(words.length, 0, PILOT_WORDS_MAX)) wrong('too many words for one submission');
    }
    const words = [...options, ...dockerArgs, image ?? '', wish.queue ?? '', wish.directory];
    if (words.some((word) => word.length > PILOT_WORD_LENGTH_MAX || /[\0\n\r]/.test(word))) {
      wrong(
        `a word for the batch system has no line break, and ${PILOT_WORD_LENGTH_MAX} characters at most`,
      );
    }
    for (const path of [wish.directory, ...wish.sharedPaths]) {
      if (!path.startsWith('/')) wrong(`'${path}' is not an absolute path`);
    }
  });
  return result.ok ? null : result.error;
}
