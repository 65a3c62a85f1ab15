// The nodes of a steered site as nodes of ours: each is an agent in the gateway's process, let in
// by the gateway's secret.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentOptions } from '../../../kernel/config/daemon-options.ts';
import { parseNodeName } from '../../../kernel/model/ids.ts';
import { CPUS_PER_NODE_MAX } from '../../../kernel/model/limits.ts';
import { NO_RESOURCES, type Resources } from '../../../kernel/model/resources.ts';
import { memberName, type SiteNode, shownName, siteNodeOf } from '../../../kernel/model/site.ts';
import type { FormerName } from '../fabric/filters/node-names.ts';
import type { Filters } from '../fabric/filters/site-filters.ts';

/** Labels of whatever runs at this site. */
export function siteLabels(name: string, system: string): string[] {
  return [`site=${name}`, `system=${system}`];
}

/** Nodes without a size, and with names that none of ours can have, are left out. */
export function membersOf(
  gateway: AgentOptions,
  nodes: readonly SiteNode[],
  filters: Pick<Filters, 'queueName'> | null,
): AgentOptions[] {
  const queueName = (queue: string) => (filters === null ? queue : filters.queueName(queue));
  return nodes.flatMap((node) => memberOf(gateway, node, queueName));
}

function memberOf(
  gateway: AgentOptions,
  node: SiteNode,
  queueName: (queue: string) => string | null,
): AgentOptions[] {
  const { site, health: _, ...rest } = gateway;
  const name = parseNodeName(memberName(shownName(node), gateway.name));
  if (site === undefined || !name.ok || node.cpuCount < 1) return [];
  const { features, memoryBytes, seen } = node;
  const queues = node.queues.flatMap((one) => queueName(one) ?? []);
  const own = [
    ...[...features, ...(seen?.labels ?? [])].filter(isLabel),
    ...queues.filter(isLabel).map((one) => `queue=${one}`),
  ];
  return [
    {
      ...rest,
      name: name.value,
      stateDir: join(dirname(gateway.stateDir), name.value),
      labels: [...gateway.labels, ...siteLabels(gateway.name, site.system), ...own],
      resources: {
        cpuCount: Math.min(node.cpuCount, CPUS_PER_NODE_MAX),
        memoryBytes: memoryBytes ?? 0,
        gpuCount: 0,
      },
      site: { ...site, member: node.name },
    },
  ];
}

export interface MemberFacts {
  readonly labels: readonly string[];
  readonly resources: Resources;
}

/** What may change of a member. A node that does not report is as large as before. */
export function factsOfMember(
  { labels, resources = {} }: Pick<AgentOptions, 'labels' | 'resources'>,
  before?: MemberFacts,
): MemberFacts {
  const { cpuCount = 0, memoryBytes = 0 } = resources;
  const memory = memoryBytes === 0 ? (before?.resources.memoryBytes ?? 0) : memoryBytes;
  return { labels, resources: { ...NO_RESOURCES, cpuCount, memoryBytes: memory } };
}

function isLabel(word: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._=/-]{0,50}$/.test(word);
}

/** Begin of the names of jobs that an agent gives to its site. */
export function jobPrefix(instance: string): string {
  return `weft-${instance}`;
}

/** The site's own name of a member, for the gateway after this one. */
const OWN_NAME = 'site-node';

export function noteOwnName({ stateDir, site }: AgentOptions): void {
  if (site?.member === undefined) return;
  writeFileSync(join(stateDir, OWN_NAME), `${site.member}\n`, { mode: 0o600 });
}

/** What the members of a gateway before this one were called. */
export function formerNames({ stateDir, name }: AgentOptions): FormerName[] {
  const folder = dirname(stateDir);
  return readdirSync(folder).flatMap((member) => {
    const shown = siteNodeOf(member, name);
    if (shown === null) return [];
    const [note, jobs] = [join(folder, member, OWN_NAME), join(folder, member, 'site')];
    const own = existsSync(note) ? readFileSync(note, 'utf8').trim() : shown;
    return [{ shown, own, hasTasks: existsSync(jobs) && readdirSync(jobs).length > 0 }];
  });
}

/** Nodes that have tasks by another name than they have now, by that: they are members still. */
function formerNodes(
  former: readonly FormerName[],
  nodes: readonly SiteNode[],
): readonly SiteNode[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  return former.flatMap(({ shown, own, hasTasks }) => {
    const node = hasTasks ? byName.get(own) : undefined;
    const isMember = node !== undefined && shownName(node) === shown && node.seen?.hiddenBy == null;
    if (node === undefined || isMember) return [];
    const seen = { hiddenBy: null, labels: [], queue: null, partition: null, rules: [] };
    return [{ ...node, seen: { ...seen, ...node.seen, name: shown } }];
  });
}

/**
 * All nodes that are to be members, each name once for whoever has it first: who has tasks by it
 * keeps it, also when its site gets a node that is called so itself.
 */
export function memberNodes(
  former: readonly FormerName[],
  nodes: readonly SiteNode[],
): readonly SiteNode[] {
  const visible = nodes.filter(({ seen }) => (seen?.hiddenBy ?? null) === null);
  return [...formerNodes(former, nodes), ...visible];
}

/**
 * Instances of the members that this gateway had before it was started again. The site has jobs of
 * theirs, which are ours also in a listing that is made before they are back.
 */
export function instancesOfMembers({ stateDir, name }: AgentOptions): string[] {
  const folder = dirname(stateDir);
  return readdirSync(folder)
    .filter((member) => siteNodeOf(member, name) !== null)
    .map((member) => join(folder, member, 'instance'))
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8').trim());
}
