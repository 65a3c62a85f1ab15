// A launch that is a job at a site: what is known of it, whose it is, what its agent has heard of
// it, and the note by which the next gateway takes it up again.

import { type EpochId, formatEpochId, type TaskId } from '../../../../kernel/model/ids.ts';
import type { EndThere, KnownProcess, ProcessEvent } from '../../../../kernel/model/processes.ts';
import type { SiteJob } from '../../../../kernel/model/site.ts';
import type { LaunchRequest } from '../../../../kernel/ports/processes.ts';
import type { SiteUser } from '../../ports/sites.ts';
import { type LaunchEntry, newEntry } from './entry.ts';
import { endingOf, hasBegun, type SiteEnding, type Stage, saidToRun, siteJobOf } from './stage.ts';
import { newTurns, type Turns } from './turns.ts';
import type { SiteWorld } from './world.ts';

type Foreign = NonNullable<LaunchRequest['foreign']>;

/** Where its user wants it, as its site listed it before its start: later it lists our choice. */
interface Asked {
  readonly isPinned: boolean;
  /** Absent: the site names none. */
  readonly queue?: string;
}

export interface Launch {
  readonly entry: LaunchEntry;
  /** Null when a gateway before this one was asked for it. */
  readonly request: LaunchRequest | null;
  readonly user: SiteUser | null;
  /** Null when it is a program of ours. */
  readonly foreign: Foreign | null;
  /** Whose program it is; null: of no maintenance. */
  readonly maintenance: string | null;
  /** The start of a task that it is; null: nobody knows. */
  readonly epochId: EpochId | null;
  /** Null when nobody knows; of a program of ours always. */
  asked: Asked | null;
  readonly turns: Turns;
  readonly told: { running: boolean; stopped: boolean; end: boolean };
}

/** Name of the note whether it stood still in the last listing. */
export const STILL = 'still';
export const IS_STILL = 'yes';

/** What is written down of it. */
interface Note {
  /** Absent: it is a program of ours. */
  readonly foreign?: Foreign;
  /** Absent: of no maintenance. */
  readonly maintenance?: string;
  /** Absent: of an older gateway, or not known. */
  readonly asked?: Asked;
  readonly name: string;
  readonly user: SiteUser | null;
  /** Absent: of an older gateway. */
  readonly epochId?: EpochId | null;
}

type Site = Pick<SiteWorld, 'adaptor' | 'place'>;

export function newLaunch(request: LaunchRequest, name: string, site: Site): Launch {
  const { launchId, credentials, foreign = null } = request;
  const entry = newEntry(launchId, name, { kind: 'unsent' });
  setOrigin(entry, foreign, site);
  return {
    entry,
    request,
    foreign,
    maintenance: maintenanceOf(request),
    epochId: epochOf(request),
    user: credentials === null ? null : { uid: credentials.uid, gid: credentials.gid },
    asked: null,
    turns: newTurns(null),
    told: { running: false, stopped: false, end: false },
  };
}

/** @param of what a gateway before this one has noted; null: the note cannot be read */
export function notedLaunch(
  launchId: number,
  of: {
    readonly note: string | null;
    readonly siteJob: string | undefined;
    readonly still: string | null;
  },
  site: Site & Pick<SiteWorld, 'clock'>,
): Launch | null {
  const note = parseNote(of.note);
  if (note === null) return null;
  const { name, user, foreign = null, maintenance = null } = note;
  const { epochId = null, asked = null } = note;
  // Without an id it may be there all the same: the gateway before may have died over the answer.
  const stage: Stage = of.siteJob
    ? { kind: 'at_site', siteJob: of.siteJob }
    : { kind: 'doubtful', since: site.clock.now() };
  const entry = newEntry(launchId, name, stage);
  setOrigin(entry, foreign, site);
  const turns = newTurns(of.still === IS_STILL);
  const told = { running: false, stopped: false, end: false };
  return { entry, request: null, user, foreign, maintenance, epochId, asked, turns, told };
}

function setOrigin(entry: LaunchEntry, foreign: Foreign | null, { adaptor, place }: Site): void {
  entry.isSteered = place !== undefined;
  if (foreign === null) return;
  const { job, index, isLead } = foreign;
  entry.stage = { kind: 'at_site', siteJob: index === null ? job : adaptor.element(job, index) };
  entry.isForeign = true;
  entry.mayHaveMore = false;
  entry.isSteered = isLead;
}

/** Returns null when it is listed no more as its user gave it to the site. */
export function askedOf(
  foreign: Foreign,
  { adaptor, listedJob }: Pick<SiteWorld, 'adaptor' | 'listedJob'>,
): Asked | null {
  const { job, index } = foreign;
  const own = index === null ? undefined : listedJob?.(adaptor.element(job, index));
  const listed = own ?? listedJob?.(job);
  if (listed === undefined || (listed.state !== 'waiting' && listed.state !== 'held')) return null;
  const { queue, where } = listed;
  const { execution } = adaptor.steering ?? {};
  if (queue !== null && queue === execution) return null;
  return { isPinned: where?.only !== undefined, ...(queue === null ? {} : { queue }) };
}

