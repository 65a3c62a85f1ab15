// Options of a gateway's site, for tests.

import type { SiteOptions } from '../../../../src/wings/sites/config/site-options.ts';

export function siteOptions(some: Partial<SiteOptions>): SiteOptions {
  return {
    system: 'slurm',
    mode: 'submit',
    takeover: 'execution_queue',
    main: 'main',
    execution: 'steer',
    ticket: 'ticket',
    environment: null,
    queue: null,
    account: null,
    options: [],
    spread: [],
    before: [],
    filters: null,
    program: ['/opt/site'],
    url: 'http://x/v1',
    pollMs: 1000,
    timeoutMs: 1000,
    commandsMax: 1,
    ...some,
  };
}
