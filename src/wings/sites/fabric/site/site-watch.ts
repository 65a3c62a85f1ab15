// What a gateway knows of its site: listings made again and again, and told to the head as they
// change. Whoever wants a listing gets the one that is being made; a site is asked once for all.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import { isSame } from '../../../../kernel/base/same.ts';
import type { FilterState, Seen } from '../../../../kernel/model/filter-rule.ts';
import type { EpochId } from '../../../../kernel/model/ids.ts';
import { SITE_JOBS_PER_MESSAGE_MAX, SITE_UNDONE_MAX } from '../../../../kernel/model/limits.ts';
import {
  type ListedJob,
  type SiteHold,
  type SiteJob,
  type SiteJobPlace,
  type SiteMode,
  type SiteNews,
  type SiteNode,
  type SiteQueue,
  type SiteStop,
  type SiteUndone,
  type StopRequest,
  shownName,
} from '../../../../kernel/model/site.ts';
import type { Clock, Timer } from '../../../../kernel/ports/clock.ts';
import type { Commands } from '../../../../kernel/ports/commands.ts';
import type { Log } from '../../../../kernel/ports/log.ts';
import type { SiteSource } from '../../../../kernel/ports/site-source.ts';
import type { Adaptor, SiteProblem, SiteQuery } from '../../adaptors/adaptor.ts';
import { elementOf } from '../../model/site-elements.ts';
import { nodesThere } from '../../model/site-where.ts';
import { NodeNames } from '../filters/node-names.ts';
import type { Filters } from '../filters/site-filters.ts';
import { runSiteCommand, type SiteAnswer } from './command.ts';
import type { KnownArrays } from './known-arrays.ts';
import type { NodeStops } from './node-stops.ts';
import type { Steerer } from './steerer.ts';
import { Vanished } from './vanished.ts';

export interface SiteWatchWorld {
  readonly adaptor: Adaptor;
  readonly commands: Commands;
  readonly clock: Clock;
  readonly log: Log;
  readonly mode: SiteMode;
  /** Null when its own scheduler decides. */
  readonly steerer: Steerer | null;
  /** What has nodes stopped for maintenance; absent: its nodes are none of ours. */
  readonly stops?: NodeStops | null;
  /** What the site wants to be seen of it; absent: all as it is. */
  readonly filters?: Filters | null;
  /** Where arrays are noted for the next gateway; absent: it begins without. */
  readonly arrays?: KnownArrays;
  readonly settings: {
    readonly pollMs: number;
    readonly timeoutMs: number;
    readonly before: readonly string[];
  };
}

/** Queues and what a takeover needs change seldom: both are looked at once in so many listings. */
const SELDOM_LISTINGS = 12;

/** `isNew`: something of them is not as it was listed before. */
type NodesHandler = (nodes: readonly SiteNode[], isNew: boolean) => void;

interface ReportedState {
  readonly jobs: Map<string, ListedJob>;
  nodes: readonly SiteNode[] | null;
  queues: readonly SiteQueue[] | null;
}

/** A head that listens; what it was told goes with its session. */
interface Connected {
  readonly send: (news: SiteNews) => void;
  /** Null: nothing yet. */
  told: ReportedState | null;
  /** Number of the newest stops that it has asked for in this session. */
  stopsHeard: number;
}

/** When queues, and what a takeover needs, were looked at last. */
type Rare =
  | { readonly kind: 'due' }
  | { readonly kind: 'made'; readonly at: number }
  | { readonly kind: 'lacks'; readonly what: string };

/** From `start` to `close`. */
interface Looking {
  /** Null when a look is under way. */
  timer: Timer | null;
}