/** The launch's job in a listing, for an element not begun its array. Null: not listed. */
export function listedOf(
  { entry, foreign }: Launch,
  jobs: ReadonlyMap<string, SiteJob>,
): SiteJob | null {
  const own = jobs.get(siteJobOf(entry));
  if (own !== undefined || foreign === null || foreign.index === null) return own ?? null;
  const array = jobs.get(foreign.job);
  return array !== undefined && isAmong(foreign.index, array.elements ?? '') ? array : null;
}

/** @param elements as `SiteJob.elements` */
function isAmong(index: number, elements: string): boolean {
  return elements.split(',').some((range) => {
    const [from = Number.NaN, to = from] = range.split('-').map(Number);
    return from <= index && index <= to;
  });
}

export function noteOf({ entry, user, foreign, maintenance, epochId, asked }: Launch): string {
  const note: Note = {
    name: entry.name,
    user,
    epochId,
    ...(foreign === null ? {} : { foreign }),
    ...(maintenance === null ? {} : { maintenance }),
    ...(asked === null ? {} : { asked }),
  };
  return JSON.stringify(note);
}

function parseNote(text: string | null): Note | null {
  if (text === null) return null;
  try {
    return JSON.parse(text) as Note;
  } catch {
    return null;
  }
}

/** By the variable that the head gives to such programs only while maintenance has the node. */
function maintenanceOf({ environment }: LaunchRequest): string | null {
  return variable(environment, 'MAINTENANCE_ID');
}

/** By the variables that tell a program which task it is. */
function epochOf({ environment }: LaunchRequest): EpochId | null {
  const task = variable(environment, 'WEFT_TASK_ID');
  const epoch = Number(variable(environment, 'WEFT_EPOCH') ?? Number.NaN);
  return task === null || Number.isNaN(epoch) ? null : formatEpochId(task as TaskId, epoch);
}

function variable(environment: readonly string[], name: string): string | null {
  const start = `${name}=`;
  return environment.find((one) => one.startsWith(start))?.slice(start.length) ?? null;
}

/** How it stands, for an agent that knows nothing of it, and has heard that with it. */
export function knownOf(launch: Launch): KnownProcess {
  const known = knownProcessOf(launch);
  const { startedAt, givenAt } = launch.entry;
  const when = startedAt === null ? {} : { startedAt: Math.max(startedAt, givenAt) };
  return { ...known, ...when, ...(launch.foreign === null ? {} : { isForeign: true }) };
}

function knownProcessOf({ entry, told, turns }: Launch): KnownProcess {
  const { launchId } = entry;
  const ending = endingOf(entry);
  if (turns.isStopped) saidToRun(entry);
  const hasStarted = hasBegun(entry);
  Object.assign(told, { running: hasStarted, stopped: turns.isStopped, end: ending !== null });
  if (ending === null) {
    const state = turns.isStopped ? 'stopped' : 'running';
    return { launchId, state: hasStarted ? state : 'launching' };
  }
  const end = eventOf(launchId, ending);
  const isTold = end.kind === 'exited' || end.kind === 'refused';
  return isTold ? { launchId, state: 'ended', end } : { launchId, state: 'ended' };
}

/** What its agent has not heard yet, and has with it. */
export function newsOf({ entry, told, turns }: Launch, now: number): ProcessEvent[] {
  const { launchId } = entry;
  const ending = endingOf(entry);
  if (told.end) return [];
  const hasRun = hasBegun(entry) || ending?.kind === 'exited';
  const isNew = hasRun && !told.running;
  const hasTurned = hasRun && ending === null && told.stopped !== turns.isStopped;
  const stopped = hasTurned ? turns.isStopped : told.stopped;
  Object.assign(told, { running: told.running || hasRun, stopped, end: ending !== null });
  return [
    ...(isNew ? [{ kind: 'started', launchId, agoMs: startedAgo(entry, now) } as const] : []),
    ...(hasTurned ? [{ kind: stopped ? 'stopped' : 'continued', launchId } as const] : []),
    ...(ending === null ? [] : [eventOf(launchId, ending)]),
  ];
}

/** By the clocks of the site, which may not be ours: not before it was given, nor to come. */
function startedAgo({ startedAt, givenAt }: LaunchEntry, now: number): number {
  return startedAt === null ? 0 : Math.max(0, now - Math.max(startedAt, givenAt));
}

function eventOf(launchId: number, ending: SiteEnding): ProcessEvent {
  switch (ending.kind) {
    case 'exited': {
      const { exit, at: endedAt, userUs, systemUs } = ending;
      const usage = { userUs, systemUs, memoryPeakBytes: 0 };
      const { cancelledAs } = ending;
      const there = cancelledAs === undefined ? {} : { cancelledThere: cancelledAs };
      return { kind: 'exited', launchId, exit, usage, endedAt, leaseOver: false, ...there };
    }
    case 'unstartable':
      return { kind: 'refused', launchId, why: ending.why, ...thereOf(ending) };
    case 'lost':
      return { kind: 'lost', launchId, why: ending.why };
  }
}

function thereOf({ there }: { readonly there?: EndThere }): { readonly there?: EndThere } {
  return there === undefined ? {} : { there };
}
