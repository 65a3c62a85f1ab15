// A node whose tasks run at a site: the gateway of a site, or a node of one that is steered, which
// is an agent in its gateway's process.

import type { Agent } from '../../../kernel/agent/agent.ts';
import type { AgentPorts } from '../../../kernel/agent/ports.ts';
import { isSame } from '../../../kernel/base/same.ts';
import type { AgentOptions } from '../../../kernel/config/daemon-options.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { NodeFacts } from '../../../kernel/model/node.ts';
import type { SiteNode } from '../../../kernel/model/site.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { AgentsHost, Elsewhere, ElsewhereMaker } from '../../../kernel/wing.ts';
import { skillsOf } from '../adaptors/adaptor.ts';
import type { SiteOptions } from '../config/site-options.ts';
import { type SiteSize, SizeWatch } from '../fabric/site/site-size.ts';
import { openHub, type SiteHub } from './site-hub.ts';
import {
  factsOfMember,
  formerNames,
  instancesOfMembers,
  jobPrefix,
  type MemberFacts,
  memberNodes,
  membersOf,
  noteOwnName,
  siteLabels,
} from './site-members.ts';
import { sitePorts, sizeOfSite } from './site-ports.ts';

/** For a node that names a site. */
export const nodeAtSite: ElsewhereMaker = ({ options, log }) => {
  const { site, name, stateDir } = options;
  if (site === undefined) return null;
  return new Gateway(options, site, { log, hub: openHub(site, { name, stateDir, log }) });
};

interface AtSite {
  readonly log: Log;
  readonly hub: SiteHub;
}

class NodeAtSite implements Elsewhere {
  protected readonly options: AgentOptions;
  protected readonly site: SiteOptions;
  protected readonly log: Log;
  protected readonly hub: SiteHub;

  constructor(options: AgentOptions, site: SiteOptions, { log, hub }: AtSite) {
    this.options = options;
    this.site = site;
    this.log = log;
    this.hub = hub;
  }

  ready(): Promise<AgentOptions> {
    return Promise.resolve(this.options);
  }

  facts(): Partial<NodeFacts> {
    const siteSkills = skillsOf(this.hub.adaptor);
    const { name: site } = this.hub;
    return siteSkills === undefined ? { site } : { site, siteSkills };
  }

  ports(instance: string): Partial<AgentPorts> {
    const { name: node, stateDir } = this.options;
    return sitePorts(this.site, { node, stateDir, instance, log: this.log }, this.hub);
  }

  begin(_: Pick<Agent, 'introduce'>, __: AgentsHost): void {
    // Its gateway does what there is to do.
  }
}

class Member extends NodeAtSite {
  #agent: Pick<Agent, 'introduce'> | null = null;
  /** What was said last of it. */
  #told: MemberFacts | null = null;

  override begin(agent: Pick<Agent, 'introduce'>): void {
    this.#agent = agent;
    this.#told = factsOfMember(this.options);
  }

  /** Takes new labels: the site may say something else of the node. */
  relabel(options: AgentOptions): void {
    if (this.#agent === null || this.#told === null) return;
    const facts = factsOfMember(options, this.#told);
    if (isSame(this.#told, facts)) return;
    this.#told = facts;
    this.#agent.introduce({ ...facts, labels: [...new Set(facts.labels)] });
  }
}

class Gateway extends NodeAtSite {
  /** What the site has; null: each of its nodes is one of ours. */
  #size: SiteSize | null = null;
  readonly #members = new Map<string, Member>();

  /** Options with what the site has, where nobody said how much, and with the site's name. */
  override async ready(): Promise<AgentOptions> {
    const { options, site, hub } = this;
    const lack = (await hub.steerer?.lacks()) ?? null;
    if (lack !== null) {
      const hint = '`weft site test` tries all that is needed; docs/sites has it per system.';
      throw usage(`this site cannot be steered: ${lack}`, hint);
    }
    const found = await sizeOfSite(site);
    this.#size = site.mode === 'steer' ? null : found;
    const resources = { ...found.resources, ...options.resources };
    const labels = [...options.labels, ...siteLabels(options.name, site.system)];
    return { ...options, resources, labels };
  }

  override facts(): Partial<NodeFacts> {
    const { sizes = [] } = this.#size ?? {};
    return sizes.length === 0 ? super.facts() : { ...super.facts(), sizes };
  }

  override begin(agent: Pick<Agent, 'introduce'>, host: AgentsHost): void {
    if (this.#size !== null) this.#follow(this.#size, agent);
    if (this.hub.steerer !== null) this.#bringMembers(host);
    this.hub.watch.start();
  }

  /** A site whose own scheduler decides gets more nodes, or loses them. */
  #follow(first: SiteSize, agent: Pick<Agent, 'introduce'>): void {
    const sizes = new SizeWatch(systemClock, first, ({ resources, sizes }) => {
      agent.introduce({ resources: { ...resources, ...this.options.resources }, sizes });
    });
    this.hub.watch.onNodes((nodes) => sizes.look(nodes));
  }

  /** Each node of a steered site, once it is listed, is a node of ours. */
  #bringMembers(host: AgentsHost): void {
    const { watch } = this.hub;
    for (const instance of instancesOfMembers(this.options)) watch.addPrefix(jobPrefix(instance));
    const former = formerNames(this.options);
    for (const one of former) watch.names.keep(one);
    /** The site's own names of them. */
    const there = new Map<string, string | undefined>();
    watch.onNodes((nodes, isNew) => {
      if (isNew) this.#look(memberNodes(former, nodes), there, host);
    });
  }

  #look(
    nodes: readonly SiteNode[],
    there: Map<string, string | undefined>,
    host: AgentsHost,
  ): void {
    for (const member of membersOf(this.options, nodes, this.hub.filters)) {
      const { name, site } = member;
      if (there.has(name)) {
        if (there.get(name) === site?.member) this.#members.get(name)?.relabel(member);
        continue;
      }
      there.set(name, site?.member);
      host
        .run(member, (log) => this.#memberOf(member, log))
        .catch((error: unknown) => {
          this.log.error({ error, node: name }, 'a node of the site cannot be brought in');
        });
    }
  }

  #memberOf(options: AgentOptions, log: Log): Member {
    const { site = this.site, name } = options;
    noteOwnName(options);
    const member = new Member(options, site, { log, hub: this.hub });
    this.#members.set(name, member);
    return member;
  }
}
