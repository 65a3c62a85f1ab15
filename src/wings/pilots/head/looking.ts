// Ending pilots that are to leave, and telling the controller what a listing says of all of them.
// What carries a fleet's name and is no launch of it is ended: its answer was lost on the way.

import type { SiteJob } from '../../../kernel/model/site.ts';
import type { SiteUser } from '../../sites/ports/sites.ts';
import { type PilotAccount, type PilotHost, siteOf } from '../fabric/pilot-host.ts';
import type { PilotSeen } from '../machine/commands.ts';
import type { Fleet, Launch } from '../machine/facts.ts';
import { launchName, launchPrefix, pilotLog } from '../model/pilot.ts';
import type { PilotWorld } from './world.ts';

/** A launch whose id is known: only of these does a listing say something. */
interface KnownLaunch {
  readonly launch: Launch;
  readonly site: string;
}

export async function look(
  world: PilotWorld,
  id: string,
  account: PilotAccount,
  ending: AbortSignal,
): Promise<void> {
  const { user } = account;
  const fleet = world.engine.state.fleets.get(id);
  if (fleet === undefined) return;
  const host = world.hosts[fleet.wish.system];
  const known = [...fleet.launches.values()].flatMap((launch): KnownLaunch[] =>
    launch.site === null ? [] : [{ launch, site: launch.site }],
  );
  for (const one of known) await endLeaving(world, { host, user, ending, fleet }, one);
  if (ending.aborted) return;
  const listed = await host.list(user);
  if (!listed.ok) {
    const words = 'a batch system does not say how its jobs stand; it is asked again';
    return world.log.warn({ fleet: id, words: listed.error.text }, words);
  }
  const all = { fleet, host, user, ending, jobs: listed.value };
  for (const one of known) if (!ending.aborted) await observe(world, all, one);
  await endStrays(all, account, known);
}

async function endLeaving(
  world: PilotWorld,
  { host, user, ending, fleet }: Giver,
  { launch, site }: KnownLaunch,
): Promise<void> {
  const all = [...launch.pilots.values()];
  const leaving = all.filter((pilot) => pilot.leaving !== null);
  if (leaving.length === 0) return;
  const indices = leaving.length === all.length ? [null] : leaving.map(({ index }) => index);
  for (const index of indices) {
    if (ending.aborted) return;
    const answer = await host.cancel(site, index, user);
    if (answer.ok) continue;
    const why = answer.error.text;
    world.log.warn({ site, index, words: why }, 'a pilot is not ended yet');
    const held = leaving.filter((pilot) => index === null || pilot.index === index);
    const seen = held.map((pilot): PilotSeen => ({ index: pilot.index, state: 'held', why }));
    await tell(world, { fleet, launch, seen });
  }
}

interface Giver {
  readonly host: PilotHost;
  readonly user: SiteUser | null;
  readonly ending: AbortSignal;
  readonly fleet: Fleet;
}

interface LookReport {
  readonly fleet: Fleet;
  readonly launch: Launch;
  readonly seen: readonly PilotSeen[];
}

interface Listed extends Giver {
  readonly jobs: readonly SiteJob[];
}

async function observe(
  world: PilotWorld,
  { fleet, host, user, jobs }: Listed,
  { launch, site }: KnownLaunch,
): Promise<void> {
  const { engine } = world;
  const placeOf = host.placesIn(jobs, site);
  const seen: PilotSeen[] = [];
  for (const { index, node, leaving } of launch.pilots.values()) {
    const place = placeOf(index);
    if (place.state !== 'gone') {
      seen.push({ index, ...place });
      continue;
    }
    const why = place.why ?? (await host.endOf(site, index, user)) ?? 'it is listed no more';
    const job = host.elementOf(site, index);
    const isUnmet = !engine.state.nodes.has(node) && leaving === null;
    const path = `${fleet.wish.directory}/${pilotLog(node)}`;
    const last = isUnmet ? await host.lastWords(path, user) : null;
    const words = `${fleet.wish.system} job ${job} ended: ${why}`;
    seen.push({ index, state: 'gone', why: last === null ? words : `${words}; its log: ${last}` });
  }
  await tell(world, { fleet, launch, seen });
}

async function tell(
  { engine, log }: PilotWorld,
  { fleet, launch, seen }: LookReport,
): Promise<void> {
  const command = {
    kind: 'observe_pilots',
    fleet: fleet.id,
    launch: launch.number,
    seen,
  } as const;
  const result = await engine.execute(command, { kind: 'system' });
  if (!result.ok) log.warn({ fleet: fleet.id, code: result.error.code }, 'not recorded');
}

async function endStrays(
  { fleet, host, user, ending, jobs }: Listed,
  { name: owner }: PilotAccount,
  known: readonly KnownLaunch[],
): Promise<void> {
  const sites = new Set(known.map(({ site }) => site));
  const prefix = launchPrefix(fleet.tag);
  // Of these nobody has said yet which submission is theirs.
  const open = [...fleet.launches.values()].filter(({ site }) => site === null);
  const sought = new Set(open.map(({ number }) => launchName(fleet.tag, number)));
  const strays = new Set<string>();
  for (const job of jobs) {
    const isOurs = job.owner === owner && job.name.startsWith(prefix) && !sought.has(job.name);
    if (isOurs && job.state !== 'ended' && !sites.has(siteOf(job))) strays.add(siteOf(job));
  }
  for (const site of strays) if (!ending.aborted) await host.cancel(site, null, user);
}
