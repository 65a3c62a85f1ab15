// What an agent gets in the place of a launcher when its tasks are run by another cluster.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { AgentPorts } from '../../../kernel/agent/ports.ts';
import type { EpochId } from '../../../kernel/model/ids.ts';
import { type SiteNode, siteNodeOf } from '../../../kernel/model/site.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import { POLLED } from '../../../kernel/ports/containment.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { Marks } from '../../../kernel/ports/marks.ts';
import type { SiteSource } from '../../../kernel/ports/site-source.ts';
import type { SiteOptions } from '../config/site-options.ts';
import { runSiteCommand } from '../fabric/site/command.ts';
import { SiteProcesses } from '../fabric/site/site-processes.ts';
import { type SiteSize, sizeOf } from '../fabric/site/site-size.ts';
import { inputFolders } from '../os/input-folders.ts';
import { siteFolders } from '../os/site-folders.ts';
import { adaptorOf } from './site-adaptors.ts';
import { siteCommands } from './site-commands.ts';
import type { SiteHub } from './site-hub.ts';
import { jobPrefix } from './site-members.ts';

/** Throws with the site's words. */
export async function nodesOfSite(site: SiteOptions): Promise<readonly SiteNode[]> {
  const adaptor = adaptorOf(site);
  const { command, read } = adaptor.nodes;
  const commands = siteCommands(adaptor, site.before);
  const nodes = read(await runSiteCommand(commands, command, { ...site, user: null }));
  if (!nodes.ok) throw new Error(`the site does not say what it has: ${nodes.error.text}`);
  return nodes.value;
}

/**
 * What all its nodes have together, and the largest of them; a gateway of nodes of their own has
 * nothing itself.
 */
export async function sizeOfSite(site: SiteOptions): Promise<SiteSize> {
  return sizeOf(site.mode === 'steer' ? [] : await nodesOfSite(site));
}

/** Facts of a node at a site: the site's limits hold, and none of its processes is seen here. */
const AT_THE_SITE = { ...POLLED, facts: 'the site', limits: 'the site', polled: false };

const NO_MARKS: Marks = { memory: () => new Map(), kill: () => ({ lived: 0, unknown: 0 }) };

export function sitePorts(
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
