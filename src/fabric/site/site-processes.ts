// A site in the place of a launcher: what an agent starts, the site runs. The rules are in entry.ts;
// here commands are run, receipts read, and what came of it is told.

import type { Adaptor, SiteProblem, SiteQuery } from '../../adaptors/adaptor.ts';
import { err, ok, type Result } from '../../core/base/result.ts';
import type { KnownProcess, ProcessEvent } from '../../core/model/processes.ts';
import type { SiteJob } from '../../core/model/site.ts';
import type { Clock, Timer } from '../../ports/clock.ts';
import type { Commands } from '../../ports/commands.ts';
import type { Log } from '../../ports/log.ts';
import type { LaunchRequest, Processes } from '../../ports/processes.ts';
import type { SiteFolders, SiteUser } from '../../ports/sites.ts';
import { runSiteCommand } from './command.ts';
import * as rules from './entry.ts';
import type { NodeStops } from './node-stops.ts';
import { ENDED, parseEndReceipt, parseStartReceipt, STARTED, siteScript } from './script.ts';
import type { Steerer } from './steerer.ts';

export interface SiteWorld {
  readonly adaptor: Adaptor;
  readonly commands: Commands;
  readonly folders: SiteFolders;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: SiteSettings;
  /** The node for what is started here, where that is for us to say. */
  readonly place?: SitePlace;
  /** Where others list its jobs, too; absent: the site is asked. */
  readonly listJobs?: () => Promise<Result<readonly SiteJob[], SiteProblem>>;
}

export interface SiteSettings {
  /** First part of the names of our jobs there: unique among all gateways of the site. */
  readonly prefix: string;
  readonly queue: string | null;
  readonly account: string | null;
  readonly options: readonly string[];
  /** Between two listings. */
  readonly pollMs: number;
  /** Words before each command, like `ssh login1`. */
  readonly before: readonly string[];
  readonly timeoutMs: number;
  /** Commands that run at once. */
  readonly commandsMax: number;
}

export interface SitePlace {
  readonly node: string;
  readonly steerer: Steerer;
  /** The site's name of a node of ours; null: it has none such. */
  readonly nameAtSite: (member: string) => string | null;
  /** What has nodes stopped for maintenance; absent: none ever is. */
  readonly stops?: NodeStops;
}

/** Between two looks at receipts. */
const LOOK_MS = 500;
/** The limit of the site is the later one: who ends a task by its limit knows that it was that. */
const LIMIT_GRACE_MS = 60_000;
/** At once. */
const LOOKS_MAX = 200;
const TERM = 15;
const KILL = 9;

interface Kept {
  /** Absent: it is a program of ours. */
  readonly foreign?: NonNullable<LaunchRequest['foreign']>;
  /** Whose program it is; absent: of no maintenance. */
  readonly maintenance?: string;
  readonly name: string;
  readonly user: SiteUser | null;
}

export class SiteProcesses implements Processes {
  readonly outdated = null;
  readonly #world: SiteWorld;
  readonly #entries = new Map<number, rules.Entry>();
  readonly #requests = new Map<number, LaunchRequest>();
  readonly #users = new Map<number, SiteUser | null>();
  readonly #foreign = new Map<number, NonNullable<LaunchRequest['foreign']>>();
  readonly #maintenances = new Map<number, string>();
  readonly #told = new Map<number, { running: boolean; end: boolean }>();
  /** What starts need beside the ids of jobs, by these. */
  #handles: ReadonlyMap<string, string | null> = new Map();
  readonly #busy = new Set<number>();
  /** What there may be something to do about, in order. */
  readonly #line = new Set<rules.Entry>();
  #onEvent: (event: ProcessEvent) => void = () => undefined;
  #timer: Timer | null = null;
  #listedAt = 0;
  #lookedAt = 0;
  /** It was said, and is not said again until they can be read. */
  #isUnreadable = false;
  #isListing = false;
  #isOpen = true;

  constructor(world: SiteWorld) {
    this.#world = world;
  }

