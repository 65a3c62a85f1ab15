// Sites as the API shows them: what their gateways said last, and how old that is.

import { z } from 'zod';
import {
  changedReply,
  count,
  exitStatus,
  instantOrNull,
  noBody,
  nodeName,
  plainLine,
} from '../../../kernel/api/common.ts';
import { OPERATOR, type RouteShape, USER } from '../../../kernel/api/route-shape.ts';

const siteParams = z.strictObject({ name: nodeName });

const amount = count.nullable();
const words = z.string().nullable();

/** Jobs of one site in an answer: enough to read, and bounded. */
export const SITE_JOBS_SHOWN_MAX = 10_000;

/** What the filters of its site make of something; absent: nothing. */
const seen = z
  .object({
    /** The rule that hides it; null: it is shown. */
    hiddenBy: words,
    labels: z.array(z.string()),
    queue: words,
    partition: words,
    name: words,
    /** All rules that are for it. */
    rules: z.array(z.string()),
  })
  .optional();

const filterState = z.object({
  rules: z.array(z.object({ name: z.string(), over: z.string(), matched: count, of: count })),
  sources: z.array(z.object({ name: z.string(), ageMs: z.number().nullable(), problem: words })),
  /** Why the rules cannot be read (those before hold), or which names clash; null: all is well. */
  problem: words,
});

const siteNode = z.object({
  name: z.string(),
  state: z.string(),
  word: z.string(),
  reason: words,
  cpuCount: count,
  cpusUsed: count,
  memoryBytes: amount,
  memoryFreeBytes: amount,
  features: z.array(z.string()),
  queues: z.array(z.string()),
  seen,
});

const siteQueue = z.object({
  name: z.string(),
  isOpen: z.boolean(),
  isStarted: z.boolean(),
  walltimeMaxMs: amount,
  nodes: z.array(z.string()),
  seen,
});

const siteJob = z.object({
  /** The id that the site's own commands take. */
  id: z.string(),
  handle: words,
  name: z.string(),
  owner: z.string(),
  state: z.string(),
  word: z.string(),
  reason: words,
  queue: words,
  elements: words,
  submittedAt: instantOrNull,
  startedAt: instantOrNull,
  endedAt: instantOrNull,
  walltimeMs: amount,
  nodeCount: count,
  cpuCount: amount,
  memoryBytes: amount,
  isExclusive: z.boolean(),
  nodes: z.array(z.string()),
  exit: exitStatus.nullable(),
  /** A gateway of ours has submitted it. */
  isOurs: z.boolean(),
  seen,
});

const SITE = {
  /** That of its gateway. */
  name: z.string(),
  system: z.string(),
  /** Whose scheduler decides: `submit` the site's, `steer` ours. */
  mode: z.enum(['submit', 'steer']),
  /** How its jobs are kept from starting until we start them; null: they are not. */
  takeover: words,
  state: z.enum(['up', 'away', 'unread', 'paused']),
  /** What keeps it from being read or steered, in words; null: nothing. */
  problem: words,
  /** How old all of this is, in ms; null: the site was never heard. */
  ageMs: z.number().nullable(),
};

export const siteSummary = z.object({
  ...SITE,
  nodes: count,
  nodesUp: count,
  cpus: count,
  cpusUsed: count,
  queues: count,
  jobsWaiting: count,
  jobsRunning: count,
});
export type SiteSummary = z.infer<typeof siteSummary>;

export const siteView = z.object({
  ...SITE,
  nodes: z.array(siteNode),
  queues: z.array(siteQueue),
  /** At most 10,000. */
  jobs: z.array(siteJob),
  /** How its filters fare; null: it has none. */
  filters: filterState.nullable(),
});
export type SiteView = z.infer<typeof siteView>;

export const siteRoutes = {
  listSites: {
    summary: 'Other clusters behind gateways, as their gateways said last.',
    access: USER,
    reply: z.object({ sites: z.array(siteSummary) }),
  },
  getSite: {
    summary: 'One of them with its nodes, queues and jobs.',
    access: USER,
    params: siteParams,
    reply: siteView,
  },
  pauseSite: {
    summary: 'Start nothing more at a site. What runs there goes on.',
    access: OPERATOR,
    params: siteParams,
    body: z.strictObject({ reason: plainLine.trim().min(1).max(1000) }),
    reply: changedReply,
  },
  resumeSite: {
    summary: 'End the pause of a site.',
    access: OPERATOR,
    params: siteParams,
    body: noBody,
    reply: changedReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
