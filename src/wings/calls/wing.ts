// The wing `calls` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const calls: Wing = {
  name: 'calls',
  needs: ['pilots'],
  cli: {
    verbs: [
      {
        group: 'Jobs:',
        name: 'pool',
        after: 'submit',
        summary: 'workers that run functions',
        load: () => import('./cli/pool-verb.ts'),
      },
      {
        group: 'Jobs:',
        name: 'calls',
        after: 'submit',
        summary: 'what programs and workers do',
        load: () => import('./cli/calls-verb.ts'),
      },
    ],
    completions: {
      operands: {
        pool: { offers: async (context) => (await import('./cli/offers.ts')).pools(context) },
      },
    },
  },
};
