// What an agent gets in the place of a launcher when its tasks are run by another cluster.

import { join } from 'node:path';
import { type Adaptor, totalOf } from '../adaptors/adaptor.ts';
import { oar } from '../adaptors/oar/oar.ts';
import { sge } from '../adaptors/sge/sge.ts';
import { slurm } from '../adaptors/slurm/slurm.ts';
import { POLLED } from '../agent/absent.ts';
import type { AgentPorts } from '../agent/ports.ts';
import type { SiteOptions } from '../config/daemon-options.ts';
import type { Resources } from '../core/model/resources.ts';
import { runSiteCommand } from '../fabric/site/command.ts';
import { SiteProcesses } from '../fabric/site/site-processes.ts';
import { SiteWatch } from '../fabric/site/site-watch.ts';
import { systemClock } from '../os/clock.ts';
import { systemCommands } from '../os/commands.ts';
import { siteFolders } from '../os/site-folders.ts';
import type { Log } from '../ports/log.ts';
import type { Marks } from '../ports/marks.ts';

const ADAPTORS: Readonly<Record<SiteOptions['system'], () => Adaptor>> = {
  slurm: () => slurm(null),
  sge: () => {
    const words = { oneSlotPerHost: [], ticket: 'ticket' };
    return sge({ ...words, queue: 'main.q', environment: null }, null);
  },
  oar: () => oar(null),
};

/** What all its nodes have together. Throws with the site's words. */
export async function resourcesOfSite(site: SiteOptions): Promise<Resources> {
  const { command, read } = ADAPTORS[site.system]().nodes;
  const nodes = read(await runSiteCommand(systemCommands, command, { ...site, user: null }));
  if (!nodes.ok) throw new Error(`the site does not say what it has: ${nodes.error.text}`);
  const { cpuCount, memoryBytes } = totalOf(nodes.value);
  return { cpuCount, memoryBytes, gpuCount: 0, counted: {} };
}

/** Its own limits hold there, and nothing of its processes is seen here. */
const AT_THE_SITE = { ...POLLED, facts: 'the site', limits: 'the site', polled: false };

const NO_MARKS: Marks = { memory: () => new Map(), kill: () => ({ lived: 0, unknown: 0 }) };

export function sitePorts(
  site: SiteOptions,
  own: { readonly stateDir: string; readonly instance: string; readonly log: Log },
): Pick<AgentPorts, 'connectLauncher' | 'containment' | 'marks' | 'site'> {
  const { log, stateDir, instance } = own;
  const adaptor = ADAPTORS[site.system]();
  const common = { adaptor, commands: systemCommands, clock: systemClock, log };
  const watch = new SiteWatch({ ...common, mode: 'submit', settings: site });
  const prefix = `weft-${instance}`;
  watch.addPrefix(prefix);
  const world = {
    ...common,
    folders: siteFolders(join(stateDir, 'site')),
    settings: { ...site, prefix },
    listJobs: () => watch.list(),
  };
  watch.start();
  return {
    site: watch,
    connectLauncher: () => Promise.resolve(new SiteProcesses(world)),
    containment: AT_THE_SITE,
    marks: NO_MARKS,
  };
}
