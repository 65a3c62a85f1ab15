// Submitting a launch: looked up by its name first, so that one whose answer was lost is found and not
// made again.

import type { Fleet, Launch } from '../../core/controller/pilots/facts.ts';
import { tokenLabel } from '../../core/controller/pilots/find.ts';
import { PILOT_QUEUE_MAX_MS } from '../../core/model/limits.ts';
import { launchName } from '../../core/model/pilot.ts';
import type { SiteUser } from '../../ports/sites.ts';
import { formatToken, hashSecret, makeSecret, makeTokenId } from '../auth/secrets.ts';
import type { PilotWorld } from './world.ts';

interface Wanted {
  readonly fleet: string;
  readonly number: number;
  readonly user: SiteUser | null;
}

export async function launch(world: PilotWorld, wanted: Wanted): Promise<void> {
  const { fleet: id, number, user } = wanted;
  const found = find(world, wanted);
  if (found === null) return;
  const { fleet } = found;
  const host = world.hosts[fleet.wish.system];
  const known = await host.named(launchName(fleet.tag, number), user);
  if (!known.ok) return world.log.warn({ fleet: id, words: known.error.text }, AWAY);
  const [site, ...others] = known.value;
  for (const other of others) await host.cancel(other, null, user);
  if (site !== undefined) return await note(world, wanted, { kind: 'submitted', site });
  await submit(world, wanted);
}

const AWAY = 'a batch system does not say what was submitted to it; it is asked again';

async function submit(world: PilotWorld, wanted: Wanted): Promise<void> {
  const { number, user } = wanted;
  const found = find(world, wanted);
  if (found === null) return;
  const { fleet, launch } = found;
  if (fleet.stoppedBy !== null) return await refuse(world, wanted, 'it was stopped before');
  const ticket = await ticketFor(world, fleet, number);
  if (ticket === null) return await refuse(world, wanted, 'this head listens on no port');
  const { id, tag, wish } = fleet;
  const count = launch.pilots.size;
  const answer = await world.hosts[wish.system].submit(
    { fleet: id, launch: number, tag, count, wish, ticket },
    user,
  );
  if (answer.ok) return await note(world, wanted, { kind: 'submitted', site: answer.value });
  // Nobody knows whether it was taken: it is looked for before it is tried again.
  if (answer.error.kind !== 'refused') {
    return world.log.warn({ fleet: id, words: answer.error.text }, AWAY);
  }
  await refuse(world, wanted, answer.error.text);
}

/** Its token is made anew for each attempt: the head keeps none but as a hash. */
async function ticketFor(world: PilotWorld, fleet: Fleet, number: number): Promise<string | null> {
  const { engine, chance } = world;
  const tokenId = makeTokenId(chance);
  const secret = makeSecret(chance);
  const ticket = world.ticketOf(formatToken('wj', tokenId, secret));
  if (ticket === null) return null;
  const made = await engine.execute(
    {
      ...{ kind: 'create_token', tokenId, hash: hashSecret(secret), purpose: 'join' },
      ...{ user: fleet.by, label: tokenLabel(fleet, number) },
      expiresAt: engine.now() + PILOT_QUEUE_MAX_MS,
    },
    { kind: 'system' },
  );
  return made.ok ? ticket : null;
}

function find(
  { engine }: PilotWorld,
  { fleet: id, number }: Wanted,
): { readonly fleet: Fleet; readonly launch: Launch } | null {
  const fleet = engine.state.fleets.get(id);
  const launch = fleet?.launches.get(number);
  if (fleet === undefined || launch === undefined || launch.site !== null) return null;
  return { fleet, launch };
}

function refuse(world: PilotWorld, wanted: Wanted, why: string): Promise<void> {
  return note(world, wanted, { kind: 'refused', why });
}

async function note(
  { engine, log }: PilotWorld,
  { fleet, number }: Wanted,
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
