// Submitting a launch: looked up by its name first, so that one whose answer was lost is found and
// not made again.

import {
  formatToken,
  hashSecret,
  makeSecret,
  makeTokenId,
} from '../../../kernel/head/auth/secrets.ts';
import { PILOT_QUEUE_MAX_MS } from '../../../kernel/model/limits.ts';
import type { PilotAccount } from '../fabric/pilot-host.ts';
import type { Fleet, Launch } from '../machine/facts.ts';
import { tokenLabel } from '../machine/find.ts';
import { launchName } from '../model/pilot.ts';
import type { PilotWorld } from './world.ts';

interface LaunchName {
  readonly fleet: string;
  readonly number: number;
}

interface Wanted extends LaunchName {
  readonly account: PilotAccount;
}

/** What happens to submissions while this program runs. */
export interface Course {
  /** No more commands: the head ends. */
  readonly ending: AbortSignal;
  /** Ms since 1970. */
  readonly begunAt: number;
  /** Since when nobody knows if a launch was taken, in ms of the monotonic clock, by its name. */
  readonly doubtfulSince: Map<string, number>;
}

/** A batch system that has taken a submission lists it by then, whatever went wrong on the way. */
export const SETTLE_MS = 15_000;

export async function launch(world: PilotWorld, wanted: Wanted, course: Course): Promise<void> {
  const { fleet: id, number, account } = wanted;
  const found = find(world, wanted);
  if (found === null || course.ending.aborted) return;
  const { fleet } = found;
  const host = world.hosts[fleet.wish.system];
  const name = launchName(fleet.tag, number);
  const known = await host.named(name, account);
  if (!known.ok) return world.log.warn({ fleet: id, words: known.error.text }, AWAY);
  const [site, ...others] = known.value;
  for (const other of others) await host.cancel(other, null, account.user);
  if (site !== undefined) {
    course.doubtfulSince.delete(name);
    return await note(world, wanted, { kind: 'submitted', site });
  }
  if (course.ending.aborted || isInDoubt(world, found.launch, name, course)) return;
  course.doubtfulSince.delete(name);
  if (!(await submit(world, wanted))) course.doubtfulSince.set(name, world.clock.monotonic());
}

/** One that an earlier head may have submitted is in doubt from when this one looks for it. */
function isInDoubt(
  { clock }: PilotWorld,
  { askedAt }: Launch,
  name: string,
  { begunAt, doubtfulSince }: Course,
): boolean {
  const now = clock.monotonic();
  if (askedAt < begunAt && !doubtfulSince.has(name)) doubtfulSince.set(name, now);
  return now - (doubtfulSince.get(name) ?? -Infinity) < SETTLE_MS;
}

const AWAY = 'a batch system does not say what was submitted to it; it is asked again';

/** False: nobody knows whether it was taken. */
async function submit(world: PilotWorld, wanted: Wanted): Promise<boolean> {
  const { number, account } = wanted;
  const found = find(world, wanted);
  if (found === null) return true;
  const { fleet, launch } = found;
  if (fleet.stoppedBy !== null) return await refuse(world, wanted, 'it was stopped before');
  const ticket = await ticketFor(world, fleet, number);
  if (ticket === null) return await refuse(world, wanted, 'this head listens on no port');
  const { id, tag, wish } = fleet;
  const count = launch.pilots.size;
  const answer = await world.hosts[wish.system].submit(
    { fleet: id, launch: number, tag, count, wish, ticket },
    account.user,
  );
  if (answer.ok) {
    await note(world, wanted, { kind: 'submitted', site: answer.value });
    return true;
  }
  if (answer.error.kind === 'refused') return await refuse(world, wanted, answer.error.text);
  // It is looked for before it is tried again.
  world.log.warn({ fleet: id, words: answer.error.text }, AWAY);
  return false;
}

/** Makes a new token for each attempt: the head keeps tokens only as hashes. */
async function ticketFor(world: PilotWorld, fleet: Fleet, number: number): Promise<string | null> {
  const { engine, chance } = world;
  const tokenId = makeTokenId(chance);
  const secret = makeSecret(chance);
  const ticket = world.ticketOf(formatToken('wj', tokenId, secret));
  if (ticket === null) return null;
  const made = await engine.execute(
    {
      kind: 'create_token',
      tokenId,
      hash: hashSecret(secret),
      purpose: 'join',
      user: fleet.by,
      label: tokenLabel(fleet, number),
      expiresAt: engine.now() + PILOT_QUEUE_MAX_MS,
    },
    { kind: 'system' },
  );
  return made.ok ? ticket : null;
}

function find(
  { engine }: PilotWorld,
  { fleet: id, number }: LaunchName,
): { readonly fleet: Fleet; readonly launch: Launch } | null {
  const fleet = engine.state.fleets.get(id);
  const launch = fleet?.launches.get(number);
  if (fleet === undefined || launch === undefined || launch.site !== null) return null;
  return { fleet, launch };
}

export async function refuse(world: PilotWorld, place: LaunchName, why: string): Promise<true> {
  await note(world, place, { kind: 'refused', why });
  return true;
}

async function note(
  { engine, log }: PilotWorld,
  { fleet, number }: LaunchName,
  said:
    | { readonly kind: 'submitted'; readonly site: string }
    | { readonly kind: 'refused'; readonly why: string },
): Promise<void> {
  const words = said.kind === 'submitted' ? 'pilots are submitted' : 'pilots were not taken';
  log.info({ fleet, launch: number, ...said }, words);
  const command = { kind: 'note_launch', fleet, launch: number, said } as const;
  const result = await engine.execute(command, { kind: 'system' });
  if (!result.ok) log.warn({ fleet, code: result.error.code }, 'this could not be recorded');
}
