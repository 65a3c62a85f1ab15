// The wing `sites` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './machine/declared.ts';
import './api/paths.ts';

export const sites: Wing = {
  name: 'sites',
  needs: [],
  machine: async () => (await import('./machine/part.ts')).part,
  elsewhere: async () => (await import('./bin/site-node.ts')).nodeAtSite,
  cli: {
    verbs: [
      {
        group: 'Clusters:',
        name: 'gateway',
        after: 'agent',
        summary: 'run the gateway of a site',
        load: () => import('./cli/gateway-verb.ts'),
      },
      {
        group: 'Administration:',
        name: 'site',
        after: 'node',
        summary: 'other clusters behind gateways',
        load: async () => {
          const { verbOf } = await import('./cli/site-verb.ts');
          return {
            verb: verbOf(async (...of) => (await import('./bin/site-test.ts')).trySite(...of)),
          };
        },
      },
    ],
    jobId: async (operand, context) => (await import('./cli/site-jobs.ts')).ownId(operand, context),
    completions: {
      operands: {
        site: { offers: async (context) => (await import('./cli/offers.ts')).sites(context) },
      },
      options: {
        site: {
          offers: async (context) => (await import('./cli/offers.ts')).sites(context),
          isList: true,
        },
      },
    },
  },
  keys: async () => (await import('./config/site-keys.ts')).keys,
  options: async () => (await import('./config/site-options.ts')).options,
  api: async () => (await import('./api/part.ts')).api,
  head: async () => (await import('./head/part.ts')).head,
};
