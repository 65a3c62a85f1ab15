// The wing `calls` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './machine/declared.ts';
import './api/paths.ts';

export const calls: Wing = {
  name: 'calls',
  needs: ['pilots'],
  machine: async () => (await import('./machine/part.ts')).part,
  agent: async () => (await import('./bin/agent.ts')).workersOnNode,
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
  api: async () => (await import('./api/part.ts')).api,
  head: async () => (await import('./head/part.ts')).head,
};