export class SiteWatch implements SiteSource {
  readonly #world: SiteWatchWorld;
  /** Beginnings of the names of our own jobs there. */
  readonly #prefixes = new Set<string>();
  #jobs: ReadonlyMap<string, SiteJob> = new Map();
  /** Starts of our tasks, by the site's ids of the jobs that they are. */
  readonly #starts = new Map<string, EpochId>();
  /** What the site does not do with them. */
  readonly #undone = new Map<EpochId, string>();
  #nodes: readonly SiteNode[] = [];
  #queues: readonly SiteQueue[] = [];
  /** By the clock that never jumps; null: not yet. */
  #listedAt: number | null = null;
  /** Jobs, nodes and queues were asked for; before that, telling half of it would be a lie. */
  #hasLooked = false;
  /** The last rare look: `lacks` if it found a lack; then the next listing makes it again. */
  #rare: Rare = { kind: 'due' };
  readonly #vanished: Vanished;
  /** What its nodes are, and were, called here. */
  readonly names: NodeNames;
  #problem: string | null = null;
  /** Answer of the last command, if it was not in time; null: it was. */
  #late: SiteAnswer | null = null;
  #listing: Promise<Result<readonly SiteJob[], SiteProblem>> | null = null;
  #head: Connected | null = null;
  /** The names by which the head wants nodes stopped, by the site's own. */
  #asked = new Map<string, string[]>();
  #onNodes: NodesHandler = () => undefined;
  /** Why jobs of its users are held at the head, by the site's id of the job or its array. */
  #holds: ReadonlyMap<string, string> = new Map();
  #looking: Looking | null = null;

  constructor(world: SiteWatchWorld) {
    this.#world = world;
    this.names = world.filters?.names ?? new NodeNames();
    const startedOn = (job: string) => world.steerer?.startedOn(job) ?? null;
    this.#vanished = new Vanished(world.adaptor, startedOn);
    world.stops?.onChange(() => {
      this.#tell();
    });
  }

  /** Jobs whose names begin so are ours. */
  addPrefix(prefix: string): void {
    this.#prefixes.add(`${prefix}-`);
  }

  /** A job of the site is this start of a task; null: it is not any more. */
  noteStart(job: string, epochId: EpochId | null): void {
    if (epochId === null) this.#starts.delete(job);
    else this.#starts.set(job, epochId);
  }

  /** Told to the head with the next look. @param words null: the site did it, or need not */
  noteUndone(epochId: EpochId, words: string | null): void {
    if (words === null) this.#undone.delete(epochId);
    else this.#undone.set(epochId, words);
  }

