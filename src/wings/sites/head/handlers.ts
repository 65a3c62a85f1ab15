// Sites: shown to all users from what their gateways said last, paused and resumed by operators.

import { err, ok } from '../../../kernel/base/result.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';
import type { Services } from '../../../kernel/head/http/services.ts';
import type { Node } from '../../../kernel/machine/nodes/facts.ts';
import { schedulingOf } from '../../../kernel/machine/partitions/settings.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import { type KnownSite, type ListedJob, siteNodeOf } from '../../../kernel/model/site.ts';
import { SITE_JOBS_SHOWN_MAX, type SiteSummary, type SiteView } from '../api/sites.ts';
import { whyNotOurs } from '../machine/heard.ts';

/** Begins the reason of nodes that a pause of their site keeps from work. */
const PAUSED = 'site paused: ';

export const listSites: Handler<'listSites'> = (services) =>
  ok({ sites: services.agents.sites().map((site) => summaryOf(services, site)) });

export const getSite: Handler<'getSite'> = (services, { params }) => {
  const site = find(services, params.name);
  if (site === undefined) return err(noSite(params.name));
  const jobs = [...site.jobs.values()].slice(0, SITE_JOBS_SHOWN_MAX);
  const partitions = schedulingOf(services.engine.state, services.engine.settings).partitions;
  return ok(
    structuredClone({
      ...standing(services, site),
      nodes: site.nodes,
      queues: site.queues,
      jobs: jobs.map((job) => ({ ...job, reason: reasonOf(site, job, partitions) })),
      filters: site.filters,
    }) as SiteView,
  );
};

export const pauseSite: Handler<'pauseSite'> = async (services, { params, body, actor }) => {
  const { engine } = services;
  if (find(services, params.name) === undefined) return err(noSite(params.name));
  const reason = `${PAUSED}${body.reason}`;
  let count = 0;
  for (const { name: node, drain } of nodesOf(services, params.name)) {
    if (drain !== null) continue;
    const done = await engine.execute({ kind: 'drain_node', node, reason }, actor);
    if (!done.ok) return done;
    count += 1;
  }
  return ok({ count });
};

export const resumeSite: Handler<'resumeSite'> = async (services, { params, actor }) => {
  const { engine } = services;
  if (find(services, params.name) === undefined) return err(noSite(params.name));
  let count = 0;
  for (const { name: node, drain } of nodesOf(services, params.name)) {
    if (drain?.reason.startsWith(PAUSED) !== true) continue;
    const done = await engine.execute({ kind: 'undrain_node', node }, actor);
    if (!done.ok) return done;
    count += 1;
  }
  return ok({ count });
};

/** Why a job does not start: where it is left out of our queue, the site waits for us for ever. */
function reasonOf(
  { mode }: KnownSite,
  job: ListedJob,
  partitions: Readonly<Record<string, unknown>>,
): string | null {
  if (mode !== 'steer' || job.isOurs || job.state === 'ended') return job.reason;
  const partition = job.seen?.partition ?? null;
  const isLost = partition !== null && !Object.hasOwn(partitions, partition);
  const lost = `the rules of its site put it into partition ${partition}, which is not there`;
  const why = whyNotOurs(job) ?? (isLost ? lost : null);
  return why === null ? job.reason : `weft does not start it: ${why}`;
}

function noSite(name: string): Refusal {
  return refuse('site.not_found', { site: name });
}

function find({ agents }: Services, name: string): KnownSite | undefined {
  return agents.sites().find((site) => site.name === name);
}

/** The gateway itself, and the nodes of the site that are ours. */
function nodesOf({ engine }: Services, site: string): Node[] {
  return [...engine.state.nodes.values()].filter(
    ({ name }) => name === site || siteNodeOf(name, site) !== null,
  );
}

type Standing = Pick<SiteView, keyof SiteView & keyof SiteSummary & ('name' | 'system' | 'mode')> &
  Pick<SiteView, 'takeover' | 'state' | 'problem' | 'ageMs'>;

function standing({ engine, clock }: Services, site: KnownSite): Standing {
  const { name, system, mode, takeover, problem, listedAt } = site;
  const node = engine.state.nodes.get(name as NodeName);
  const ageMs = listedAt === null ? null : Math.max(0, clock.monotonic() - listedAt);
  return { name, system, mode, takeover, problem, ageMs, state: siteStateOf(node, problem) };
}

function siteStateOf(node: Node | undefined, problem: string | null): SiteView['state'] {
  if (node?.connected !== true) return 'away';
  if (problem !== null) return 'unread';
  return node.drain?.reason.startsWith(PAUSED) === true ? 'paused' : 'up';
}

function summaryOf(services: Services, site: KnownSite): SiteSummary {
  const jobs = [...site.jobs.values()];
  const inStates = (...states: readonly string[]): number =>
    jobs.filter(({ state }) => states.includes(state)).length;
  const up = site.nodes.filter(({ state }) => state !== 'down' && state !== 'unknown');
  return {
    ...standing(services, site),
    nodes: site.nodes.length,
    nodesUp: up.length,
    cpus: up.reduce((sum, { cpuCount }) => sum + cpuCount, 0),
    cpusUsed: up.reduce((sum, { cpusUsed }) => sum + cpusUsed, 0),
    queues: site.queues.length,
    jobsWaiting: inStates('held', 'waiting'),
    jobsRunning: inStates('starting', 'running', 'suspended', 'completing'),
  };
}
