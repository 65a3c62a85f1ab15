// A node whose tasks run at a site: the gateway of a site, or a node of one that is steered, which
// is an agent in its gateway's process.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Agent } from '../../../kernel/agent/agent.ts';
import type { AgentPorts } from '../../../kernel/agent/ports.ts';
import { isSame } from '../../../kernel/base/same.ts';
import type { AgentOptions } from '../../../kernel/config/daemon-options.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { EpochId } from '../../../kernel/model/ids.ts';
import type { NodeFacts } from '../../../kernel/model/node.ts';
import { type SiteNode, siteNodeOf } from '../../../kernel/model/site.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import { POLLED } from '../../../kernel/ports/containment.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { Marks } from '../../../kernel/ports/marks.ts';
import type { SiteSource } from '../../../kernel/ports/site-source.ts';
import type { AgentsHost, Elsewhere, ElsewhereMaker } from '../../../kernel/wing.ts';
import { skillsOf } from '../adaptors/adaptor.ts';
import type { SiteOptions } from '../config/site-options.ts';
import { runSiteCommand } from '../fabric/site/command.ts';
import { SiteProcesses } from '../fabric/site/site-processes.ts';
import { type SiteSize, SizeWatch, sizeOf } from '../fabric/site/site-size.ts';
import { inputFolders } from '../os/input-folders.ts';
import { siteFolders } from '../os/site-folders.ts';
import { adaptorOf } from './site-adaptors.ts';
import { siteCommands } from './site-commands.ts';
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

/** Throws with the site's words. */
async function nodesOfSite(site: SiteOptions): Promise<readonly SiteNode[]> {
  const adaptor = adaptorOf(site);
  const { command, read } = adaptor.nodes;
  const commands = siteCommands(adaptor, site.before);
  const nodes = read(await runSiteCommand(commands, command, { ...site, user: null }));
  if (!nodes.ok) throw new Error(`the site does not say what it has: ${nodes.error.text}`);
  return nodes.value;
}

/** What its nodes have together, and the largest; a gateway of own nodes has nothing itself. */
async function sizeOfSite(site: SiteOptions): Promise<SiteSize> {
  return sizeOf(site.mode === 'steer' ? [] : await nodesOfSite(site));
}

/** Facts of a node at a site: the site's limits hold, and none of its processes is seen here. */
const AT_THE_SITE = { ...POLLED, facts: 'the site', limits: 'the site', polled: false };

const NO_MARKS: Marks = { memory: () => new Map(), kill: () => ({ lived: 0, unknown: 0 }) };

function sitePorts(
  site: SiteOptions,
  own: {
    /** The node's name here. */
    readonly node: string;
    readonly stateDir: string;
    readonly instance: string;
    readonly log: Log;
  },
  { name, adaptor, commands, watch, steerer, stops }: SiteHub,
): Pick<AgentPorts, 'connectLauncher' | 'containment' | 'marks' | 'pipes' | 'site'> {
  const { log, stateDir, instance } = own;
  const { member } = site;
  const prefix = jobPrefix(instance);
  watch.addPrefix(prefix);
  const nameAtSite = (node: string): string | null => {
    const shown = siteNodeOf(node, name);
    return shown === null ? null : watch.nameAtSite(shown);
  };
  const place =
    member === undefined || steerer === null || stops === null
      ? {}
      : { place: { node: member, steerer, nameAtSite, stops } };
  const world = {
    adaptor,
    commands,
    clock: systemClock,
    log,
    ...place,
    folders: siteFolders(join(stateDir, 'site')),
    settings: { ...site, prefix, nonce: () => randomBytes(5).toString('hex') },
    listJobs: () => watch.list(),
    listedJob: (id: string) => watch.job(id),
    onStart: (job: string, epochId: EpochId | null) => watch.noteStart(job, epochId),
    onUndone: (epochId: EpochId, words: string | null) => watch.noteUndone(epochId, words),
  };
  return {
    site: member === undefined ? watch : sourceOf(member, siteNodeOf(own.node, name), watch),
    connectLauncher: () => Promise.resolve(new SiteProcesses(world)),
    containment: AT_THE_SITE,
    marks: NO_MARKS,
    pipes: inputFolders,
  };
}

/** The source of a node's facts: a gateway speaks for the site; a node only for itself. */
function sourceOf(member: string, shown: string | null, watch: SiteHub['watch']): SiteSource {
  const nothing = (): void => undefined;
  return {
    connect: nothing,
    disconnect: nothing,
    cancel: nothing,
    ask: nothing,
    hold: nothing,
    stop: nothing,
    close: nothing,
    fault: () => watch.faultOf(member, shown ?? member),
  };
}