  adopt(): Promise<readonly KnownProcess[]> {
    const { folders } = this.#world;
    for (const launchId of folders.list()) {
      const kept = parseKept(folders.noted(launchId, 'launch'));
      if (kept === null) continue;
      const siteJob = folders.noted(launchId, 'job')?.trim();
      // Without an id it may be there all the same: the gateway before may have died over the answer.
      const sending = siteJob ? { siteJob } : 'doubtful';
      const entry = this.#newEntry(launchId, kept.name, { sending, foreign: kept.foreign });
      entry.doubtfulSince = this.#world.clock.now();
      if (kept.maintenance !== undefined) this.#maintenances.set(launchId, kept.maintenance);
      this.#keep(entry, kept.user);
      this.#readReceipts(entry);
    }
    const known = [...this.#entries.values()].map((entry) => this.#known(entry));
    this.#look();
    return Promise.resolve(known);
  }

  onEvent(handler: (event: ProcessEvent) => void): void {
    this.#onEvent = handler;
  }

  onLost(): void {}

  start(request: LaunchRequest): void {
    const { launchId, credentials, foreign } = request;
    const { folders, settings } = this.#world;
    if (this.#entries.has(launchId)) return;
    const user = credentials === null ? null : { uid: credentials.uid, gid: credentials.gid };
    const name = `${settings.prefix}-${launchId}`;
    const entry = this.#newEntry(launchId, name, { sending: 'unsent', foreign });
    this.#requests.set(launchId, request);
    const maintenance = maintenanceOf(request);
    if (maintenance !== undefined) this.#maintenances.set(launchId, maintenance);
    this.#keep(entry, user);
    try {
      const folder = folders.path(launchId);
      const script = foreign === undefined ? siteScript({ folder, ...request }) : '';
      folders.make(launchId, user, script);
      const kept: Kept = {
        ...{ name: entry.name, user },
        ...(foreign === undefined ? {} : { foreign }),
        ...(maintenance === undefined ? {} : { maintenance }),
      };
      folders.note(launchId, 'launch', JSON.stringify(kept));
    } catch (error) {
      const why = `cannot write in the folder of the site: ${(error as Error).message}`;
      entry.ending = { kind: 'unstartable', why };
    }
    this.#line.add(entry);
    this.#work();
  }

  #newEntry(
    launchId: number,
    name: string,
    of: { readonly sending: rules.Entry['sending']; readonly foreign: Kept['foreign'] | undefined },
  ): rules.Entry {
    const { adaptor, place } = this.#world;
    const { foreign } = of;
    const entry = rules.newEntry(launchId, name, of.sending);
    entry.isSteered = place !== undefined;
    if (foreign === undefined) return entry;
    this.#foreign.set(launchId, foreign);
    const { job, index, isLead } = foreign;
    entry.sending = { siteJob: index === null ? job : adaptor.element(job, index) };
    entry.isForeign = true;
    entry.isSteered = isLead;
    return entry;
  }

  heard(): void {}

  /** Any signal that ends a process cancels the job; sites know no others. */
  signal(launchId: number, signal: number): void {
    const entry = this.#entries.get(launchId);
    if (entry === undefined || (signal !== TERM && signal !== KILL)) return;
    entry.isCancelWanted = true;
    this.#line.add(entry);
    this.#work();
  }

  leftovers(launchId: number): Promise<number> {
    const entry = this.#entries.get(launchId);
    return Promise.resolve(entry === undefined || entry.ending !== null ? 0 : 1);
  }

  forget(launchId: number): void {
    const entry = this.#entries.get(launchId);
    if (entry !== undefined) this.#line.delete(entry);
    this.#entries.delete(launchId);
    this.#requests.delete(launchId);
    this.#users.delete(launchId);
    this.#told.delete(launchId);
    this.#foreign.delete(launchId);
    this.#maintenances.delete(launchId);
    this.#world.folders.remove(launchId);
  }

  /** Jobs at a site are not ours to end because a gateway stops. */
  shutDown(): void {
    this.close();
  }

  close(): void {
    this.#isOpen = false;
    this.#timer?.cancel();
  }

  #keep(entry: rules.Entry, user: SiteUser | null): void {
    this.#entries.set(entry.launchId, entry);
    this.#users.set(entry.launchId, user);
    this.#told.set(entry.launchId, { running: false, end: false });
  }

