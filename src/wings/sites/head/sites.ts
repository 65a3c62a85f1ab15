// What gateways have said of their sites. Users are answered from here, with its age; no site is
// asked for them. It is thrown away with the head: each session begins with all of it.

import { toPlainLine } from '../../../kernel/base/plain-line.ts';
import type { EpochId, NodeName } from '../../../kernel/model/ids.ts';
import { SITE_JOBS_MAX } from '../../../kernel/model/limits.ts';
import type {
  KnownSite,
  ListedJob,
  SiteHang,
  SiteNews,
  SiteStart,
} from '../../../kernel/model/site.ts';
import type { SiteStanding } from '../../../kernel/scheduler/room/brokerage.ts';
import { type SiteListing, standingOf } from '../machine/standing.ts';

/** What a site said longer ago says nothing of its queue now. */
const OLD_MS = 300_000;

/** What a site says of itself, or of a task: a command of it may have written anything. */
const WORDS_MAX = 1000;

export function boundedLine(words: string): string {
  const line = toPlainLine(words.slice(0, WORDS_MAX));
  return words.length > WORDS_MAX ? `${line}…` : line;
}

/** A site that may not answer: nothing is free there, and nobody knows for how long. */
const SILENT: Omit<SiteStanding, 'listedAt'> = {
  cpuCount: 0,
  cpusHeld: 0,
  runningCpuMs: 0,
  waitingCpuMs: 0,
  isSilent: true,
};

export class Sites {
  readonly #known = new Map<NodeName, KnownSite>();
  readonly #jobs = new Map<NodeName, Map<string, ListedJob>>();
  /** Job ids of the starts of our tasks that each site lists: a site speaks for itself only. */
  readonly #starts = new Map<NodeName, Map<EpochId, string>>();
  /** Added up once for each word of a gateway. */
  readonly #standings = new WeakMap<KnownSite, SiteStanding>();
  /** What a site listed before its next look, of which only a part has come. */
  readonly #listedBefore = new WeakMap<KnownSite, SiteListing>();

  get all(): readonly KnownSite[] {
    return [...this.#known.values()];
  }

  get names(): Iterable<NodeName> {
    return this.#known.keys();
  }

  forget(name: NodeName): void {
    this.#known.delete(name);
    this.#jobs.delete(name);
    this.#starts.delete(name);
  }

  /** @param now by the clock that never jumps */
  hear(name: NodeName, news: SiteNews, now: number): KnownSite {
    const before = news.isFirst ? undefined : this.#known.get(name);
    const listing = before === undefined || news.isLast ? null : this.#listingOf(before);
    const jobs = this.#jobsOf(name, before);
    const starts = this.#startsOf(name, before);
    const forget = (id: string): void => {
      const { epochId } = jobs.get(id) ?? {};
      if (epochId !== undefined && starts.get(epochId) === id) starts.delete(epochId);
      jobs.delete(id);
    };
    for (const id of news.gone) forget(id);
    for (const job of news.jobs) {
      if (!jobs.has(job.id) && jobs.size >= SITE_JOBS_MAX) continue;
      if (jobs.get(job.id)?.epochId !== job.epochId) forget(job.id);
      jobs.set(job.id, job);
      if (job.epochId !== undefined) starts.set(job.epochId, job.id);
    }
    const { isLast, system, mode, takeover, problem, ageMs } = news;
    const listedAt = ageMs === null ? null : now - Math.max(0, ageMs);
    const known = {
      name,
      system,
      mode,
      takeover,
      problem: problem === null ? null : boundedLine(problem),
      jobs,
      listedAt: isLast ? listedAt : (before?.listedAt ?? null),
      nodes: news.nodes ?? before?.nodes ?? [],
      queues: news.queues ?? before?.queues ?? [],
      stops: news.stops ?? null,
      filters: news.filters ?? null,
    };
    this.#known.set(name, known);
    // Half of a look says nothing of a whole queue.
    if (listing !== null) this.#listedBefore.set(known, listing);
    const standing = before === undefined ? undefined : this.#standings.get(before);
    if (!isLast && standing !== undefined) this.#standings.set(known, standing);
    return known;
  }

  /** A copy: the next look changes the map. Null: nobody asks for the queue, or it is not known. */
  #listingOf(site: KnownSite): SiteListing | null {
    const { mode, listedAt, nodes, jobs } = site;
    if (mode !== 'submit' || listedAt === null) return null;
    return this.#listedBefore.get(site) ?? { nodes, jobs: [...jobs.values()] };
  }

  /** The job of one of these sites that is this start of a task, as it was listed last. */
  startOf(epochId: EpochId, sites: Iterable<NodeName>, monotonic: number): SiteStart | undefined {
    for (const site of sites) {
      const id = this.#starts.get(site)?.get(epochId);
      const known = this.#known.get(site);
      const job = id === undefined ? undefined : known?.jobs.get(id);
      if (known === undefined || job === undefined) continue;
      const ageMs = known.listedAt === null ? null : Math.max(0, monotonic - known.listedAt);
      return { site, job, ageMs };
    }
    return undefined;
  }

  /** The first of these sites of which nobody knows how it stands now; undefined: there is none. */
  hangOf(sites: Iterable<NodeName>, monotonic: number): SiteHang | undefined {
    for (const site of sites) {
      const { problem, listedAt } = this.#known.get(site) ?? { problem: null, listedAt: monotonic };
      const ageMs = listedAt === null ? null : Math.max(0, monotonic - listedAt);
      if (problem !== null || (ageMs ?? 0) >= OLD_MS) return { site, problem, ageMs };
    }
    return undefined;
  }

  /** Queues of sites that decide themselves, as listed last; others were not read yet. */
  standings(monotonic: number, now: number): ReadonlyMap<NodeName, SiteStanding> {
    const standings = new Map<NodeName, SiteStanding>();
    for (const site of this.#known.values()) {
      if (site.mode !== 'submit') continue;
      if (site.listedAt === null && site.problem === null) continue;
      const ageMs = site.listedAt === null ? OLD_MS : monotonic - site.listedAt;
      const isSilent = site.problem !== null || ageMs >= OLD_MS;
      const listedAt = site.listedAt === null ? null : now - ageMs;
      const standing = isSilent || listedAt === null ? null : this.#standingOf(site, listedAt);
      standings.set(site.name, standing ?? { ...SILENT, listedAt });
    }
    return standings;
  }

  #standingOf(site: KnownSite, at: number): SiteStanding {
    const known = this.#standings.get(site);
    if (known !== undefined) return known;
    const { nodes, jobs } = site;
    const listing = this.#listedBefore.get(site) ?? { nodes, jobs: jobs.values() };
    const standing = standingOf(listing, at);
    this.#standings.set(site, standing);
    return standing;
  }

  /** The same map as long as one session goes on: it may be large. */
  #jobsOf(name: NodeName, before: KnownSite | undefined): Map<string, ListedJob> {
    const known = before === undefined ? undefined : this.#jobs.get(name);
    const jobs = known ?? new Map<string, ListedJob>();
    this.#jobs.set(name, jobs);
    return jobs;
  }

  #startsOf(name: NodeName, before: KnownSite | undefined): Map<EpochId, string> {
    const known = before === undefined ? undefined : this.#starts.get(name);
    const starts = known ?? new Map<EpochId, string>();
    this.#starts.set(name, starts);
    return starts;
  }
}
