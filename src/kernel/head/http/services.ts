// What the HTTP side works with. Made once per head by server.ts and handed to every handler.

import type { ExplainReply, JobDetail } from '../../api/jobs.ts';
import type { ReloadReply } from '../../api/partitions.ts';
import type { Result } from '../../base/result.ts';
import type { Refusal } from '../../model/errors.ts';
import type { NodeName } from '../../model/ids.ts';
import type { Presence } from '../../model/presence.ts';
import type { Settings } from '../../model/settings.ts';
import type { KnownSite } from '../../model/site.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Session } from '../../ports/net.ts';
import type { NodeLoad } from '../../wire/messages.ts';
import type { Agents } from '../agents.ts';
import type { JobRecord } from '../answers/job-record.ts';
import type { Archive } from '../archive/archive.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { LocalLogin } from '../auth/local-login.ts';
import type { PageHosts } from '../auth/page-hosts.ts';
import type { PagePeers } from '../auth/page-peers.ts';
import type { PageSessions } from '../auth/page-sessions.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { Engine } from '../engine.ts';
import type { JobFiles } from '../files/job-files.ts';
import type { LoadKeeper } from '../load/load-keeper.ts';
import type { LogFiles } from '../logs/log-files.ts';
import type { Feeder, FeedLink } from '../stdin/feeder.ts';
import type { EventFeed } from './event-feed.ts';
import type { EventRing } from './event-ring.ts';
import type { JobWatch } from './job-watch.ts';
import type { PageFiles } from './page-files.ts';
import type { PageListener } from './page-listener.ts';
import type { PublicEvents } from './public-events.ts';
import type { RequestCounts } from './request-counts.ts';
import type { Router } from './router.ts';
import type { Scrape } from './scrape.ts';
import type { SharedAnswers } from './shared-answers.ts';
import type { TaskMaps } from './task-maps.ts';

/** Takes authenticated sessions of agents, and knows how loaded their nodes are. */
export interface AgentAcceptor
  extends FeedLink,
    Pick<Agents, 'wingSession' | 'tellWing' | 'hearWing'> {
  accept(session: Session): void;
  load(node: NodeName): NodeLoad | null;
  clockOffsetMs(node: NodeName): number | null;
  presence(node: NodeName): readonly Presence[] | null;
  silentMs(node: NodeName): number;
  sites(): readonly KnownSite[];
}

export interface ClusterFacts {
  readonly clusterName: string;
  readonly version: string;
  readonly multiUser: boolean;
  /** Configured as the head's own; what is absent the machine says. */
  readonly capacity: { readonly cpuCount?: number; readonly memoryBytes?: number };
  /** `host:port` under which nodes may try, best first; empty without a port. */
  readonly addresses: readonly string[];
  /** The same, and then the addresses that the machine has at the moment. */
  readonly joinAddresses: readonly string[];
  /** Fingerprint of the certificate; null without a port. */
  readonly fingerprint: string | null;
  /** The one that is shown. */
  readonly certificatePem: string | null;
  /** When it ends. */
  readonly certificateUntil: number | null;
}

/** What the head gives its listeners. */
export interface HttpPorts {
  readonly engine: Engine;
  readonly agents: AgentAcceptor;
  readonly logs: LogFiles;
  readonly blobs: BlobStore;
  readonly jobFiles: JobFiles;
  readonly archive: Archive;
  readonly clock: Clock;
  readonly chance: Chance;
  /** Reads the configuration again. */
  readonly reload: () => Promise<Result<ReloadReply, Refusal>>;
  readonly log: Log;
  /** One line per request that changes something. */
  readonly audit: Log;
}

/** What the kernel's handlers of requests work with. */
export interface KernelServices extends HttpPorts {
  readonly facts: ClusterFacts;
  readonly authenticator: Authenticator;
  readonly sessions: Sessions;
  readonly localLogin: LocalLogin;
  readonly pageSessions: PageSessions;
  readonly pagePeers: PagePeers;
  readonly pageHosts: PageHosts;
  readonly pageFiles: PageFiles;
  readonly pageListener: Pick<PageListener, 'open'>;
  readonly publicEvents: PublicEvents;
  readonly ring: EventRing;
  /** Tells those who follow along. */
  readonly feed: EventFeed;
  /** Tells those who ask for it which jobs have changed, and not how. */
  readonly briefFeed: EventFeed;
  readonly watch: JobWatch;
  readonly feeder: Feeder;
  readonly counts: RequestCounts;
  readonly shared: SharedAnswers;
  readonly load: LoadKeeper;
  readonly taskMaps: TaskMaps;
  /** The document of the API, made when it is asked for first. */
  readonly document: () => Record<string, unknown>;
  readonly router: Router;
  readonly answerParts: readonly AnswerPart[];
}

/** What all handlers work with: wings add what is theirs in the files `head/part.ts`. */
export interface Services extends KernelServices {}

/** What a wing adds to answers of the kernel's own routes. */
export interface AnswerPart {
  /** Fields of a job's view. */
  viewJob?(services: Services, record: JobRecord, isOwner: boolean): Partial<JobDetail>;
  /** Words behind those that say why a job or task is where it is; null: none. */
  explain?(services: Services, explained: Explained): string | null;
  /** What its part of the configuration names and is not there, in words. */
  settingsNotes?(settings: Settings): readonly string[];
  /** Figures for Prometheus. */
  measure?(services: Services, scrape: Scrape): void;
}

/** A job, or a task of it, and what is said of it. */
export interface Explained {
  readonly record: JobRecord;
  /** The task that has its place, or is to have it as the reply says; undefined: none does. */
  readonly placed: number | undefined;
  readonly reply: ExplainReply;
}