  #known(entry: rules.Entry): KnownProcess {
    const { launchId, ending, hasStarted } = entry;
    const told = this.#told.get(launchId);
    if (told !== undefined) Object.assign(told, { running: hasStarted, end: ending !== null });
    if (ending === null) return { launchId, state: hasStarted ? 'running' : 'launching' };
    const end = eventOf(launchId, ending);
    return end.kind === 'exited' ? { launchId, state: 'ended', end } : { launchId, state: 'ended' };
  }

  /** Again and again, for as long as it is open. */
  #look(): void {
    if (!this.#isOpen) return;
    const { adaptor, clock, settings } = this.#world;
    const now = clock.now();
    this.#readSome();
    let isAnySent = false;
    for (const entry of this.#entries.values()) {
      rules.giveUp(entry, now, adaptor.end !== null);
      this.#tell(entry);
      if (entry.ending !== null) continue;
      if (typeof entry.sending === 'object') isAnySent = true;
      if (rules.workOf(entry, now, adaptor.end !== null) !== null) this.#line.add(entry);
    }
    this.#work();
    if (isAnySent && !this.#isListing && now - this.#listedAt >= settings.pollMs) void this.#list();
    this.#timer = clock.after(LOOK_MS, () => this.#look());
  }

  /** A share of them, where there are many: a file server has others to serve. */
  #readSome(): void {
    const entries = [...this.#entries.values()].filter(({ ending }) => ending === null);
    const count = Math.min(entries.length, LOOKS_MAX);
    const wrong: unknown[] = [];
    for (let looked = 0; looked < count; looked += 1) {
      const entry = entries[(this.#lookedAt + looked) % entries.length];
      try {
        if (entry !== undefined) this.#readReceipts(entry);
      } catch (error) {
        // The file server is away, or its user has shut the folder: others are read all the same.
        wrong.push(error);
      }
    }
    this.#lookedAt += count;
    const [first] = wrong;
    const told = { error: String(first), launches: wrong.length };
    if (wrong.length > 0 && !this.#isUnreadable)
      this.#world.log.warn(told, 'receipts are unreadable');
    this.#isUnreadable = wrong.length > 0;
  }

  #readReceipts(entry: rules.Entry): void {
    if (entry.ending !== null || entry.sending === 'unsent' || entry.isForeign) return;
    const { folders } = this.#world;
    const started = entry.hasStarted ? null : folders.read(entry.launchId, STARTED);
    const ended = folders.read(entry.launchId, ENDED);
    const receipts = {
      started: started === null ? null : parseStartReceipt(started),
      ended: ended === null ? null : parseEndReceipt(ended),
    };
    rules.receiptsRead(entry, receipts, this.#world.clock.now());
  }

  /** Starts what waits in line, as far as commands may run. */
  #work(): void {
    if (!this.#isOpen) return;
    const now = this.#world.clock.now();
    const { adaptor, settings } = this.#world;
    for (const entry of this.#line) {
      if (this.#busy.size >= settings.commandsMax) return;
      if (this.#busy.has(entry.launchId)) continue;
      this.#line.delete(entry);
      const work = rules.workOf(entry, now, adaptor.end !== null);
      if (work !== null) void this.#do(entry, work);
    }
  }

  async #do(entry: rules.Entry, work: rules.Work): Promise<void> {
    this.#busy.add(entry.launchId);
    try {
      await this.#carryOut(entry, work);
    } catch (error) {
      // The folder cannot be written: the site's own disk is full, or its file server is away.
      this.#world.log.warn(
        { error, launchId: entry.launchId, work },
        'the site could not be asked',
      );
      entry.nextAt = this.#world.clock.now() + rules.AGAIN_MS;
    } finally {
      this.#busy.delete(entry.launchId);
    }
    if (!this.#isOpen) return;
    this.#tell(entry);
    this.#work();
  }

  async #carryOut(entry: rules.Entry, work: rules.Work): Promise<void> {
    const { adaptor, clock, folders } = this.#world;
    const { launchId } = entry;
    switch (work) {
      case 'submit': {
        const query = this.#submission(entry);
        if (query === null) {
          // Its submission may still be on its way to the site, which must not run it later.
          rules.claimTaken(entry, folders.claim(launchId), clock.now());
          return;
        }
        rules.submitting(entry, clock.now());
        const answer = await this.#ask(query, this.#userOf(entry));
        // It may be the way to the site that failed, with the job there: then its script may be at work.
        const isNo = !answer.ok && answer.error.kind === 'refused';
        if (isNo && !folders.claim(launchId)) return rules.claimTaken(entry, false, clock.now());
        rules.submitted(entry, answer, clock.now());
        return this.#noteJob(entry);
      }
      case 'look_up':
        rules.lookedUp(entry, await this.#ask(adaptor.named(entry.name), null), clock.now());
        return this.#noteJob(entry);
      case 'cancel':
        return rules.cancelled(entry, await this.#cancel(entry), clock.now());
      case 'start': {
        const started = await this.#startAtSite(entry);
        if (!started.ok) {
          const why = started.error.text;
          this.#world.log.info({ launchId, why }, 'a start at the site did not take');
        }
        return rules.startOrdered(entry, started, clock.now());
      }
      case 'ask_end': {
        if (entry.isForeign) return this.#askAfter(entry);
        const query = adaptor.end?.(siteJobOf(entry));
        if (query !== undefined) rules.endAsked(entry, await this.#ask(query, null), clock.now());
        return;
      }
      case 'take_claim': {
        const isOurs = folders.claim(launchId);
        rules.claimTaken(entry, isOurs, clock.now());
        if (isOurs && typeof entry.sending === 'object') await this.#cancel(entry);
      }
    }
  }

  async #startAtSite(entry: rules.Entry): Promise<Result<null, SiteProblem>> {
    const { place } = this.#world;
    if (place === undefined) return ok(null);
    const id = siteJobOf(entry);
    const members = this.#foreign.get(entry.launchId)?.nodes;
    const nodes = members?.map((one) => place.nameAtSite(one)) ?? [place.node];
    const named = nodes.filter((name) => name !== null);
    const handle = this.#handles.get(id) ?? null;
    const problem = { kind: 'refused', text: 'it is in no listing yet' } as const;
    if (handle === null && place.steerer.needsHandle) return err(problem);
    const { stops } = place;
    const maintenance = this.#maintenances.get(entry.launchId);
    const heldNow = () => named.filter((node) => stops?.holds(node) === true);
    const isAnothers = (node: string): boolean =>
      maintenance !== undefined && stops?.maintenanceOf(node) !== maintenance;
    // A task that was placed there before goes first: its maintenance waits for it, or has it ended.
    const opened = heldNow();
    // Others may be before it, and the node be stopped until its turn comes.
    const obstacle = (): SiteProblem | null => {
      const held = heldNow().find((node) => !opened.includes(node) || isAnothers(node));
      return held === undefined
        ? null
        : { kind: 'away', text: `${held} is stopped for maintenance` };
    };
    const inTheWay = obstacle();
    if (inTheWay !== null) return err(inTheWay);
    const start = () => place.steerer.start({ id, handle }, named, obstacle);
    const hasBegun = () => this.#hasBegun(id);
    // In one order for all: none waits for a node that another keeps while it waits for one of its own.
    return opened
      .sort()
      .reduce((begin, node) => () => stops?.openFor(node, begin, hasBegun) ?? begin(), start)();
  }

  /** By its site's own word: what is in the listing no more has begun, too. */
  async #hasBegun(id: string): Promise<boolean> {
    const { listJobs = () => this.#ask(this.#world.adaptor.jobs, null) } = this.#world;
    const jobs = await listJobs();
    if (!jobs.ok) return false;
    const job = jobs.value.find((one) => one.id === id);
    return job === undefined || (job.state !== 'waiting' && job.state !== 'held');
  }

  async #askAfter(entry: rules.Entry): Promise<void> {
    const { adaptor, clock } = this.#world;
    const id = siteJobOf(entry);
    // Of a job that has ended a site may have a record while it still knows it.
    const end = adaptor.end === null ? null : await this.#ask(adaptor.end(id), null);
    const record = end?.ok === true ? end.value : null;
    const isAsked = record === null && adaptor.known !== null;
    const there = isAsked ? await this.#ask(adaptor.known(id), null) : null;
    rules.askedAfter(entry, there?.ok === true ? there.value : null, record, clock.now());
  }

  #cancel(entry: rules.Entry) {
    return this.#ask(this.#world.adaptor.cancel(siteJobOf(entry)), this.#userOf(entry));
  }

  #userOf({ launchId }: rules.Entry): SiteUser | null {
    return this.#users.get(launchId) ?? null;
  }

  #noteJob({ launchId, sending }: rules.Entry): void {
    if (typeof sending === 'object') this.#world.folders.note(launchId, 'job', sending.siteJob);
  }

  /** Null: a gateway before this one was asked for it, and it never came to the site. */
  #submission(entry: rules.Entry): SiteQuery<string> | null {
    const { launchId, name } = entry;
    const { folders, settings, adaptor } = this.#world;
    const request = this.#requests.get(launchId);
    if (request === undefined) return null;
    const folder = folders.path(launchId);
    const { walltimeMs } = request.wants;
    return adaptor.submit({
      ...{ name, script: siteScript({ folder, ...request }), directory: folder },
      scriptFile: folders.scriptFile(launchId),
      ...{ queue: settings.queue, account: settings.account, options: settings.options },
      ...{ walltimeMs: walltimeMs === null ? null : walltimeMs + LIMIT_GRACE_MS, nodeCount: 1 },
      cpuCount: Math.max(1, Math.ceil(request.wants.cpuCount)),
      memoryBytes: request.wants.memoryBytes || null,
      stdout: `${folder}/out`,
      stderr: `${folder}/err`,
    });
  }

  async #list(): Promise<void> {
    this.#isListing = true;
    const { adaptor, clock, log } = this.#world;
    // What was sent while the listing is made may not be in it.
    const asked = [...this.#entries.values()].filter(({ sending }) => typeof sending === 'object');
    const { listJobs = () => this.#ask(adaptor.jobs, null) } = this.#world;
    const answer = await listJobs();
    this.#listedAt = clock.now();
    this.#isListing = false;
    if (!answer.ok) {
      log.warn({ why: answer.error.text }, 'the site says nothing of its jobs');
      return;
    }
    const jobs = new Map(answer.value.map((job) => [job.id, job]));
    this.#handles = new Map(answer.value.map(({ id, handle }) => [id, handle]));
    for (const entry of asked) {
      rules.listed(entry, jobs.get(siteJobOf(entry)) ?? null, this.#listedAt);
    }
  }

  async #ask<T>(query: SiteQuery<T>, user: SiteUser | null) {
    const { commands, settings } = this.#world;
    return query.read(await runSiteCommand(commands, query.command, { ...settings, user }));
  }

  #tell(entry: rules.Entry): void {
    const told = this.#told.get(entry.launchId);
    if (told === undefined || told.end) return;
    const { launchId, ending } = entry;
    const hasRun = entry.hasStarted || ending?.kind === 'exited';
    if (hasRun && !told.running) {
      told.running = true;
      this.#onEvent({ kind: 'started', launchId });
    }
    if (ending === null) return;
    told.end = true;
    this.#onEvent(eventOf(launchId, ending));
    // Whoever is told of a loss takes it that there is nothing left to forget.
    if (ending.kind === 'lost') this.forget(launchId);
  }
}

function siteJobOf({ sending }: rules.Entry): string {
  return typeof sending === 'object' ? sending.siteJob : '';
}

function eventOf(launchId: number, ending: rules.Ending): ProcessEvent {
  switch (ending.kind) {
    case 'exited': {
      const { exit, at: endedAt, userUs, systemUs } = ending;
      const usage = { userUs, systemUs, memoryPeakBytes: 0 };
      return { kind: 'exited', launchId, exit, usage, endedAt, leaseOver: false };
    }
    case 'unstartable':
      return { kind: 'refused', launchId, why: ending.why };
    case 'lost':
      return { kind: 'lost', launchId };
  }
}

/** By the variable that the head gives to such programs alone while the maintenance has the node. */
function maintenanceOf({ environment }: LaunchRequest): string | undefined {
  const name = 'MAINTENANCE_ID=';
  return environment.find((one) => one.startsWith(name))?.slice(name.length);
}

function parseKept(text: string | null): Kept | null {
  if (text === null) return null;
  try {
    return JSON.parse(text) as Kept;
  } catch {
    return null;
  }
}