  start(): void {
    if (this.#looking !== null) return;
    this.#looking = { timer: null };
    void this.#look(this.#looking);
  }

  close(): void {
    this.#looking?.timer?.cancel();
    this.#looking = null;
  }

  get nodes(): readonly SiteNode[] {
    return this.#nodes;
  }

  /** A job of the last listing; undefined: it was not in it. */
  job(id: string): SiteJob | undefined {
    return this.#jobs.get(id);
  }

  /** The listing that is being made, or a new one. */
  list(): Promise<Result<readonly SiteJob[], SiteProblem>> {
    this.#listing ??= this.#list().finally(() => {
      this.#listing = null;
    });
    return this.#listing;
  }

  connect(send: (news: SiteNews) => void): void {
    this.#head = { send, told: null, stopsHeard: 0 };
    this.#tell();
  }

  disconnect(): void {
    this.#world.stops?.headIsAway();
    this.#head = null;
  }

  /** Called with each listing of them. */
  onNodes(handler: NodesHandler): void {
    this.#onNodes = handler;
  }

  /** Each is cancelled by whoever runs the gateway; what the site refuses is asked for again. */
  cancel(jobs: readonly SiteJobPlace[]): void {
    void this.#cancelAll(jobs);
  }

  /** A gateway before this one may have listed them. */
  ask(jobs: readonly string[]): void {
    for (const job of jobs) if (!this.#jobs.has(job)) this.#vanished.add(job);
  }

  /** What the head said last counts also while it is away. */
  hold(jobs: readonly SiteHold[]): void {
    this.#holds = new Map(jobs.map(({ job, why }) => [job, why]));
  }

  stop(wishes: readonly StopRequest[], number: number): void {
    this.#asked = new Map();
    const own = wishes.map((wish) => {
      const node = this.nameAtSite(wish.node);
      this.#asked.set(node, [...(this.#asked.get(node) ?? []), wish.node]);
      return { ...wish, node };
    });
    this.#world.stops?.want(own);
    if (this.#head !== null) this.#head.stopsHeard = number;
    this.#tell();
  }

  /** The site's own name of a node that is, or was, called this here. */
  nameAtSite(shown: string): string {
    return this.names.ownOf(shown);
  }

  /** A gateway itself has no node. */
  fault(): string | null {
    return null;
  }

  /**
   * Why nothing should be started on this node; null: it takes work.
   * @param name the site's own
   * @param shown what it is called by whoever asks
   */
  faultOf(name: string, shown = name): string | null {
    if (this.#problem !== null) return `its site: ${this.#problem}`;
    const node = this.#nodes.find((one) => one.name === name);
    if (node === undefined) return 'its site does not list it';
    const rule = node.seen?.hiddenBy ?? null;
    if (rule !== null) return `rule ${rule} of its site hides it`;
    const isCalled = shownName(node);
    if (isCalled !== shown) return `the rules of its site call it ${isCalled} now`;
    const { stops } = this.#world;
    const isStopped = node.state === 'stopped';
    if (isStopped && stops?.holds(name) === true) {
      return stops.maintenanceOf(name) === null ? 'it is being given back to its site' : null;
    }
    if (node.state !== 'down' && !isStopped && node.state !== 'unknown') return null;
    return `its site says ${node.word}${node.reason === null ? '' : `: ${node.reason}`}`;
  }

  async #cancelAll(jobs: readonly SiteJobPlace[]): Promise<void> {
    const { log } = this.#world;
    for (const { job, index } of jobs) {
      const at = { job, index };
      try {
        const why = await this.#cancelOne(at);
        if (why !== null) log.warn({ ...at, why }, 'a job could not be cancelled at its site');
      } catch (error) {
        // Nobody waits for it: an adaptor's fault with one job must not end the gateway of all.
        log.error({ ...at, error }, 'cancelling a job at its site failed');
      }
    }
  }

  /** Why it was refused; null: it is cancelled, or was not there. */
  async #cancelOne({ job, index }: SiteJobPlace): Promise<string | null> {
    const { adaptor } = this.#world;
    const id = index === null ? job : adaptor.element(job, index);
    const done = await this.#ask(adaptor.cancel(id));
    return done.ok || done.error.kind === 'no_such_job' ? null : done.error.text;
  }

  async #look(looking: Looking): Promise<void> {
    const { clock, log, settings } = this.#world;
    try {
      await this.#lookOnce();
    } catch (error) {
      log.error({ error }, 'a look at the site failed');
    }
    if (this.#looking !== looking) return;
    looking.timer = clock.after(settings.pollMs, () => {
      looking.timer = null;
      void this.#look(looking);
    });
  }

  async #lookOnce(): Promise<void> {
    const { clock, adaptor, steerer, filters = null } = this.#world;
    // Nothing is shown before the rules are known; later a slow source holds up nothing.
    const rules = filters?.look();
    if (this.#listedAt === null) await rules;
    // The head must take nothing for shown before all that can hide it is known.
    const unread = filters?.unread ?? null;
    if (unread !== null) this.#setProblem(unread);
    await steerer?.mend();
    const jobs = await this.list();
    const nodes = await this.#ask(adaptor.nodes);
    if (nodes.ok && unread === null) {
      const seen = filters?.nodes(nodes.value) ?? nodes.value;
      const isNew = !isSame(seen, this.#nodes);
      this.#nodes = seen;
      this.#onNodes(seen, isNew);
    }
    if (nodes.ok) this.#world.stops?.look(nodes.value);
    if (steerer !== null) await this.#vanished.ask((query) => this.#ask(query), clock.monotonic());
    if (jobs.ok && nodes.ok && unread === null) await this.#note(jobs.value);
    let problem = unread;
    if (!jobs.ok) problem ??= jobs.error.text;
    if (!nodes.ok) problem ??= nodes.error.text;
    problem ??= await this.#lookSeldom();
    this.#setProblem(problem ?? (this.#rare.kind === 'lacks' ? this.#rare.what : null));
    this.#hasLooked = true;
    this.#tell();
  }

  /** Tells users of the site, at their jobs, why we hold them. */
  async #note(jobs: readonly SiteJob[]): Promise<void> {
    const { steerer, filters, clock } = this.#world;
    const isForUs = (job: SiteJob): boolean =>
      !this.#isOurs(job.name) && (filters?.job(job)?.hiddenBy ?? null) === null;
    const nodes = this.#nodes.filter(({ seen }) => (seen?.hiddenBy ?? null) === null);
    const noted = jobs.filter(isForUs).map((job) => this.#heldHere(unplaced(job, nodes)));
    await steerer?.notes?.look(noted, clock.monotonic());
  }

  /** Only for its user's eyes: the head must not take its own hold for one of the site. */
  #heldHere(job: SiteJob): SiteJob {
    const why = this.#holds.get(job.id) ?? this.#holds.get(elementOf(job.id)?.array ?? '');
    if (why === undefined || job.state !== 'waiting' || job.isHeldByUs === true) return job;
    return { ...job, reason: why, isHeldByUs: true };
  }

  /** What went wrong; null: nothing. */
  async #lookSeldom(): Promise<string | null> {
    const { clock, adaptor, steerer, settings } = this.#world;
    const now = clock.monotonic();
    const everyMs = SELDOM_LISTINGS * settings.pollMs;
    if (this.#rare.kind === 'made' && now - this.#rare.at < everyMs) return null;
    const what = (await steerer?.lacks()) ?? null;
    this.#rare = what === null ? { kind: 'due' } : { kind: 'lacks', what };
    const queues = await this.#ask(adaptor.queues);
    if (!queues.ok) return queues.error.text;
    this.#queues = queues.value;
    if (what === null) this.#rare = { kind: 'made', at: now };
    return null;
  }

  async #list(): Promise<Result<readonly SiteJob[], SiteProblem>> {
    const { clock, adaptor, steerer } = this.#world;
    const asked = clock.monotonic();
    const started = steerer?.heed() ?? (() => new Set<string>());
    const listing = await this.#ask(adaptor.jobs);
    const arrays = started();
    if (!listing.ok) return listing;
    const answer = ok(
      listing.value.map((job) => {
        const own = arrays.has(job.id) ? unheld(job) : job;
        return steerer?.untaken.seen(own, asked) ?? own;
      }),
    );
    const { arrays: noted } = this.#world;
    const before = this.#listedAt === null ? (noted?.read() ?? this.#jobs) : this.#jobs;
    this.#listedAt = asked;
    this.#jobs = new Map(answer.value.map((job) => [job.id, job]));
    if (this.#world.steerer !== null) {
      const isOurs = ({ name }: SiteJob): boolean => this.#isOurs(name);
      this.#vanished.note(before, this.#jobs, isOurs, asked);
      // Only now: a gateway that is killed before this finds the same elements missing again.
      noted?.keep(answer.value.filter((job) => job.elements !== null && !isOurs(job)));
    }
    return answer;
  }

  async #ask<T>(query: SiteQuery<T>): Promise<Result<T, SiteProblem>> {
    const { commands, settings } = this.#world;
    // Commands that no signal ends must not become more with every look.
    if (this.#late?.isThere()) {
      const stderr = `the command before it still runs: ${this.#late.stderr}`;
      return query.read({ stdout: '', stderr, code: null });
    }
    const answer = await runSiteCommand(commands, query.command, { ...settings, user: null });
    this.#late = answer.code === null ? answer : null;
    return query.read(answer);
  }

  #setProblem(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem !== null) this.#world.log.warn({ problem }, 'the site says nothing that is known');
    else this.#world.log.info({}, 'the site can be read again');
  }

  #tell(): void {
    const head = this.#head;
    if (head === null || !this.#hasLooked) return;
    const isFirst = head.told === null;
    head.told ??= { jobs: new Map(), nodes: null, queues: null };
    const { told, send } = head;
    const { jobs, gone } = this.#changes(told.jobs);
    const nodes = isSame(told.nodes, this.#nodes) ? {} : { nodes: this.#nodes };
    const { adaptor, mode, clock, steerer, stops = null, filters = null } = this.#world;
    const listed = this.#queues.map((queue) => annotated(queue, filters?.queue(queue)));
    const queues = isSame(told.queues, listed) ? {} : { queues: listed };
    [told.nodes, told.queues] = [this.#nodes, listed];
    const common = {
      ...(filters === null ? {} : { filters: this.#filterState(filters) }),
      ...(stops === null
        ? {}
        : {
            stops: stops.all.flatMap((stop) => this.#asFor(stop)),
            stopsHeard: head.stopsHeard,
          }),
      ...(this.#undone.size === 0 ? {} : { undone: this.#someUndone() }),
      system: adaptor.system,
      mode,
      takeover: steerer?.takeover ?? null,
      problem: this.#problem,
      ageMs: this.#listedAt === null ? null : clock.monotonic() - this.#listedAt,
    };
    const pieces = Math.max(1, ...[jobs, gone].map((all) => Math.ceil(all.length / PIECE)));
    for (let at = 0; at < pieces; at += 1) {
      const piece = <T>(all: readonly T[]): readonly T[] => all.slice(at * PIECE, (at + 1) * PIECE);
      const isLast = at === pieces - 1;
      const news = { ...common, isLast, jobs: piece(jobs), gone: piece(gone) };
      if (at > 0) send({ ...news, isFirst: false });
      else send({ ...news, ...nodes, ...queues, isFirst });
    }
  }

  #someUndone(): SiteUndone[] {
    const all = [...this.#undone].slice(0, SITE_UNDONE_MAX);
    return all.map(([epochId, words]) => ({ epochId, words }));
  }

  /** Told by the names by which the head asked for the node, else by the one that it has now. */
  #asFor(stop: SiteStop): SiteStop[] {
    const listed = this.#nodes.find(({ name }) => name === stop.node);
    const now = listed === undefined ? stop.node : shownName(listed);
    return (this.#asked.get(stop.node) ?? [now]).map((node) => ({ ...stop, node }));
  }

  /** Between what was told and what is listed; what was told is then the same. */
  #changes(told: Map<string, ListedJob>): { jobs: ListedJob[]; gone: string[] } {
    const jobs: ListedJob[] = [];
    const all = new Map(this.#jobs);
    for (const job of this.#vanished.jobs) all.set(job.id, job);
    for (const [id, listed] of all) {
      const isOurs = this.#isOurs(listed.name);
      // What we have given to the site is not for its rules.
      const seen = isOurs ? null : this.#world.filters?.job(listed);
      const epochId = isOurs ? this.#starts.get(id) : undefined;
      const start = epochId === undefined ? {} : { epochId };
      const job = { ...annotated(listed, seen), isOurs, ...start };
      if (isSame(told.get(id), job)) continue;
      jobs.push(job);
      told.set(id, job);
    }
    const gone = [...told.keys()].filter((id) => !all.has(id));
    for (const id of gone) told.delete(id);
    return { jobs, gone };
  }

  #filterState(filters: Filters): FilterState {
    const jobs = [...this.#jobs.values()].filter(({ name }) => !this.#isOurs(name));
    return filters.state({ nodes: this.#nodes, jobs, queues: this.#queues });
  }

  #isOurs(name: string): boolean {
    for (const prefix of this.#prefixes) if (name.startsWith(prefix)) return true;
    return false;
  }
}

/** Held, where too few nodes fit it: so the head will have it. */
function unplaced(job: SiteJob, nodes: readonly SiteNode[]): SiteJob {
  const there = job.state === 'waiting' ? nodesThere(job, nodes) : nodes;
  return typeof there === 'string' ? { ...job, reason: there, isHeldByUs: true } : job;
}

/** The job without its hold: other elements may be held for the moment in which one is started. */
function unheld(job: SiteJob): SiteJob {
  return job.state === 'held' ? { ...job, state: 'waiting' } : job;
}

function annotated<T extends object>(
  listed: T,
  seen: Seen | null | undefined,
): T & { readonly seen?: Seen } {
  return seen ? { ...listed, seen } : listed;
}

const PIECE = SITE_JOBS_PER_MESSAGE_MAX;
