// Fleets as a program waits for them: until they are gone, or until there is a good one of a name.
// Neither goes on for ever, and the end says what the batch system said last.

import { PILOT_CODES } from '../../../kernel/model/pilot-errors.ts';
import { WeftError } from '../../../kernel/sdk/errors.ts';

/** What is read of a fleet, of those that `weft pilot list` shows. */
export interface FleetSeen {
  readonly name: string;
  readonly state: 'active' | 'paused' | 'stopping';
  readonly trouble: string | null;
  readonly pilots: readonly { readonly why: string | null }[];
}

/** How fleets are seen, and the time between two looks. */
export interface FleetWatch {
  /** Returns null when there is no head. */
  list(): Promise<readonly FleetSeen[] | null>;
  /** Ms of a clock that only rises. */
  now(): number;
  rest(): Promise<void>;
}

/**
 * Has all of them stopped, and resolves when none of them is there. One that goes away by itself
 * meanwhile is stopped, whatever `stop` says of it. Throws what `stop` does, and
 * `allocation.not_released` when it takes longer.
 */
export async function endFleets(
  watch: FleetWatch,
  { names, limitMs }: { readonly names: readonly string[]; readonly limitMs: number },
  stop: (names: readonly string[]) => Promise<void>,
): Promise<void> {
  if (names.length === 0) return;
  try {
    await stop(names);
  } catch (error) {
    const left = await watch.list();
    const isOurs = ({ name, state }: FleetSeen) => names.includes(name) && state !== 'stopping';
    if (left === null || left.some(isOurs)) throw error;
  }
  await untilGone(watch, names, limitMs);
}

/** Resolves when none of them is there. Throws `allocation.not_released` when that takes longer. */
export async function untilGone(
  watch: FleetWatch,
  names: readonly string[],
  limitMs: number,
): Promise<void> {
  const until = watch.now() + limitMs;
  for (;;) {
    const left = ((await watch.list()) ?? []).filter(({ name }) => names.includes(name));
    if (left.length === 0) return;
    if (watch.now() >= until) throw stillThere('allocation.not_released', left, limitMs);
    await watch.rest();
  }
}

/**
 * There is a fleet of this name that takes work: the one that is there, or the one that `begin`
 * starts. One that is being stopped is waited for, and so is one that somebody starts at the same
 * moment. Throws `allocation.not_started` when it is paused, or does not go.
 */
export async function haveFleet(
  watch: FleetWatch,
  { name, limitMs }: { readonly name: string; readonly limitMs: number },
  begin: () => Promise<unknown>,
): Promise<void> {
  const until = watch.now() + limitMs;
  for (;;) {
    const fleet = (await watch.list())?.find((one) => one.name === name);
    if (fleet?.state === 'active') return;
    if (fleet?.state === 'paused') throw paused(fleet);
    const isLate = watch.now() >= until;
    if (fleet !== undefined && isLate) {
      throw stillThere('allocation.not_started', [fleet], limitMs);
    }
    if (fleet === undefined) {
      try {
        await begin();
        return;
      } catch (error) {
        if (isLate || !isTaken(error, name)) throw error;
      }
    }
    await watch.rest();
  }
}

/**
 * What `get` answers. When it fails, what was taken for it is given back: nobody else would do
 * that.
 */
export async function orGiveBack<T>(
  get: () => Promise<T>,
  giveBack: () => Promise<void>,
): Promise<T> {
  try {
    return await get();
  } catch (cause) {
    try {
      await giveBack();
    } catch (left) {
      const message = `${errorTextOf(left)} That was to be given back because of this: ${errorTextOf(cause)}`;
      const code = 'allocation.not_released';
      throw new WeftError({ code, kind: 'failed_precondition', message, cause });
    }
    throw cause;
  }
}

function errorTextOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isTaken(error: unknown, name: string): boolean {
  const words = PILOT_CODES['pilot.name_taken'].text.replace('{fleet}', name);
  return error instanceof WeftError && error.message.includes(words);
}

function stillThere(code: string, left: readonly FleetSeen[], limitMs: number): WeftError {
  const said = left.map((fleet) => `${fleet.name}: ${whyOf(fleet)}`).join('; ');
  return new WeftError({
    code,
    kind: 'deadline_exceeded',
    message: `Pilots are not gone after ${Math.round(limitMs / 1000)} s: ${said}.`,
    details: { fleets: left.map(({ name }) => name).join(', ') },
    hint: 'The head goes on ending them; `weft pilot list` shows how far that is.',
  });
}

function whyOf({ trouble, pilots }: FleetSeen): string {
  const why = pilots.find((pilot) => pilot.why !== null)?.why ?? trouble;
  return why ?? 'the batch system has not said that they ended';
}

function paused({ name, trouble }: FleetSeen): WeftError {
  return new WeftError({
    code: 'allocation.not_started',
    kind: 'failed_precondition',
    message: `Fleet ${name} has started no pilots: ${trouble ?? 'no reason was given'}.`,
    details: { fleet: name },
    hint: `\`weft pilot stop ${name}\` ends it, \`weft pilot scale ${name}\` has it try again.`,
  });
}
