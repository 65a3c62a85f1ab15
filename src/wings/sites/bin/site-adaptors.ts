// The systems that a gateway can drive: a line for each word of the configuration, with how its
// adaptor is made of a site's options.

import { usage } from '../../../kernel/model/failure.ts';
import type { SiteSystem } from '../../../kernel/model/site.ts';
import type { Adaptor } from '../adaptors/adaptor.ts';
import { htcondor } from '../adaptors/htcondor/htcondor.ts';
import { lsf } from '../adaptors/lsf/lsf.ts';
import { oar } from '../adaptors/oar/oar.ts';
import { queuesOff } from '../adaptors/oar/steer.ts';
import { pbs } from '../adaptors/pbs/pbs.ts';
import { schedulingOff } from '../adaptors/pbs/steer.ts';
import { script } from '../adaptors/script/script.ts';
import { sge } from '../adaptors/sge/sge.ts';
import { tickets } from '../adaptors/sge/steer.ts';
import { slurm } from '../adaptors/slurm/slurm.ts';
import { disabledScheduler, executionQueue } from '../adaptors/slurm/steer.ts';
import { slurmrestd } from '../adaptors/slurmrestd/slurmrestd.ts';
import { weft } from '../adaptors/weft/weft.ts';
import type { SiteOptions } from '../config/site-options.ts';

/** Makes an adaptor of a site's options; throws with words when the site cannot be driven so. */
type Maker = (site: SiteOptions) => Adaptor;

const MAKERS: Readonly<Record<SiteSystem, Maker>> = {
  slurm: (site) => slurm(steers(site) ? slurmSteering(site) : null),
  sge: (site) => sge(sgeSettings(site), steers(site) ? tickets(site.ticket) : null),
  oar: (site) => oar(steers(site) ? queuesOff(site.timeoutMs) : null),
  pbs: (site) => pbs(steers(site) ? schedulingOff() : null),
  htcondor: submitOnly('HTCondor', ({ queue }) => htcondor(queue)),
  lsf: submitOnly('LSF', () => lsf()),
  script: (site) => script(programOf(site), { steers: steers(site) }),
  weft: submitOnly('Another Weft', (site) => weft(programOf(withoutAccount(site)))),
  slurmrestd: submitOnly('A slurmrestd', (site) => slurmrestd(programOf(site), baseOf(site))),
};

/** Throws with words when the site cannot be driven so. */
export function adaptorOf(site: SiteOptions): Adaptor {
  return MAKERS[site.system](site);
}

function steers({ mode }: SiteOptions): boolean {
  return mode === 'steer';
}

/** @param name as people write it */
function submitOnly(name: string, make: Maker): Maker {
  return (site) => {
    if (!steers(site)) return make(site);
    throw usage(`${name} can only be submitted to`, 'Set site.mode: submit.');
  };
}

function slurmSteering({ takeover, main, execution }: SiteOptions) {
  return takeover === 'execution_queue' ? executionQueue({ main, execution }) : disabledScheduler();
}

function sgeSettings({ main, ticket, environment, spread }: SiteOptions) {
  return { oneSlotPerHost: spread, ticket, queue: main, environment };
}

function programOf({ program }: SiteOptions) {
  if (program.length > 0) return program;
  const hint = 'Its words start what drives the site: docs/adaptors.md, docs/sites/weft.md.';
  throw usage('site.program is not set', hint);
}

function withoutAccount(site: SiteOptions): SiteOptions {
  if (site.account === null) return site;
  throw usage('site.account: Weft has no accounts', 'A QoS is said by site.options: [--qos=low].');
}

/** The base address of a Weft site, whose options are fields of a job, not words of a command. */
function baseOf({ url, options }: SiteOptions): string {
  const wrong = options.find((option) => !/^[a-z_]+=/.test(option));
  if (wrong !== undefined) {
    throw usage(`site.options: '${wrong}' is no field of a job; write qos=low`);
  }
  if (url !== null && URL.canParse(url)) return url.replace(/\/+$/, '');
  throw usage('site.url is not set, or no URL', 'Write http://head:6820/slurm/v0.0.38.');
}
