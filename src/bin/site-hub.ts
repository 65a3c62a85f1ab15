// What all nodes of one site have in common in a gateway's process: its adaptor, its listings, and
// who steers it.

import type { Adaptor, Steering } from '../adaptors/adaptor.ts';
import { oar } from '../adaptors/oar/oar.ts';
import { type SgeSettings, sge } from '../adaptors/sge/sge.ts';
import { tickets } from '../adaptors/sge/steer.ts';
import { slurm } from '../adaptors/slurm/slurm.ts';
import { disabledScheduler, executionQueue } from '../adaptors/slurm/steer.ts';
import type { SiteOptions } from '../config/daemon-options.ts';
import { SiteWatch } from '../fabric/site/site-watch.ts';
import { Steerer } from '../fabric/site/steerer.ts';
import { systemClock } from '../os/clock.ts';
import { systemCommands } from '../os/commands.ts';
import type { Log } from '../ports/log.ts';

export interface SiteHub {
  /** The name of the gateway, and so of the site. */
  readonly name: string;
  readonly adaptor: Adaptor;
  readonly watch: SiteWatch;
  /** Null: the site's own scheduler decides. */
  readonly steerer: Steerer | null;
}

export function openHub(name: string, site: SiteOptions, log: Log): SiteHub {
  const adaptor = adaptorOf(site);
  const common = { commands: systemCommands, clock: systemClock, log, settings: site };
  const { steering } = adaptor;
  const steerer = steering === null ? null : new Steerer({ ...common, steering });
  const watch = new SiteWatch({ ...common, adaptor, mode: site.mode, steerer });
  return { name, adaptor, watch, steerer };
}

/** Throws with words when the site cannot be steered so. */
export function adaptorOf(site: SiteOptions): Adaptor {
  const steers = site.mode === 'steer';
  switch (site.system) {
    case 'slurm':
      return slurm(steers ? slurmSteering(site) : null);
    case 'sge':
      return sge(sgeSettings(site), steers ? tickets(site.ticket) : null);
    default:
      if (steers) throw new Error('OAR can only be submitted to; set site.mode: submit');
      return oar(null);
  }
}

function slurmSteering({ takeover, main, execution }: SiteOptions): Steering {
  return takeover === 'execution_queue' ? executionQueue({ main, execution }) : disabledScheduler();
}

function sgeSettings({ main, ticket, environment }: SiteOptions): SgeSettings {
  return { oneSlotPerHost: [], ticket, queue: main, environment };
}
